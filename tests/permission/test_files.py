"""Rules on files: both forms of a path, what is below a directory, and many rules at once."""

import os
import unicodedata

import pytest

from judging import World, allow, ask, deny
from sayso.permission.files import denied_globs, file_unit, search_unit
from sayso.permission.unit import FileUnit, OpaqueUnit


def test_an_allow_rule_needs_the_written_and_the_real_path_inside(world: World) -> None:
    (world.work / "src/link").symlink_to(world.root / "outside")
    world.under(allow("Write", f"{world.work}/src/**"))
    assert world.write("src/new.py") == "allow"
    assert world.write("src/link/new.txt") == "ask"
    assert world.write("src/../../outside/notes.txt") == "ask"
    assert world.write(f"{world.root}/outside/notes.txt") == "ask"


def test_a_deny_rule_fires_on_the_written_or_the_real_path(world: World) -> None:
    (world.work / "link").symlink_to("secrets")
    world.under(deny("Read", f"{world.work}/secrets/**"))
    assert world.read("secrets/key.txt") == "deny"
    assert world.read("link/key.txt") == "deny"
    assert world.read("src/../secrets//./key.txt") == "deny"
    assert world.read("src/main.py") == "allow"


def test_a_deny_rule_on_a_link_holds_for_the_place_that_it_leads_to(world: World) -> None:
    (world.work / "link").symlink_to("secrets")
    world.under(deny("Read", f"{world.work}/link/**"))
    assert world.read("secrets/key.txt") == "deny"


def test_a_deny_rule_ignores_case_and_composition_and_an_allow_rule_does_not(world: World) -> None:
    world.under(deny("Write", "Protected/**"), allow("Write", "caf\u00e9/**"))
    assert world.write("protected/x") == "deny"
    assert world.write("caf\u00e9/x") == "allow"
    assert world.write(unicodedata.normalize("NFD", "caf\u00e9/x")) == "ask"
    assert world.write("CAF\u00c9/x") == "ask"


def test_a_sibling_with_the_same_prefix_is_not_inside(world: World) -> None:
    world.under(allow("Write", f"{world.work}/src/**"), mode="accept_edits")
    assert world.write(f"{world.work}/src-evil/x") == "allow"  # inside the working directory, by the mode
    assert world.write(f"{world.root}/work-evil/x") == "ask"


def test_a_link_as_working_directory_is_the_directory_that_it_leads_to(world: World) -> None:
    (world.root / "door").symlink_to("work")
    world.under(mode="accept_edits", directories=[world.root / "door"])
    assert world.write(str(world.root / "door/src/x.py")) == "allow"
    assert world.write(str(world.root / "door/../outside/x.py")) == "ask"


def test_a_path_through_proc_is_never_allowed_by_a_rule(world: World) -> None:
    world.under(allow("Write", "/**"), allow("Read", "/**"))
    assert world.write("/proc/self/cwd/src/x.py") == "ask"
    assert world.read("/proc/self/root/etc/hostname") == "ask"


def test_a_path_through_proc_may_be_a_denied_one(world: World) -> None:
    world.under(deny("Read", "secrets/**"), mode="bypass")
    assert world.read("/proc/self/cwd/secrets/key.txt") == "ask"


def test_a_search_over_a_tree_that_holds_denied_paths_asks(world: World) -> None:
    world.under(deny("Read", "secrets/**"))
    assert world.grep() == "ask"
    assert world.grep("src") == "allow"
    assert world.grep("secrets") == "deny"
    assert world.grep("secrets/key.txt") == "deny"


def test_a_search_that_leaves_denied_paths_out_need_not_ask(world: World) -> None:
    world.under(deny("Read", "secrets/**"), deny("Read", ".env"))
    assert denied_globs(world.context, str(world.work), cwd=str(world.work)) == (
        "/**/.env",
        f"{world.work}/secrets/**",
    )
    assert world.grep(exclude=True) == "allow"
    assert world.grep("secrets", exclude=True) == "deny"


def test_an_ask_rule_below_the_root_of_a_search_asks(world: World) -> None:
    world.under(ask("Grep", "secrets/**"))
    assert world.grep(exclude=True) == "ask"


def test_a_rule_of_another_tool_does_not_cover_but_a_deny_of_it_holds(world: World) -> None:
    world.under(allow("Edit", "src/**"), deny("Edit", "build/**"))
    assert world.write("src/main.py") == "ask"
    assert world.write("build/x") == "deny"


def test_a_sensitive_place_asks_whatever_the_rules_say(world: World) -> None:
    (world.work / "door").symlink_to(world.root / "home/.bashrc")
    world.under(allow("Write", "/**"))
    for path in (".git/hooks/x", ".GIT/config", ".env", "door", "src/../.vscode/tasks.json", "~/.ssh/authorized_keys"):
        assert world.write(path) == "ask", path


def test_keys_are_read_only_with_a_rule_for_reading_them(world: World) -> None:
    assert world.read(".env") == "ask"
    assert world.read("~/.ssh/id_rsa") == "ask"
    assert world.grep(str(world.root / "home")) == "ask"
    world.under(allow("Read", ".env"))
    assert world.read(".env") == "allow"


@pytest.mark.parametrize("path", [None, 7, ["x"], "", "a\0b", "\udcff"])
def test_what_is_no_path_gives_a_unit_that_asks(path: object) -> None:
    assert isinstance(file_unit("write", path, cwd="/", rule_tools=("Write",)), OpaqueUnit)


def test_a_search_without_a_path_is_of_the_working_directory() -> None:
    unit = search_unit(None, cwd="/work", rule_tools=("Grep",))
    assert isinstance(unit, FileUnit)
    assert os.path.normpath(unit.path or "") == "/work"


def test_a_deny_rule_that_cannot_be_read_makes_every_path_ask(world: World) -> None:
    world.under(allow("Write"), mode="bypass")
    world.context.deny_rules["Write"] = [deny("Write", "a/../b")]
    assert world.write("src/x") == "ask"


def test_one_rule_among_many_is_found_by_where_it_can_match(world: World) -> None:
    kinds = ["dir{}/**", "*.ext{}", "name{}", "**/mid{}/*.x", "/abs{}/x/**"]
    world.under(*(deny("Write", kind.format(n)) for n in range(40) for kind in kinds))
    for path in ("dir7/a", "q/r.ext7", "q/NAME7/z", "q/mid7/a.x", "/abs7/x/y", "dir7"):
        assert world.write(path) == "deny", path
    for path in ("dir77/a", "q/r.ext77", "q/xname7", "q/mid7/a.y", "/abs7/y"):
        assert world.write(path) == "ask", path

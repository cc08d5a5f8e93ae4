"""What a path means."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.permission.path import absolute, fold, inside, is_secret, is_sensitive, is_sink, resolve


def test_dots_are_collapsed_in_the_lexical_form(tmp_path: Path) -> None:
    assert resolve("a/./b//../c", cwd=str(tmp_path)).lexical == f"{tmp_path}/a/c"


def test_the_real_form_follows_links_as_far_as_the_path_exists(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "far").mkdir()
    (root / "near").symlink_to("far")
    found = resolve("near/new/file", cwd=str(root))
    assert (found.lexical, found.real) == (f"{root}/near/new/file", f"{root}/far/new/file")


def test_dots_after_a_link_leave_the_directory_that_the_link_leads_to(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "far/deep").mkdir(parents=True)
    (root / "near").symlink_to("far/deep")
    found = resolve("near/../x", cwd=str(root))
    assert (found.lexical, found.real) == (f"{root}/x", f"{root}/far/x")


def test_a_loop_of_links_is_outside_of_every_rule(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert resolve("a/x", cwd=str(tmp_path)).outside == "its links form a loop"


@pytest.mark.parametrize("path", ["/proc/self/root/etc/passwd", "/proc/1/cwd/x", "/dev/fd/3", "/proc/self/environ"])
def test_a_path_that_differs_from_process_to_process_is_outside(path: str) -> None:
    assert resolve(path, cwd="/").outside is not None


def test_a_link_to_such_a_path_is_outside_as_well(tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to("/proc/self/root")
    assert resolve("door/etc/passwd", cwd=str(tmp_path)).outside is not None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("a\udcffb", "UTF-8"),
        ("x" * 5000, "longer"),
    ],
)
def test_what_is_no_path_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        resolve(path, cwd="/")


def test_a_relative_path_needs_a_known_directory() -> None:
    with pytest.raises(ValueError, match="working directory is not known"):
        absolute("x", cwd=None)


def test_a_leading_tilde_is_the_home_directory_and_no_other_is() -> None:
    assert absolute("~/x", cwd="/w", home="/h") == "/h/x"
    assert absolute("a/~/x", cwd="/w", home="/h") == "/w/a/~/x"


def test_containment_goes_by_components() -> None:
    assert inside("/work/x", "/work")
    assert inside("/work", "/work")
    assert not inside("/work-evil/x", "/work")


def test_folding_joins_what_a_lenient_file_system_takes_for_one_name() -> None:
    assert fold("CAFÉ") == fold("cafe\u0301")
    assert fold(".g\u200cit") == fold(".GIT")


@pytest.mark.parametrize(
    "path",
    [
        "/w/.git/hooks/pre-commit",
        "/w/sub/.GIT/config",
        "/w/.env",
        "/w/.env.production",
        "/home/x/.bashrc",
        "/home/x/.config/fish/config.fish",
        "/home/x/.local/bin/tool",
        "/w/.github/workflows/ci.yml",
        "/w/.vscode/tasks.json",
        "/etc/hosts",
        "/usr/bin/env",
        "/w/.sayso/rules.toml",
    ],
)
def test_a_place_that_runs_or_unlocks_something_is_sensitive(path: str) -> None:
    assert is_sensitive(path, home="/home/x") is not None


@pytest.mark.parametrize(
    "path",
    ["/w/src/main.py", "/w/.env.example", "/w/environment.py", "/w/git/config", "/home/x/notes", "/w/.gitignore"],
)
def test_an_ordinary_file_is_not_sensitive(path: str) -> None:
    assert is_sensitive(path, home="/home/x") is None


def test_a_project_below_a_system_directory_is_no_part_of_the_system() -> None:
    assert is_sensitive("/usr/src/app/main.py", workspace=["/usr/src/app"]) is None
    assert is_sensitive("/usr/bin/env", workspace=["/usr/src/app"]) is not None
    assert is_sensitive("/usr/bin/env", workspace=["/usr"]) is not None


def test_keys_are_secret_and_what_is_public_about_them_is_not() -> None:
    assert is_secret("/h/.ssh/id_rsa")
    assert is_secret("/h/.SSH/custom_key")
    assert not is_secret("/h/.ssh/id_rsa.pub")
    assert not is_secret("/h/.ssh/known_hosts")
    assert not is_secret("/w/.bashrc")


def test_the_null_device_keeps_nothing() -> None:
    assert is_sink(resolve("/dev/null", cwd="/"))
    assert not is_sink(resolve("/dev/sda", cwd="/"))


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)


@given(st.lists(names | st.just(".."), min_size=1, max_size=8))
def test_both_forms_are_always_absolute_and_free_of_dots(parts: list[str]) -> None:
    found = resolve("/" + "/".join(parts), cwd="/")
    for form in found.forms:
        assert form.startswith("/")
        assert not {".", ".."} & set(form.split("/"))
        assert form == os.path.normpath(form)

"""Rule files of a user and of a project."""

import os
from pathlib import Path

import pytest

from judging import World
from sayso.errors import InvalidRule
from sayso.permission import PermissionBehavior
from sayso.permission.rulefile import PolicyFiles, load_files, load_policy, read_rule, rule_text, trust


def user_file(world: World, text: str) -> Path:
    path = world.root / "home/.config/sayso/rules.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def project_file(world: World, text: str, at: str = "work") -> Path:
    path = world.root / at / ".sayso/rules.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def said(world: World) -> list[str]:
    """What counts, as `behaviour text`."""
    return [f"{r.behavior} {rule_text(r)}" for file in load_files(str(world.work)) for r in file.rules]


def test_without_files_no_rule_is_in_force(world: World) -> None:
    assert load_policy(str(world.work)).deny_rules == {}


def test_the_users_file_may_deny_ask_and_allow(world: World) -> None:
    user_file(world, 'deny = ["Read(**/.env)"]\nask = ["Pay"]\nallow = [\'Pay({"amount": "<=5"})\']\n')
    assert said(world) == ["deny Read(**/.env)", "ask Pay", 'allow Pay({"amount": "<=5"})']


def test_the_place_of_the_users_file_follows_xdg(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.root / "xdg/sayso").mkdir(parents=True)
    (world.root / "xdg/sayso/rules.toml").write_text('deny = ["Pay"]')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(world.root / "xdg"))
    assert said(world) == ["deny Pay"]


def test_a_project_file_may_deny_and_ask_but_not_allow(world: World) -> None:
    project_file(world, 'deny = ["Pay"]\nask = ["Read"]\nallow = ["Write"]\n')
    assert said(world) == ["deny Pay", "ask Read"]
    (file,) = load_files(str(world.work))
    assert [rule_text(rule) for rule in file.left_out] == ["Write"]


def test_the_allow_rules_of_a_project_file_count_once_the_user_trusts_it(world: World) -> None:
    path = project_file(world, 'allow = ["Write"]\n')
    trust(load_files(str(world.work))[0])
    assert said(world) == ["allow Write"]
    path.write_text('allow = ["Write", "Pay"]\n')
    assert said(world) == []


def test_trust_does_not_move_to_another_project(world: World) -> None:
    project_file(world, 'allow = ["Write"]\n', at="outside")
    trust(load_files(str(world.root / "outside"))[0])
    project_file(world, 'allow = ["Write"]\n')
    assert said(world) == []


def test_a_project_file_cannot_add_working_directories(world: World) -> None:
    project_file(world, 'directories = ["/"]\n')
    with pytest.raises(InvalidRule, match="line 1: only the user's own file"):
        load_policy(str(world.work))
    project_file(world, "")
    user_file(world, 'directories = ["~/notes"]\n')
    assert list(load_policy(str(world.work)).working_directories) == [str(world.root / "home/notes")]


def test_the_globs_of_a_project_file_start_at_the_project(world: World) -> None:
    (world.work / ".git").mkdir()
    project_file(world, 'deny = ["Read(secrets/**)", "Read(.env)"]\n')
    policy = load_policy(str(world.work / "src"))
    assert [rule.rule_content for rule in policy.deny_rules["Read"]] == [f"{world.work}/secrets/**", "/**/.env"]


def test_the_files_above_count_up_to_the_root_of_the_repository(world: World) -> None:
    project_file(world, 'deny = ["Pay"]\n')
    assert load_policy(str(world.work / "src")).deny_rules == {}
    (world.work / ".git").mkdir()
    assert list(load_policy(str(world.work / "src")).deny_rules) == ["Pay"]


def test_a_deny_in_any_file_wins(world: World) -> None:
    user_file(world, 'allow = ["Pay"]\n')
    project_file(world, 'deny = [\'Pay({"to": "eve"})\']\n')
    world.policy = load_policy(str(world.work))
    assert world.pay(to="bob", amount=1) == "allow"
    assert world.pay(to="eve", amount=1, confirmed=True) == "deny"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('deny = [\n  "Pay",\n  "Read(!x)",\n]', "line 3: the deny rule Read"),
        ('# "a"\ndeny = ["""Pay""",\n\'Write(a/../b)\']', "line 3: .*`..` matches nothing"),
        ('allow = [\n\n"Pay(x"]', "line 3: .*is no rule"),
        ("deny = [", "line 1: this is not TOML"),
        ('denied = ["Pay"]', "there is no 'denied'"),
        ('deny = "Pay"', "deny must be a list"),
        ("deny = [1]", "deny must be a list"),
        ("allow = ['Pay({\"a\": [])']", "line 1: .*JSON"),
    ],
)
def test_a_mistake_is_refused_with_file_line_and_reason(world: World, text: str, reason: str) -> None:
    path = user_file(world, text)
    with pytest.raises(InvalidRule, match=reason) as caught:
        load_policy(str(world.work))
    assert str(path) in str(caught.value)


def test_a_users_file_that_others_can_write_is_refused(world: World) -> None:
    path = user_file(world, "")
    path.chmod(0o666)
    with pytest.raises(InvalidRule, match="could be changed by others"):
        load_policy(str(world.work))


def test_what_is_no_regular_file_is_refused_without_waiting_for_it(world: World) -> None:
    path = project_file(world, "")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidRule, match="not a regular file"):
        load_policy(str(world.work))


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(world: World) -> None:
    path = user_file(world, 'deny = ["Pay"]\n')
    files = PolicyFiles(str(world.work))
    first = files()
    assert files() is first
    path.write_text('deny = ["Pay", "Read"]\n')
    assert sorted(files().deny_rules) == ["Pay", "Read"]


def test_a_rule_is_written_as_it_is_read() -> None:
    for text in ("Read", "Bash(echo (a) b)", 'Pay({"to": "a)b"})', "mcp__x__y"):
        assert rule_text(read_rule(text, PermissionBehavior.DENY, "test")) == text


def test_a_rule_says_where_it_comes_from(world: World) -> None:
    path = user_file(world, 'deny = [\n "Pay"]\n')
    assert load_policy(str(world.work)).deny_rules["Pay"][0].source == f"user file {path}:2"

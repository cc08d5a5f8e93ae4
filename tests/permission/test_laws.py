"""Laws that hold for any command: what may be done to a call without its verdict becoming milder."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judging import Shell, World, allow, ask, deny
from sayso.permission import PermissionRule

STRICT = {"allow": 0, "ask": 1, "deny": 2}
COMMANDS = [
    "ls -la src", "cat README.md", "grep -rn x src", "git status", "git log -3", "find . -name '*.py'", "echo hello",
    "npm test", "npm run build", "make all", "python3 tool.py", "git push origin main", "rm build/x", "rm -rf /",
    "cp README.md build/", "touch build/x", "curl http://x.example", "git commit -m message", "git -C . push",
    "echo x > out.txt", "cat .env", "echo $HOME", "echo $(git push)", "sed -i s/a/b/ src/main.py", "tee out.txt",
    "find . -delete", "env X=1 make", "bash -c 'rm x'", "sudo rm x", "xargs rm", "cat secrets/key.txt", "mv a b",
]  # fmt: skip
PATTERNS = [
    "npm test", "npm test:*", "npm run:*", "git:*", "git push:*", "git status", "rm:*", "make:*", "ls:*", "cat:*", "*",
    "git * main", "echo:*", "python3 tool.py:*", "curl *", "find:*", "cp:*", "sudo:*", "xargs:*", "bash:*",
]  # fmt: skip
commands = st.sampled_from(COMMANDS)
patterns = st.sampled_from(PATTERNS)
modes = st.sampled_from(["default", "accept_edits", "explore", "bypass", "dont_ask"])
files = st.sampled_from(
    [deny("Read", "secrets/**"), deny("Write", "build/**"), allow("Write", "**"), ask("Read", "*.md")]
)
on_commands = st.builds(lambda make, pattern: make("Bash", pattern), st.sampled_from([allow, ask, deny]), patterns)
rules = st.lists(on_commands | files, max_size=4)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tree() -> Iterator[World]:
    before, home = Path.cwd(), os.environ.get("HOME", "/")
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place).resolve())
        os.environ["HOME"] = str(world.root / "home")
        os.chdir(world.work)
        yield world
        os.chdir(before)
        os.environ["HOME"] = home


def strictness(tree: World, command: str, rules: list[PermissionRule], mode: str) -> int:
    """0 allow, 1 ask, 2 deny."""
    return STRICT[tree.under(*rules, mode=mode).decide(Shell(str(tree.work)), {"command": command}).behavior]


@quick
@given(commands, commands, st.sampled_from(["; ", " && ", " || ", " | ", " & ", "\n", " |& "]), rules, modes)
def test_joining_a_command_to_another_never_lowers_the_verdict_of_either(
    tree: World, first: str, second: str, operator: str, rules: list[PermissionRule], mode: str
) -> None:
    joined = strictness(tree, first + operator + second, rules, mode)
    assert joined >= strictness(tree, first, rules, mode)
    assert joined >= strictness(tree, second, rules, mode)


def requoted(word: str, how: int) -> str:
    match how:
        case 0:
            return shlex.quote(word)
        case 1:
            return "'" + word + "'"
        case 2:
            return '"' + word + '"'
        case 3:
            return word[0] + "''" + word[1:]
        case 4:
            return "$'" + word + "'"
        case 5:
            return "$'\\x" + word[0].encode().hex() + "'" + word[1:]
        case _:
            return word[:1] + '"' + word[1:] + '"'


PLAIN = [c for c in COMMANDS if not set(c) & set("$'\"<>|&;(){}*~=")]


@quick
@given(st.sampled_from(PLAIN), st.lists(st.integers(0, 6), min_size=6, max_size=6), rules, modes)
def test_quoting_a_word_in_another_way_never_changes_the_verdict(
    tree: World, command: str, how: list[int], rules: list[PermissionRule], mode: str
) -> None:
    words = [requoted(word, style) for word, style in zip(command.split(" "), how * 2, strict=False)]
    assert strictness(tree, "  ".join(words), rules, mode) == strictness(tree, command, rules, mode)


@quick
@given(commands, rules, modes, patterns.map(lambda p: deny("Bash", p)) | st.just(deny("Read", "*.md")))
def test_adding_a_deny_rule_never_makes_a_verdict_milder(
    tree: World, command: str, rules: list[PermissionRule], mode: str, more: PermissionRule
) -> None:
    assert strictness(tree, command, [*rules, more], mode) >= strictness(tree, command, rules, mode)


@quick
@given(commands, rules, modes, patterns.map(lambda p: allow("Bash", p)) | st.just(allow("Write", "**")))
def test_adding_an_allow_rule_never_makes_a_verdict_stricter_and_never_lifts_a_deny(
    tree: World, command: str, rules: list[PermissionRule], mode: str, more: PermissionRule
) -> None:
    before, after = strictness(tree, command, rules, mode), strictness(tree, command, [*rules, more], mode)
    assert after <= before
    if before == 2 and mode != "dont_ask":
        assert after == 2


WRAPPERS = [
    "timeout 5 {}", "nice -n 3 {}", "nohup {}", "env {}", "command {}", "time {}", "! {}", "({})", "{{ {}; }}",
    "if true; then {}; fi", "echo $({})", "cat <({})", "sudo {}", "stdbuf -oL {}", "X=1 {}", "{} &",
]  # fmt: skip


@quick
@given(commands, st.sampled_from(WRAPPERS), rules, modes)
def test_wrapping_a_command_never_lowers_its_verdict(
    tree: World, command: str, wrapper: str, rules: list[PermissionRule], mode: str
) -> None:
    wrapped = strictness(tree, wrapper.format(command), rules, mode)
    assert wrapped >= strictness(tree, command, rules, mode)


@quick
@given(commands, rules, modes)
def test_words_that_are_not_known_never_turn_a_refusal_or_a_question_into_a_yes(
    tree: World, command: str, rules: list[PermissionRule], mode: str
) -> None:
    assert strictness(tree, f"xargs {command}", rules, mode) >= min(1, strictness(tree, command, rules, mode))


@quick
@given(
    commands, st.text(st.characters(min_codepoint=0x80, categories=["L", "So", "Sc"]), min_size=1, max_size=9), rules
)
def test_text_of_several_bytes_a_character_in_front_never_changes_the_verdict(
    tree: World, command: str, text: str, rules: list[PermissionRule]
) -> None:
    found = strictness(tree, f"echo '{text}' && {command}", rules, "default")
    assert found == strictness(tree, f"echo 'text' && {command}", rules, "default")


@quick
@given(commands, rules)
def test_the_mode_that_never_asks_never_asks(tree: World, command: str, rules: list[PermissionRule]) -> None:
    found = strictness(tree, command, rules, "dont_ask")
    assert found == {0: 0, 1: 2, 2: 2}[strictness(tree, command, rules, "default")]


@quick
@given(commands, rules)
def test_explore_is_never_milder_than_default_and_bypass_never_stricter(
    tree: World, command: str, rules: list[PermissionRule]
) -> None:
    default = strictness(tree, command, rules, "default")
    assert strictness(tree, command, rules, "explore") >= default
    assert strictness(tree, command, rules, "bypass") <= default


@quick
@given(commands, rules, modes)
def test_a_yes_allows_whatever_is_not_denied(tree: World, command: str, rules: list[PermissionRule], mode: str) -> None:
    asked = STRICT[tree.under(*rules, mode=mode if mode != "dont_ask" else "default").bash(command).behavior]
    tree.under(*rules, mode=mode)
    assert STRICT[tree.bash(command, confirmed=True).behavior] == (2 if asked == 2 else 0)


@quick
@given(commands, rules)
def test_whatever_is_offered_lets_this_very_call_pass_and_not_a_longer_one(
    tree: World, command: str, rules: list[PermissionRule]
) -> None:
    offered = tree.under(*rules).bash(command).suggested_rules or []
    if offered:
        assert strictness(tree, command, [*rules, *offered], "default") == 0
        plain = [rule for rule in rules if rule.behavior != "allow"]
        for tail in ("; evil", " && evil", " | evil", "\nevil", " $(evil)"):
            assert strictness(tree, command + tail, [*plain, *offered], "default") > 0

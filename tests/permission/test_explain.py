"""Decisions and rules in words."""

import pytest

from judging import World, allow, ask, deny
from sayso.permission import PermissionMode, PermissionRule
from sayso.permission.explain import describe_rule, explain


def explained(world: World, command: str) -> str:
    return str(explain(command, context=world.context, cwd=world.work, home=str(world.root / "home")))


def test_every_part_of_a_command_is_shown_with_what_decides_it(world: World) -> None:
    world.under(allow("Bash", "npm test:*"), deny("Bash", "rm:*"))
    found = explain("ls && npm test > out.txt; rm x", context=world.context, cwd=world.work)
    assert found.behavior == "deny"
    assert sorted((unit.what, str(unit.behavior)) for unit in found.units) == [
        ("runs ls", "allow"),
        ("runs npm test", "allow"),
        ("runs rm x", "deny"),
        ("writes out.txt", "ask"),
    ]
    assert found.units[-1].rule == deny("Bash", "rm:*")
    assert found.reason == "deny rule Bash(rm:*) from test"


def test_the_text_has_a_line_for_each_part_and_the_verdict_last(world: World) -> None:
    lines = explained(world, "ls; make").splitlines()
    assert len(lines) == 3
    assert lines[-1] == "ask: no rule covers the command 'make'"


def test_the_mode_is_part_of_the_verdict(world: World) -> None:
    world.context.mode = PermissionMode.DONT_ASK
    assert explained(world, "make").splitlines()[-1] == "deny: mode dont_ask: no rule covers the command 'make'"


def test_what_is_shown_cannot_drive_a_terminal(world: World) -> None:
    assert "\x1b" not in explained(world, "echo '\x1b[2J' && make")
    assert "\u202e" not in explained(world, "echo '\u202e' && make")


def test_a_command_that_cannot_be_read_is_explained_as_well(world: World) -> None:
    assert explained(world, "if then ((").splitlines()[-1].startswith("ask: not understood")


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (deny("Bash"), "Denies every call of Bash."),
        (allow("Write", "src/**"), "Allows writing any file below src in the working directory."),
        (allow("Write", "/srv/app/"), "Allows writing any file below /srv/app."),
        (allow("Edit", "src/main.py"), "Allows editing the file src/main.py in the working directory."),
        (deny("Read", "secrets"), "Denies reading the file secrets in the working directory and anything below it."),
        (ask("Read", "*.pem"), "Asks before reading any path with a name that matches *.pem, anywhere."),
        (allow("Read", "*.py"), "Allows reading files that match *.py in the working directory."),
        (allow("Pay", '{"to": "bob"}'), 'Allows calls of Pay whose arguments match {"to": "bob"}.'),
    ],
)
def test_a_rule_is_described_in_one_sentence(rule: PermissionRule, sentence: str) -> None:
    assert describe_rule(rule) == sentence

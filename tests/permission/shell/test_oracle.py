"""Real bash as a judge of the reader: whatever bash starts or writes was seen, or the whole call asks.

SAYSO_FUZZ=N makes N times as many texts.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import shell_text
from bash_oracle import Oracle, Run
from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, FileUnit, OpaqueUnit, Unit

FUZZ = int(os.environ.get("SAYSO_FUZZ", "1"))


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle").resolve())


def stands_for(unit: CommandUnit, started: Sequence[str]) -> bool:
    """Whether the words of the unit may have become this argv."""

    def rest(at: int, word: int) -> bool:
        if word == len(unit.argv):
            return at == len(started) or unit.open_argv
        expected = unit.argv[word]
        if expected.text is not None:
            text = expected.text if word else os.path.basename(expected.text)
            return at < len(started) and started[at] == text and rest(at + 1, word + 1)
        if expected.single:
            return at < len(started) and started[at].startswith(expected.prefix) and rest(at + 1, word + 1)
        return any(rest(after, word + 1) for after in range(at, len(started) + 1))

    return rest(0, 0)


def written(units: Sequence[Unit], work: Path) -> set[str] | None:
    """The files that the units say are written; None for any."""
    found: set[str] = set()
    for unit in units:
        if isinstance(unit, FileUnit) and unit.op == "write":
            if unit.path is None:
                return None
            for directory in [unit.cwd] if unit.cwd else [str(work), f"{work}/src"]:
                found.add(os.path.relpath(os.path.join(directory, unit.path), work))
    return found | {"nohup.out", "src/nohup.out"}


def unseen(oracle: Oracle, text: str) -> str | None:
    """What bash does with this text that its units do not say; "" if the call asks as a whole."""
    work = str(oracle.work)
    units = shell_units(text, cwd=work, home=work, workspace=[work])
    if any(isinstance(unit, OpaqueUnit) for unit in units):
        return ""
    run: Run = oracle.run(text)
    commands = [unit for unit in units if isinstance(unit, CommandUnit)]
    for started in run.started:
        if started and not any(stands_for(unit, started) for unit in commands):
            return f"{text!r} starts {started}"
    files = written(units, oracle.work)
    if files is not None and (made := run.made - files):
        return f"{text!r} makes {sorted(made)}"
    return None


@pytest.mark.parametrize(
    ("make", "count", "least"),
    [
        (shell_text.program, 200, 60),
        (shell_text.wrapped, 100, 20),
        (shell_text.damaged, 150, 20),
        (shell_text.soup, 150, 2),
    ],
)
def test_whatever_bash_starts_or_writes_was_seen(
    oracle: Oracle, make: Callable[[int], str], count: int, least: int
) -> None:
    answers = [unseen(oracle, make(seed)) for seed in range(count * FUZZ)]
    assert [answer for answer in answers if answer] == []
    assert answers.count(None) >= least * FUZZ, "most texts ask as a whole, so that this shows little"


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("m''a 'a b'  \"c\"\\ d", ["ma", "a b", "c d"]),
        ("$'\\x6da' $'a\\tb'", ["ma", "a\tb"]),
        ("x=1 ma y > o1 z", ["ma", "y", "z"]),
        ("ma \\\n  y", ["ma", "y"]),
        ('ma "a\\$b\\`c\\"d\\e"', ["ma", 'a$b`c"d\\e']),
        ("ma a#b # c", ["ma", "a#b"]),
        ("ma ~/x $HOME/y ~/'z'", ["ma", "{home}/x", "{home}/y", "{home}/z"]),
        ("ma {} a=~ a,b", ["ma", "{}", None, "a,b"]),
    ],
)  # fmt: skip
def test_the_words_of_a_unit_are_the_words_that_bash_passes(oracle: Oracle, text: str, argv: list[str | None]) -> None:
    home = str(oracle.work)
    *_, unit = [u for u in shell_units(text, cwd=home, home=home, workspace=[home]) if isinstance(u, CommandUnit)]
    expected = [word and word.replace("{home}", home) for word in argv]
    assert [word.text for word in unit.argv] == expected
    (started,) = oracle.run(text).started
    assert [None if mine is None else theirs for mine, theirs in zip(expected, started, strict=True)] == expected


def test_bash_loses_a_semicolon_behind_a_here_document_in_a_substitution_so_that_asks(oracle: Oracle) -> None:
    text = "ma \"$(mb <<'E'\nE\nmc 1; md 2)\""
    assert ["mc", "1", "md", "2"] in oracle.run(text).started or ["mc", "1"] in oracle.run(text).started
    assert unseen(oracle, text) == ""

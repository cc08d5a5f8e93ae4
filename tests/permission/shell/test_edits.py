"""Which commands only edit files, and which files those are."""

import pytest

from commanding import command
from sayso.permission.shell.edits import edit_units


def edits(text: str) -> list[tuple[str, str | None]] | None:
    found = edit_units(command(text))
    return None if found is None else [(unit.op, unit.path) for unit in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mkdir build/x", [("write", "build/x")]),
        ("mkdir -p -m 755 a b", [("write", "a"), ("write", "b")]),
        ("touch -- -x", [("write", "-x")]),
        ("rm -rf a", [("remove", "a")]),
        ("rmdir a", [("remove", "a")]),
        ("cp a b", [("read", "a"), ("write", "b"), ("write", "b/a")]),
        ("cp -r src build/src", [("search", "src"), ("write", "build/src"), ("write", "build/src/src")]),
        ("cp -t d a", [("read", "a"), ("write", "d"), ("write", "d/a")]),
        ("cp -td a", [("read", "a"), ("write", "d"), ("write", "d/a")]),
        ("mv --target-directory=d a", [("search", "a"), ("remove", "a"), ("write", "d"), ("write", "d/a")]),
        ("sed -i 's/a/b/' x", [("read", "x"), ("write", "x")]),
        ("sed -i -e p -e d x", [("read", "x"), ("write", "x")]),
        ("LANG=C mkdir x", [("write", "x")]),
    ],
)
def test_an_edit_names_every_file_it_touches(text: str, expected: list[tuple[str, str]]) -> None:
    assert edits(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rm $x", "an unknown file"),
        ("rm *.pyc", "unknown files"),
        ("cp a", "no target"),
        ("cp --backup a b", "writes another file"),
        ("cp -l a b", "makes a link"),
        ("cp -r a/. b", "names that are not known"),
        ("mv --zebra a b", "an unknown option"),
        ("touch -r a b", "not listed"),
        ("rm --no-preserve-root -r x", "not listed"),
        ("sed 's/a/b/' x", "changes nothing"),
        ("sed -i.bak 's/a/b/' x", "writes another file"),
        ("sed -i 's/a/b/e' x", "executes"),
        ("sed -i 'w y' x", "writes another file"),
        ("sed -i '/a/r y' x", "copies another file into it"),
        ("sed -i -f script x", "a script that is not seen"),
        ("sed -i p *.txt", "unknown files"),
        ("ln -s a b", "not one of the commands"),
        ("./rm a", "another program"),
        ("PATH=. rm a", "another program"),
    ],
)
def test_anything_else_is_no_edit(text: str, why: str) -> None:
    assert edits(text) is None, why

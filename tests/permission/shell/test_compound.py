"""Compound commands: what asks, what is harmless, and where the shell may be after each."""

import os
from pathlib import Path

import pytest

from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, OpaqueUnit


def opaque(text: str) -> list[str]:
    return [unit.why for unit in shell_units(text, cwd="/w") if isinstance(unit, OpaqueUnit)]


@pytest.mark.parametrize(
    "text",
    [
        "if a; then b; elif c; then d; else e; fi",
        "for x in 1 2 $y *.txt; do a; done",
        "for x; do a; done",
        "for x in a\ndo\n a\ndone",
        "select x in a b; do c; done",
        "while read -r l; do a; done < f",
        "until a; do b; done",
        "for ((i=0; i<3; i++)); do a; done",
        "case $x in a|b) c;; (d) e;& *.py) f;; *) g;; esac",
        "case x in\n a) b\n ;;\nesac",
        "{ a; }",
        "( a )",
        "(a; b) && c",
        "[[ -f x && ( $y == z* || ! -n $y ) ]]",
        "[[ $x =~ ^(a|b){2}$ ]]",
        "[[ a < b ]]",
        "[[ 1 -lt 2 && $# -eq 0 ]]",
        "((1 + 2))",
        "((i++, j = i * 2))",
        "x=1; [[ $x -gt 0 ]]",
        "[ -f x -a ! -d y ]",
        "[ -f ~/x ]",
        "[ $x == -1 ]",
    ],
)
def test_a_compound_command_is_understood(text: str) -> None:
    assert opaque(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "f() { a; }",
        "f() (a)",
        "function f { a; }",
        "[[ $x -eq 1 ]]; read x",
        "[[ $(a) -eq 1 ]]",
        "[[ -v a[$(b)] ]]",
        "[[ x -eq 'a[$(b)]' ]]",
        "(( x ))  ; x=$(a)",
        "(( a[$(b)] ))",
        "((a) && (b))",
        "(( $(a) ))",
        "for ((i=$(a); i<2; i++)); do b; done",
        "for PATH in .; do a; done",
        "for IFS in x; do a; done",
        "((PATH=1))",
        "time { a; }",
        "coproc { a; }",
        "if a; then b",
        "then a",
        "{ a",
        "case x in @(a|b)) c;; esac",
        "{ a; } b",
    ],
)
def test_what_may_run_more_than_is_seen_asks(text: str) -> None:
    assert opaque(text) != []


def after(text: str, work: Path) -> set[str | None]:
    """Where the shell may be after this text."""
    found = shell_units(f"{text}\nhere", cwd=str(work), home="/h", workspace=[str(work)])
    return {
        unit.cwd and os.path.relpath(unit.cwd, work)
        for unit in found
        if isinstance(unit, CommandUnit) and unit.argv and unit.argv[0].text == "here"
    }


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("if a; then cd src; fi", {".", "src"}),
        ("if cd src; then a; fi", {".", "src"}),
        ("if a; then cd src; else cd doc; fi", {".", "src", "doc"}),
        ("case x in a) cd src;; *) cd doc;; esac", {".", "src", "doc"}),
        ("for x in a; do cd src; done", {None}),
        ("while a; do cd src; done", {None}),
        ("{ cd src; }", {".", "src"}),
        ("(cd src)", {"."}),
        ("cd src && a || cd doc", {"src", ".", "doc", "src/doc"}),
        ("a | cd src", {"."}),
        ("cd src &", {"."}),
        ("f() { cd src; }", {"."}),
    ],
)
def test_every_way_through_a_compound_command_is_followed(tmp_path: Path, text: str, places: set[str | None]) -> None:
    work = tmp_path.resolve()
    for name in ("src/doc", "doc"):
        (work / name).mkdir(parents=True)
    assert after(text, work) == places


def test_a_loop_that_moves_is_read_once_more_from_anywhere(tmp_path: Path) -> None:
    work = tmp_path.resolve()
    (work / "src").mkdir()
    found = shell_units("while a; do rm x; cd src; done", cwd=str(work), workspace=[str(work)])
    assert {unit.cwd for unit in found if isinstance(unit, CommandUnit) and unit.argv[0].text == "rm"} == {
        str(work),
        None,
    }


def test_the_words_of_a_loop_are_values_of_its_name() -> None:
    assert opaque("for i in 1 2 3; do echo $((i + 1)); done") == []
    assert opaque("for i in 1 'a[$(b)]'; do echo $((i + 1)); done") != []
    assert opaque("for i in *; do echo $((i + 1)); done") != []

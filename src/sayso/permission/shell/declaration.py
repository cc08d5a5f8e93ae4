"""Builtins and assignments that give values to variables.

Owns which names may take a value, and what is recorded of it: a variable can change what a later word or expression of
the same text does. Manual: bash(1) 5.2, "SHELL BUILTIN COMMANDS".
"""

import re

from sayso.permission.shell.arithmetic import check
from sayso.permission.shell.command import Call
from sayso.permission.shell.reading import Flow
from sayso.permission.shell.scan import NotAWord
from sayso.permission.shell.variable import Value, is_harmless
from sayso.permission.shell.word import Words
from sayso.permission.unit import CommandUnit, Word

__all__ = ["assign", "declare", "getopts", "let", "mapfile", "no_assignments", "printf", "quiet", "read", "unset"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DECLARED = re.compile(r"([A-Za-z_]\w*)(\+?=)?", re.ASCII)


def assign(call: Call) -> Flow:
    """`name=value` and no command."""
    for name, value in call.simple.assignments:
        if not call.reading.variables.is_local(name) and not is_harmless(name, value):
            call.note(f"it sets the variable {name}")
        call.reading.variables.set(name, value)
    if call.simple.assignments:
        call.unit(needs_cover=False)
    return call.stay()


def quiet(call: Call) -> Flow:
    """It was judged to change nothing that matters."""
    no_assignments(call)
    call.unit(needs_cover=False)
    return call.stay()


def no_assignments(call: Call) -> None:
    for name, value in call.simple.assignments:
        if not is_harmless(name, value):
            call.note(f"it sets the variable {name} for a command of the shell itself")


def declare(call: Call) -> Flow:
    """declare, typeset, local, readonly with plain names; export with harmless ones."""
    no_assignments(call)
    name = call.argv[0].text
    exporting = name == "export"
    for word in call.argv[1:]:
        text = word.text
        if text is not None and text.startswith("-"):
            plain = text in ("-r", "-a", "-A", "-p", "-f", "-F", "--") if not exporting else text in ("-p", "--")
            if not plain:
                call.note(f"{name} {text} may change what runs")
            continue
        _declare_one(call, word, exporting=exporting)
    call.unit(needs_cover=False)
    return call.stay()


def _declare_one(call: Call, word: Word, *, exporting: bool) -> None:
    written = word.text if word.text is not None else word.source
    match = _DECLARED.match(written)
    if match is None or (match[2] is None and (match.end() != len(written) or word.text is None)):
        call.note("it declares something that is no plain name")
        return
    name = match[1]
    value = Word(None, word.source) if word.text is None else Word(written[match.end() :], word.source)
    if exporting:
        if match[2] != "=" or not is_harmless(name, value):
            call.note(f"it exports the variable {name}")
    elif not call.reading.variables.is_local(name):
        call.note(f"it sets the variable {name}")
    if match[2] is not None:
        call.reading.variables.set(name, value)


def unset(call: Call) -> Flow:
    for text in call.texts:
        if text is None or (text not in ("-v", "--") and not call.reading.variables.is_local(text)):
            call.note("unset of anything but a local variable")
    return quiet(call)


def read(call: Call) -> Flow:
    """read: the names are the words behind the options; IFS and the like may be set for it."""
    kept = tuple((name, value) for name, value in call.simple.assignments if name != "IFS")
    names, understood = _named(call, "adiNnptu")
    _set(call, names, understood)
    unit = CommandUnit(
        argv=call.argv,
        assignments=kept,
        wrapped=call.scope.wrapped,
        needs_cover=False,
        cwd=None,
        source=call.simple.source,
    )
    for name, value in kept:
        if not is_harmless(name, value):
            call.note(f"it sets the variable {name} for a command of the shell itself")
    call.reading.command(unit, call.cwds)
    return call.stay()


def _named(call: Call, with_value: str) -> tuple[list[str], bool]:
    """The operands, and whether all is understood; the name of -a is one too."""
    names: list[str] = []
    texts = call.texts
    at = 0
    while at < len(texts) and (text := texts[at]) is not None and text.startswith("-") and text != "-":
        at += 1
        if text == "--":
            break
        letter = next((position for position, mark in enumerate(text[1:], 1) if mark in with_value), None)
        if letter is None:
            continue
        value: str | None = text[letter + 1 :]
        if not value:
            value = texts[at] if at < len(texts) else None
            at += 1
        if text[letter] == "a":
            if value is None:
                return names, False
            names.append(value)
    rest = texts[at:]
    return [*names, *(text for text in rest if text is not None)], None not in rest


def _set(call: Call, names: list[str], understood: bool) -> None:
    if not understood:
        call.note("it sets variables whose names only running would tell")
    for name in names:
        if not call.reading.variables.is_local(name):
            call.note(f"it sets the variable {name}" if _NAME.fullmatch(name) else "it sets what is no plain name")
        call.reading.variables.set(name, Value.UNKNOWN)


def mapfile(call: Call) -> Flow:
    if any(text is not None and re.match(r"-[A-Za-z]*[Cc]", text) for text in call.texts):
        call.note("mapfile with a callback runs it")
    names, understood = _named(call, "dnOsu")
    _set(call, names, understood)
    return quiet(call)


def getopts(call: Call) -> Flow:
    texts = call.texts
    _set(call, [text for text in texts[1:2] if text is not None], len(texts) >= 2 and None not in texts[:2])
    return quiet(call)


def let(call: Call) -> Flow:
    for text in call.texts:
        try:
            if text is None:
                raise NotAWord("arithmetic that only running would tell")
            data = text.encode()
            check(Words(data, call.reading.variables, _nothing_inside, None), 0, len(data))
        except NotAWord as problem:
            call.note(str(problem))
    return quiet(call)


def _nothing_inside(at: int, quoted: bool) -> int:
    raise NotAWord("a substitution inside arithmetic")


def printf(call: Call) -> Flow:
    """Only -v and an unknown format set a variable."""
    first = call.argv[1] if len(call.argv) > 1 else None
    if first is not None and first.text is None and "-v".startswith(first.prefix[:2]):
        call.note("printf with a format that may be -v sets a variable")
    if first is not None and first.text is not None and first.text.startswith("-v"):
        name = first.text[2:] or (call.texts[1] if len(call.texts) > 1 else None)
        _set(call, [name] if name is not None else [], name is not None)
        return quiet(call)
    call.unit()
    return call.stay()

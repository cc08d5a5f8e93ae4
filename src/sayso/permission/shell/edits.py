"""Which commands only edit files, and which files: for the mode that accepts edits.

mkdir, touch, rm, rmdir, mv, cp and `sed -i`, with options that change nothing about which files are meant, and every
file named literally. Whether a file may be edited is the engine's.
"""

import os
from collections.abc import Callable, Sequence

from sayso.permission.shell.readonly import HARMLESS_VARIABLES
from sayso.permission.shell.readonly.sed import in_place
from sayso.permission.shell.readonly.table import Parsed, Table
from sayso.permission.unit import CommandUnit, FileUnit, Word

__all__ = ["edit_units"]

Edits = tuple[FileUnit, ...]
WRITE = ("Write", "Edit")
MANUAL = "coreutils 9.1, {}(1)"

MKDIR = Table(manual=MANUAL.format("mkdir"), short="pvm:", long="parents verbose mode=")
TOUCH = Table(manual=MANUAL.format("touch"), short="acmd:t:h", long="no-create date= time= no-dereference")
RM = Table(
    manual=MANUAL.format("rm"),
    short="fiIrRvd",
    long="force recursive verbose dir one-file-system preserve-root interactive?",
)
RMDIR = Table(manual=MANUAL.format("rmdir"), short="v", long="verbose ignore-fail-on-non-empty")
MV = Table(
    manual=MANUAL.format("mv"),
    short="finuvt:T",
    long="force interactive no-clobber update? verbose target-directory= no-target-directory strip-trailing-slashes",
)
CP = Table(
    manual=MANUAL.format("cp"),
    short="adfiHLnPpRruvt:Tx",
    long="archive force interactive? dereference no-dereference no-clobber recursive update? verbose target-directory= "
    "no-target-directory preserve? no-preserve= strip-trailing-slashes one-file-system",
)


def edit_units(unit: CommandUnit) -> Edits | None:
    """The files that a file command writes, removes and reads; None for any other command, option or unknown word."""
    if (
        not unit.argv
        or unit.open_argv
        or not all(word.text is not None and HARMLESS_VARIABLES.fullmatch(name) for name, word in unit.assignments)
    ):
        return None
    if any(word.text is None for word in unit.argv):
        return None
    name = unit.argv[0].text or ""
    words = unit.argv[1:]
    if name == "sed":
        changed = in_place(words, unit.cwd)
        return None if not changed else tuple(file for word in changed for file in edited(word, unit.cwd))
    known = COMMANDS.get(name)
    if known is None:
        return None
    table, effect = known
    parsed = table.parse(words, unit.cwd)
    return None if parsed is None else effect(parsed)


def edited(word: Word, cwd: str | None) -> Edits:
    return (one("read", word.text, cwd), one("write", word.text, cwd))


def one(op: str, path: str | None, cwd: str | None) -> FileUnit:
    tools = WRITE if op in ("write", "remove") else ("Read",)
    return FileUnit(op=op, path=path, cwd=cwd, rule_tools=tools, source=path or "")  # type: ignore[arg-type]


def writes(parsed: Parsed) -> Edits | None:
    return tuple(one("write", word.text, parsed.cwd) for word in parsed.operands) or None


def removes(parsed: Parsed) -> Edits | None:
    return tuple(one("remove", word.text, parsed.cwd) for word in parsed.operands) or None


def copies(parsed: Parsed) -> Edits | None:
    return transfer(parsed, "read")


def moves(parsed: Parsed) -> Edits | None:
    return transfer(parsed, "remove")


def transfer(parsed: Parsed, op: str) -> Edits | None:
    """Sources and targets: a target that is a directory holds each source under its own name."""
    targets = [value for value in parsed.values("t", "target-directory") if value is not None]
    sources: Sequence[Word] = parsed.operands
    if not targets:
        sources, targets = parsed.operands[:-1], parsed.operands[-1:]
    if not sources or len(targets) != 1:
        return None
    reading = "search" if op == "remove" or parsed.has("r", "R", "a", "recursive", "archive") else "read"
    found = [one(reading, word.text, parsed.cwd) for word in sources]
    if op == "remove":
        found += [one("remove", word.text, parsed.cwd) for word in sources]
    target = targets[0].text or ""
    found.append(one("write", target, parsed.cwd))
    for word in sources:
        name = os.path.basename((word.text or "").rstrip("/"))
        if name in ("", ".", ".."):
            return None
        found.append(one("write", os.path.join(target, name), parsed.cwd))
    return tuple(found)


COMMANDS: dict[str, tuple[Table, Callable[[Parsed], Edits | None]]] = {
    "mkdir": (MKDIR, writes),
    "touch": (TOUCH, writes),
    "rm": (RM, removes),
    "rmdir": (RMDIR, removes),
    "mv": (MV, moves),
    "cp": (CP, copies),
}

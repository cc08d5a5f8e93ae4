"""Rows for bash's own commands: those that change nothing but the flow of the script.

Manual: GNU bash 5.2, sections 4 and 6.4. Some of them evaluate what they are given: `test -v 'a[$(id)]'` and
`[[ x -eq 'a[$(id)]' ]]` run `id`, `printf -v` and `read` set variables. What reaches that is not in these rows.
"""

import re
from collections.abc import Sequence

from sayso.permission.shell.readonly.table import Parsed, Reads, Table, listing
from sayso.permission.shell.readonly.word import is_single
from sayso.permission.unit import Word

__all__ = ["ROWS"]

MANUAL = "bash 5.2, {}"
ON_FILES = frozenset(
    [
        "-a",
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-G",
        "-h",
        "-k",
        "-L",
        "-N",
        "-O",
        "-p",
        "-r",
        "-s",
        "-S",
        "-u",
        "-w",
        "-x",
    ]
)
UNARY = ON_FILES | {"-n", "-z", "-t", "-o"}
STRINGS = frozenset({"=", "==", "!=", "<", ">", "=~"})
ON_TWO_FILES = frozenset({"-nt", "-ot", "-ef"})
NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
INTEGER = re.compile(r"\s*[+-]?\d+\s*")
LOCAL_NAME = re.compile(r"(?!npm_|.*proxy)[a-z][a-z0-9_]*", re.ASCII)
WRITES_COUNT = re.compile(r"%[^%A-Za-z]*n")


def test(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """`test` and `[`: with up to three single words their number decides what each means; else all must be known."""
    if words and words[-1].text == "]":
        words = words[:-1]
    if not all(map(is_single, words)) or any(word.text in ("-v", "-R") for word in words):
        return None
    if len(words) <= 1:
        return ()
    texts = [word.text for word in words]
    if len(words) == 2:
        return unary(words, cwd)
    if len(words) == 3 and texts[1] in STRINGS | NUMBERS | ON_TWO_FILES:
        return tuple(listing(word, cwd) for word in (words[0], words[2])) if texts[1] in ON_TWO_FILES else ()
    if len(words) == 3 and texts[0] == "!":
        return unary(words[1:], cwd)
    return tested(words, cwd) if None not in texts else None


def tested(words: Sequence[Word], cwd: str | None) -> Reads:
    """The words that file operators stand before or between."""
    found: list[Word] = []
    for index, word in enumerate(words):
        if word.text in ON_FILES:
            found += words[index + 1 : index + 2]
        elif word.text in ON_TWO_FILES:
            found += [*words[max(index - 1, 0) : index], *words[index + 1 : index + 2]]
    return tuple(listing(word, cwd) for word in found)


def unary(words: Sequence[Word], cwd: str | None) -> Reads | None:
    operator = words[0].text
    if operator in ON_FILES:
        return (listing(words[1], cwd),)
    return () if operator in UNARY or operator == "!" else None


def conditional(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """`[[`: no word splitting, but numbers are arithmetic, which runs substitutions in subscripts."""
    if not words or words[-1].text != "]]":
        return None
    for index, word in enumerate(words[:-1]):
        if word.text in ("-v", "-R"):
            return None
        if word.text in NUMBERS:
            around = [words[index - 1].text if index else None, words[index + 1].text]
            if any(value is None or not INTEGER.fullmatch(value) for value in around):
                return None
    return tested(words[:-1], cwd)


def printf(parsed: Parsed) -> bool:
    """The format must be known: `-v` before it and `%n` in it set variables."""
    form = parsed.operands[0].text if parsed.operands else None
    return form is not None and not WRITES_COUNT.search(form)


def read(parsed: Parsed) -> bool:
    """Only names that no program and no part of bash looks at."""
    return all(word.text is not None and LOCAL_NAME.fullmatch(word.text) for word in parsed.operands)


def described(parsed: Parsed) -> bool:
    """`command -v name`: without -v or -V it would run the name."""
    return parsed.has("v", "V")


TEST = Table(manual=MANUAL.format("6.4 Bash Conditional Expressions, test"), grammar=test)

ROWS: dict[str, Table] = {
    "test": TEST,
    "[": TEST,
    "[[": Table(manual=MANUAL.format("3.2.5.2 Conditional Constructs"), grammar=conditional),
    ":": Table(manual=MANUAL.format("4.1 colon"), operands="text", open=True, posix=True),
    "printf": Table(manual=MANUAL.format("4.2 printf"), operands=printf, posix=True),
    "cd": Table(manual=MANUAL.format("4.1 cd"), short="LPe", operands="text", open=True),
    "type": Table(manual=MANUAL.format("4.2 type"), short="afPpt", operands="text", open=True),
    "command": Table(manual=MANUAL.format("4.2 command"), short="vV", operands=described, posix=True),
    "read": Table(manual=MANUAL.format("4.2 read"), short="rsd:n:N:p:t:u:", operands=read),
    "history": Table(manual=MANUAL.format("9.2 history"), operands="text"),
    "jobs": Table(manual=MANUAL.format("7.2 jobs"), short="lnprs", operands="text"),
    "dirs": Table(manual=MANUAL.format("6.8.1 dirs"), short="lpv", operands="none"),
    "times": Table(manual=MANUAL.format("4.1 times"), operands="none"),
    "umask": Table(manual=MANUAL.format("4.1 umask"), short="pS", operands="none"),
    "ulimit": Table(manual=MANUAL.format("4.2 ulimit"), short="HSabcdefiklmnpqrstuvx", operands="none"),
    "help": Table(manual=MANUAL.format("4.2 help"), short="dms", operands="text"),
    "wait": Table(manual=MANUAL.format("7.2 wait"), short="nf", operands="text", open=True),
    "exit": Table(manual=MANUAL.format("4.1 exit"), operands="text", open=True, posix=True),
    "return": Table(manual=MANUAL.format("4.1 return"), operands="text", open=True, posix=True),
    "break": Table(manual=MANUAL.format("4.1 break"), operands="text"),
    "continue": Table(manual=MANUAL.format("4.1 continue"), operands="text"),
}

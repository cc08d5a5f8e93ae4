"""Programs that run another program: where in their words the other one starts.

Owns how a row of `wrappers` is read, with the rules of getopt(3). An option that is not listed means that nobody knows
where the inner command is. Knows no program.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from sayso.permission.unit import Word

__all__ = ["Found", "Kind", "Wrapper", "find_inner"]


class Kind(Enum):
    """How a wrapper takes part in the judgement."""

    TRANSPARENT = auto()
    """It only waits, repeats or prepares: the inner command is judged in its place."""
    OPAQUE = auto()
    """It changes who, where or how: it needs cover itself, by a rule that names the inner command too."""
    RUNNER = auto()
    """An ordinary command for allow rules; deny rules look inside."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where the inner command is: `at` in the words, as words or (script) as text for a shell.

    assignments: `NAME=value` words in front of it. cwd: the word of an option that changes directory. reads: files that
    options name. replaces: text in words that stands for something else (xargs -I).
    """

    at: int
    script: bool = False
    assignments: tuple[tuple[str, Word], ...] = ()
    cwd: Word | None = None
    reads: tuple[Word, ...] = ()
    replaces: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """One program's row. short: letters, `:` after one that takes a value (attached or the next word), `?` after one
    whose value can only be attached. long: names, `=` after one that takes a value, `?` likewise.

    operands: how many words stand between the options and the command. script: an option whose value is shell text.
    joined: the words are joined with blanks and given to a shell. variables: `NAME=value` may stand in front.
    globals, subcommand: options and words that must come first; options of `between` may stand between these words.
    dashes: the command stands behind `--`. remote: files are not these. open: more words follow. permuted: options may
    stand behind operands. late: options behind the operands whose value is shell text.
    """

    kind: Kind = Kind.OPAQUE
    short: str = ""
    long: str = ""
    operands: int = 0
    script: tuple[str, ...] = ()
    joined: bool = False
    variables: bool = False
    subcommand: tuple[str, ...] = ()
    dashes: bool = False
    remote: bool = False
    open: bool = False
    digits: bool = False
    chdir: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    globals: "Wrapper | None" = None
    between: "Wrapper | None" = None
    permuted: bool = False
    late: tuple[str, ...] = ()


@dataclass(slots=True)
class _Options:
    """What was read of the options: values by name, and where the operands start. at: None for one that is unknown."""

    at: int | None
    values: dict[str, Word] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    places: dict[str, int] = field(default_factory=dict)

    def first(self, names: Sequence[str]) -> Word | None:
        """The value of the first of these options that was given one."""
        return next((self.values[name] for name in names if name in self.values), None)


@functools.cache
def _kinds(notation: str) -> dict[str, str]:
    return {match[1]: match[2] for match in re.finditer(r"(\S)([:?]?)", notation)}


@functools.cache
def _long_kinds(notation: str) -> dict[str, str]:
    return {word.rstrip("=?"): word[len(word.rstrip("=?")) :] for word in notation.split()}


def _options(row: Wrapper, argv: Sequence[Word], at: int) -> _Options:
    """Read options as getopt does with POSIXLY_CORRECT: they end at the first word that is none."""
    short, long = _kinds(row.short), _long_kinds(row.long)
    found = _Options(None)
    while at < len(argv):
        word = argv[at]
        text = word.text
        if text is None:
            if not word.prefix or word.prefix.startswith("-"):
                return found
            break
        if text == "--":
            at += 1
            break
        if len(text) < 2 or not text.startswith("-"):
            if row.permuted:
                at += 1
                continue
            break
        if row.digits and text[1:].lstrip("-+").isdigit():
            at += 1
            continue
        if text.startswith("--"):
            step = _long(long, argv, at, found, row.kind is Kind.TRANSPARENT)
        else:
            step = _short(short, argv, at, found)
        if step is None:
            return found
        at = step
    found.at = at
    return found


def _long(kinds: dict[str, str], argv: Sequence[Word], at: int, found: _Options, abbreviated: bool) -> int | None:
    text = argv[at].text or ""
    name, equals, value = text[2:].partition("=")
    if abbreviated and name not in kinds:
        # getopt_long(3): any start that only one option has.
        meant = [known for known in kinds if known.startswith(name)]
        name = meant[0] if len(meant) == 1 else name
    kind = kinds.get(name)
    if kind is None or (equals and not kind):
        return None
    found.given.add(name)
    if equals:
        found.values[name], found.places[name] = Word(value, value), at
    elif kind == "=":
        if at + 1 >= len(argv):
            return None
        found.values[name], found.places[name] = argv[at + 1], at + 1
        return at + 2
    return at + 1


def _short(kinds: dict[str, str], argv: Sequence[Word], at: int, found: _Options) -> int | None:
    text = argv[at].text or ""
    for position, letter in enumerate(text[1:], 1):
        kind = kinds.get(letter)
        if kind is None:
            return None
        found.given.add(letter)
        rest = text[position + 1 :]
        if kind and rest:
            found.values[letter], found.places[letter] = Word(rest, rest), at
            return at + 1
        if kind == ":":
            if at + 1 >= len(argv):
                return None
            found.values[letter], found.places[letter] = argv[at + 1], at + 1
            return at + 2
    return at + 1


def _variable(word: Word) -> tuple[str, Word] | None:
    """`NAME=value` for a program: whatever has a `=` in it."""
    if "=" not in (word.prefix if word.text is None else word.text):
        return None
    name, _, value = (word.prefix if word.text is None else word.text).partition("=")
    return name, Word(None if word.text is None else value, word.source)


def find_inner(row: Wrapper, argv: Sequence[Word]) -> Found | None:
    """Where the inner command is. None: the words in front of it are not understood.

    Where there is none, `at` is the number of words, or 0 if the subcommand is another one.
    """
    start = _subcommand(row, argv)
    if not start:
        return None if start is None else Found(0)
    options = _options(row, argv, start)
    if options.at is None:
        return None
    found = _found(row, argv, options, options.at)
    # A word that may become none or several moves all that stand behind it.
    certain = all(word.text is not None or word.single for word in argv[: found.at])
    return found if certain else None


def _subcommand(row: Wrapper, argv: Sequence[Word]) -> int | None:
    """Where the words behind the subcommand start; 0 if it is another one. None: not understood."""
    at: int | None = 1
    if row.globals is not None:
        at = _options(row.globals, argv, 1).at
    for position, name in enumerate(row.subcommand):
        if position and row.between is not None and at is not None:
            at = _options(row.between, argv, at).at
        if at is None:
            return None
        if at >= len(argv) or (argv[at].text is not None and argv[at].text not in name.split("|")):
            return 0
        if argv[at].text is None:
            return None
        at += 1
    return at


def _found(row: Wrapper, argv: Sequence[Word], options: _Options, at: int) -> Found:
    script = next((name for name in row.script if name in options.places), None)
    if script is not None:
        return Found(options.places[script], script=True)
    reads = tuple(options.values[name] for name in row.reads if name in options.values)
    replacing = options.first(row.replace)
    replaces = (replacing.text or "") if replacing is not None else "{}" if options.given & set(row.replace) else ""
    if row.dashes:
        at = next((i + 1 for i in range(at, len(argv)) if argv[i].text == "--"), len(argv))
        return Found(at)
    assigned: list[tuple[str, Word]] = []
    while row.variables and at < len(argv) and (variable := _variable(argv[at])) is not None:
        assigned.append(variable)
        at += 1
    at = min(at + row.operands, len(argv))
    if row.operands and at < len(argv) and argv[at].text == "--":
        at += 1
    if at + 1 < len(argv) and argv[at].text in row.late:
        return Found(at + 1, script=True)
    return Found(at, row.joined, tuple(assigned), options.first(row.chdir), reads, replaces)

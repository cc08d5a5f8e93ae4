"""How a table row describes a tool, and how a command line is read by it.

A row is a closed world: an option that it does not list, or spells differently, makes the command not proven.
Owns the option grammar (getopt's, with GNU's long options and permutation) and the operand rules. Knows no tool.

The notation of a row. `short`: letters, each with `:` (takes a value, attached or the next word), `?` (an attached
value or none), `<` (a value that names a file to read) or nothing. `long`: names, each with `=`, `?`, `<` likewise, or
`!` (takes the next word if there is one: git's PARSE_OPT_LASTARG_DEFAULT) or `==` (a value that must be attached).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sayso.permission.shell.readonly.word import head_of, is_operand, is_single
from sayso.permission.unit import FileUnit, Word

__all__ = ["Grammar", "Parsed", "Program", "Proof", "Reads", "Table", "listing", "reading", "searching"]

Reads = tuple[FileUnit, ...]
Grammar = Callable[[Sequence[Word], str | None], Reads | None]
"""What a tool with a grammar of its own reads, from its arguments and cwd; None where that is not certain."""

SHORT = re.compile(r"\s*(\S)([:?<]?)")
DIGITS = re.compile(r"-\d+f?")


@dataclass(frozen=True, slots=True)
class Proof:
    """A command only reads. `why` names the table and its manual, `reads` the files and trees that it would read."""

    why: str
    reads: Reads


@dataclass(slots=True)
class Parsed:
    """A command line as its row reads it: options in order, operands, and the files that options name."""

    cwd: str | None
    options: list[tuple[str, Word | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    reads: list[FileUnit] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Word | None]:
        """The values given to these options; None for an option without one."""
        return [value for name, value in self.options if name in names]


def reading(word: Word, cwd: str | None) -> FileUnit:
    """The content of one file."""
    return FileUnit(op="read", path=word.text, cwd=cwd, rule_tools=("Read",), source=word.source, prefix=word.prefix)


def listing(word: Word, cwd: str | None) -> FileUnit:
    """The names in a directory, or the facts about a file: its content stays unread."""
    return FileUnit(op="read", path=word.text, cwd=cwd, rule_tools=("Glob",), source=word.source, prefix=word.prefix)


def searching(word: Word, cwd: str | None, *, content: bool = True) -> FileUnit:
    """A tree: the content of its files, or only their names."""
    tools = ("Read", "Grep", "Glob") if content else ("Glob",)
    return FileUnit(op="search", path=word.text, cwd=cwd, rule_tools=tools, source=word.source, prefix=word.prefix)


HERE = Word(".", ".")


def files(parsed: Parsed) -> bool:
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands if word.text != "-"]
    return True


def one_file(parsed: Parsed) -> bool:
    """More than one would be an output file, as of uniq and xxd."""
    return len(parsed.operands) <= 1 and all(map(is_single, parsed.operands)) and files(parsed)


def names(parsed: Parsed) -> bool:
    parsed.reads += [listing(word, parsed.cwd) for word in parsed.operands or [HERE]]
    return True


def trees(parsed: Parsed) -> bool:
    parsed.reads += [searching(word, parsed.cwd, content=False) for word in parsed.operands or [HERE]]
    return True


def text(parsed: Parsed) -> bool:
    return True


def nothing(parsed: Parsed) -> bool:
    return not parsed.operands


RULES: dict[str, Callable[[Parsed], bool]] = {
    "files": files,
    "names": names,
    "none": nothing,
    "one": one_file,
    "text": text,
    "trees": trees,
}


def long_kinds(notation: str) -> dict[str, str]:
    kinds = {}
    for word in notation.split():
        name = word.rstrip("=?<!")
        mark = word[len(name) :]
        kinds[name] = ":" if mark == "=" else mark
    return kinds


@dataclass(slots=True, kw_only=True)
class Table:
    """One tool's row.

    manual: where the row comes from: the page, its section or version.
    operands: a rule's name, or a function that adds to `reads` and says whether the command is still harmless.
    open: no option of the tool at all is harmful, so that words of unknown value are fine.
    detached: a short option's value is the next word, and what is attached to the letter are further letters.
    posix: options end at the first operand. digits: `-5` is an option, and so is `-5f`. words: `-version` is one.
    grammar: for a tool with no such options; then the other fields are not used.
    exact: even --help and --version are the grammar's to accept.
    guard: whether the directory lets the tool be itself: a project can choose the program that answers.
    """

    manual: str
    short: str = ""
    long: str = ""
    operands: str | Callable[[Parsed], bool] = "files"
    open: bool = False
    detached: bool = False
    posix: bool = False
    digits: bool = False
    words: str = ""
    grammar: Grammar | None = None
    guard: Callable[[str | None], bool] | None = None
    exact: bool = False
    shorts: dict[str, str] = field(init=False)
    longs: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.shorts = dict(SHORT.findall(self.short))
        self.longs = long_kinds(self.long)
        for word in self.words.split():
            self.longs["-" + word] = ""

    def reads(self, words: Sequence[Word], cwd: str | None) -> Reads | None:
        """What these arguments make the tool read, or None where more than reading is possible."""
        if self.guard is not None and not self.guard(cwd):
            return None
        if not self.exact and is_help(words):
            return ()
        if self.grammar is not None:
            return self.grammar(words, cwd)
        parsed = self.parse(words, cwd)
        if parsed is None:
            return None
        rule = RULES[self.operands] if isinstance(self.operands, str) else self.operands
        return tuple(parsed.reads) if rule(parsed) else None

    def parse(self, words: Sequence[Word], cwd: str | None) -> Parsed | None:
        """Read the arguments by the row; None where one is not listed or not certain."""
        parsed = Parsed(cwd)
        position, end = 0, len(words)
        while position < end:
            word = words[position]
            position += 1
            text = word.text
            if text == "--":
                parsed.operands += words[position:]
                break
            if text is None:
                text = self.open_word(word, parsed)
                if text is None:
                    return None
            if len(text) < 2 or text[0] != "-":
                parsed.operands.append(word)
                if self.posix:
                    parsed.operands += words[position:]
                    break
                continue
            taken = self.option(word, text, words[position:], parsed)
            if taken is None:
                return None
            position += taken
        return parsed

    def open_word(self, word: Word, parsed: Parsed) -> str | None:
        """The certain start of a word of unknown value, if nothing it may expand to is harmful."""
        head = head_of(word)
        if is_operand(word) or (head.startswith("--") and "=" in head):
            return head
        if not self.open:
            return None
        if self.operands != "text":
            parsed.reads.append(reading(Word(None, word.source), parsed.cwd))
        return "?"

    def option(self, word: Word, text: str, rest: Sequence[Word], parsed: Parsed) -> int | None:
        """Take one option word; how many of the following words belong to it, or None."""
        if text in self.longs:
            return self.take(text, self.longs[text], None, rest, parsed)
        if text[1] != "-":
            return self.cluster(word, text, rest, parsed)
        name, equals, value = text[2:].partition("=")
        kind = self.longs.get(name)
        if kind is None or (equals and not kind):
            return None
        known = word.text is not None
        attached = Word(value if known else None, word.source) if equals else None
        return self.take(name, kind, attached, rest, parsed)

    def cluster(self, word: Word, text: str, rest: Sequence[Word], parsed: Parsed) -> int | None:
        if self.digits and DIGITS.fullmatch(text):
            parsed.options.append((text, None))
            return 0
        if word.text is None:
            return None
        for index in range(1, len(text)):
            kind = self.shorts.get(text[index])
            if kind is None:
                return None
            value = text[index + 1 :]
            if kind:
                if self.detached and kind != "?" and value and not value.isdigit():
                    return None
                return self.take(text[index], kind, Word(value, value) if value else None, rest, parsed)
            parsed.options.append((text[index], None))
        return 0

    def take(self, name: str, kind: str, attached: Word | None, rest: Sequence[Word], parsed: Parsed) -> int | None:
        used = 0
        if attached is None and kind in {":", "<", "!"}:
            if rest:
                attached, used = rest[0], 1
                if not (is_single(attached) or self.open):
                    return None
            elif kind != "!":
                return None
        if attached is None and kind == "==":
            return None
        if kind == "<" and attached is not None and attached.text != "-":
            parsed.reads.append(reading(attached, parsed.cwd))
        parsed.options.append((name, attached))
        return used


def is_help(words: Sequence[Word]) -> bool:
    return len(words) == 1 and words[0].text in ("--help", "--version")


@dataclass(slots=True, kw_only=True)
class Program:
    """A tool with commands: options before the command word, then one row a command.

    commands: rows by command word, or by two of them. bare: whether no command at all only prints.
    """

    manual: str
    commands: Mapping[str, Table]
    short: str = ""
    long: str = ""
    bare: bool = True
    guard: Callable[[str | None], bool] | None = None
    head: Table = field(init=False)

    def __post_init__(self) -> None:
        self.head = Table(manual=self.manual, short=self.short, long=self.long, posix=True)

    def reads(self, words: Sequence[Word], cwd: str | None) -> Reads | None:
        """What these arguments make the tool read, or None where more than reading is possible."""
        if self.guard is not None and not self.guard(cwd):
            return None
        if is_help(words):
            return ()
        parsed = self.head.parse(words, cwd)
        if parsed is None:
            return None
        return self.command_reads(parsed.operands, cwd)

    def command_reads(self, words: Sequence[Word], cwd: str | None) -> Reads | None:
        """As `reads`, from the command word on."""
        if not words:
            return () if self.bare else None
        first, second = words[0].text, words[1].text if len(words) > 1 else None
        if first is None:
            return None
        table = self.commands.get(f"{first} {second}")
        if table is not None:
            return table.reads(words[2:], cwd)
        table = self.commands.get(first)
        return None if table is None else table.reads(words[1:], cwd)

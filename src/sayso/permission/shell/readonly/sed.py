"""Which sed scripts only read: a reader of sed's own language.

Manual: GNU sed 4.9, info pages 3 to 5. Commands that write or start a program (`w`, `W`, `e`, and `s` with `w` or
`e`) are not in the language read here, and neither is what two sed versions take for different things.
"""

import re
from collections.abc import Sequence

from sayso.permission.shell.readonly.table import Parsed, Reads, Table, reading
from sayso.permission.unit import FileUnit, Word

__all__ = ["in_place", "script_reads", "sed"]

SED = Table(
    manual="GNU sed 4.9",
    short="nErsuze:",
    long="quiet silent regexp-extended separate null-data unbuffered posix debug sandbox expression= follow-symlinks",
)
SED_IN_PLACE = Table(
    manual=SED.manual, short="nErsuze:i?", long="quiet silent regexp-extended null-data expression= in-place?"
)

BLANKS = re.compile(r"[ \t]*")
# A bracket expression that a delimiter would cut is read differently by different versions: it must be closed.
REGEX = re.compile(r"(?:\\.|\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]\[]|\[(?![:.=]))*\]|[^\[\\])*", re.S)
LINE = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
END = re.compile(r"[ \t]*(?:[;\n]|(?=[}#])|\Z)")
LABEL = re.compile(r"[ \t]*[\w.-]*")
NUMBER = re.compile(r"[ \t]*\d*")
TEXT = re.compile(r"\\\n[^\\\n]*(?:\n|\Z)|[ \t]*[^\\\s][^\\\n]*(?:\n|\Z)")
FILE = re.compile(r"[ \t]*([^\n]+)(?:\n|\Z)")
# Without these letters no reading of a script, by any sed, has a command that writes, executes or reads a named file.
ACTING = frozenset("ewWrR")
DELIMITERS = frozenset("/|,#:;!@%^&*+=~_-'\"<>?.")


class Unproven(Exception):
    """The script has a command that this reader does not know to be harmless."""


def sed(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """What a sed command reads, or None where its script may do more."""
    parsed = SED.parse(words, cwd)
    return None if parsed is None else reads_of(parsed)


def in_place(words: Sequence[Word], cwd: str | None) -> tuple[Word, ...] | None:
    """The files that `sed -i` with a script that only edits them changes, or None. A backup suffix is not accepted."""
    parsed = SED_IN_PLACE.parse(words, cwd)
    if parsed is None or not parsed.has("i", "in-place") or any(parsed.values("i", "in-place")):
        return None
    scripts, operands = scripts_of(parsed)
    found = None if scripts is None else script_reads(scripts)
    return tuple(operands) if found == [] else None


def scripts_of(parsed: Parsed) -> tuple[str | None, list[Word]]:
    """The script, expressions joined, or None where it is not known; and the files."""
    given = parsed.values("e", "expression")
    operands = parsed.operands
    if not given:
        given, operands = list(operands[:1]), operands[1:]
    texts = [word.text for word in given if word is not None and word.text is not None]
    return ("\n".join(texts) if texts and len(texts) == len(given) else None), operands


def reads_of(parsed: Parsed) -> Reads | None:
    script, operands = scripts_of(parsed)
    found = None if script is None else script_reads(script)
    if found is None:
        return None
    named = [FileUnit(op="read", path=path, cwd=parsed.cwd, rule_tools=("Read",), source=path) for path in found]
    return (*named, *(reading(word, parsed.cwd) for word in operands if word.text != "-"))


def script_reads(script: str) -> list[str] | None:
    """The files that a script's `r` commands read, or None where the script may do more than read."""
    if ACTING.isdisjoint(script):
        return []
    reader = Script(script)
    try:
        reader.read()
    except Unproven:
        return None
    return reader.files


class Script:
    """A cursor over one script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.files: list[str] = []

    def take(self, pattern: re.Pattern[str]) -> str:
        """What the pattern matches here; the cursor moves past it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            raise Unproven
        self.at = match.end()
        return match.group()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def read(self) -> None:
        while self.at < len(self.text):
            letter = self.peek()
            if letter in " \t\n;}":
                self.at += 1
            elif letter == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                self.addresses()
                self.command()

    def addresses(self) -> None:
        if not self.address():
            return
        self.take(BLANKS)
        if self.peek() == ",":
            self.at += 1
            self.take(BLANKS)
            if not self.address():
                raise Unproven
        self.take(BLANKS)
        while self.peek() == "!":
            self.at += 1
            self.take(BLANKS)

    def address(self) -> bool:
        letter = self.peek()
        if letter in ("/", "\\"):
            if letter == "\\":
                self.at += 1
            self.part(self.delimiter(), regex=True)
            while self.peek() in ("I", "M"):
                self.at += 1
            return True
        if LINE.match(self.text, self.at) is None:
            return False
        self.take(LINE)
        return True

    def delimiter(self) -> str:
        letter = self.peek()
        if letter not in DELIMITERS or not letter:
            raise Unproven
        self.at += 1
        return letter

    def part(self, delimiter: str, *, regex: bool) -> None:
        """Move past the next unescaped delimiter."""
        start = self.at
        while (letter := self.peek()) != delimiter:
            if letter in ("", "\n"):
                raise Unproven
            self.at += 2 if letter == "\\" else 1
        if regex and REGEX.fullmatch(self.text[start : self.at]) is None:
            raise Unproven
        self.at += 1

    def command(self) -> None:
        letter = self.peek()
        self.at += 1
        match letter:
            case "{":
                return
            case "=" | "d" | "D" | "g" | "G" | "h" | "H" | "n" | "N" | "p" | "P" | "x" | "z" | "F":
                pass
            case "l" | "L" | "q" | "Q":
                self.take(NUMBER)
            case "b" | "t" | "T" | ":":
                self.take(LABEL)
            case "s" | "y":
                delimiter = self.delimiter()
                self.part(delimiter, regex=letter == "s")
                self.part(delimiter, regex=False)
                if letter == "s":
                    self.flags()
            case "a" | "i" | "c":
                self.take(TEXT)
                return
            case "r" | "R":
                self.files.append(self.take(FILE).strip())
                return
            case _:
                raise Unproven
        self.take(END)

    def flags(self) -> None:
        while self.peek() and self.peek() in "gpiImM0123456789":
            self.at += 1

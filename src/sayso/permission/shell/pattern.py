"""The language of command rules: reading a pattern, writing one, and saying what it matches.

    npm test      exactly this command; words are separated by blanks, quotes and backslashes as in the shell
    npm test:*    every command that begins with these words
    git * main    a star outside quotes is any text inside one simple command
    src/*         behind a slash a star stays in its word, and leads to no `..`

Owns the text of patterns. What a unit is and whether it matches is `match`'s.
"""

import re
import shlex
from dataclasses import dataclass, field

from sayso.errors import InvalidRule

__all__ = ["HOLE", "SEPARATOR", "STAR", "Pattern", "explain_pattern", "parse_pattern", "quote", "validate_pattern"]

STAR = "\udc2a"
"""A wildcard in a word of a pattern. No text of a command holds a lone surrogate."""
SEPARATOR = "\0"
"""Between the words of a text to be matched with wildcards; no word holds it."""
HOLE = "\udc00"
"""In such a text, what is not known."""

_SIMPLE = re.compile(r"[^\s\\'\"*|&;<>\x00-\x1f\x7f\ud800-\udfff]+(?: [^\s\\'\"*|&;<>\x00-\x1f\x7f\ud800-\udfff]+)*")
_PART = re.compile(
    r"""(?P<blank>[ \t\n]+)|\\(?P<escaped>.)|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<star>\*+)"""
    r"""|(?P<operator>[|&;<>])|(?P<plain>[^\s\\'"*|&;<>]+)|(?P<other>.)""",
    re.DOTALL,
)
_IN_DOUBLE = re.compile(r"\\([$`\"\\*])")
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, read. words: with STAR for each wildcard. prefix: any words may follow.

    assignments: `NAME=value` words in front, which a command must have just so.
    """

    words: tuple[str, ...]
    prefix: bool
    assignments: tuple[str, ...] = ()
    _made: dict[bool, re.Pattern[str]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def literal(self) -> int:
        """How many words it begins with that have no wildcard."""
        return next((at for at, word in enumerate(self.words) if STAR in word), len(self.words))

    def regex(self, *, lenient: bool) -> re.Pattern[str]:
        """What the words, joined by SEPARATOR, must be as a whole. Strict: a star behind a slash stays in its word."""
        made = self._made.get(lenient)
        if made is None:
            made = self._made[lenient] = _regex(self, lenient)
        return made


def _regex(pattern: Pattern, lenient: bool) -> re.Pattern[str]:
    found: list[str] = []
    last = len(pattern.words) - 1
    for at, word in enumerate(pattern.words):
        separator = SEPARATOR if at else ""
        if word == STAR and at:
            found.append(f"(?:{separator}.*)?" if lenient or at == last else f"{separator}.*")
            continue
        in_path = not lenient and "/" in word.partition(STAR)[0] and STAR in word
        if in_path:
            found.append(f"{separator}(?!(?:[^{SEPARATOR}]*/)?\\.\\.(?:/|{SEPARATOR}|\\Z))")
            separator = ""
        star = f"[^{SEPARATOR}{HOLE}]*" if in_path and at else ".*"
        found.append(separator + star.join(map(re.escape, word.split(STAR))))
    if pattern.prefix:
        found.append(f"(?:{SEPARATOR}.*)?")
    return re.compile("".join(found), re.DOTALL)


def parse_pattern(content: str) -> Pattern:
    """Read a pattern. Raises InvalidRule for one that can never match, or that nobody could be sure how to read."""
    body = content.strip(" \t\n")
    if match := _NO_TEXT.search(body):
        raise InvalidRule(f"it holds the character {match[0]!a}, which no command has")
    prefix = body.endswith(":*") and not body.endswith("\\:*")
    if prefix:
        body = body[:-2]
    words = body.split(" ") if _SIMPLE.fullmatch(body) else _words(body)
    if words == [STAR + ":"]:
        words = [STAR]
    count = 0
    while count < len(words) and (match := _ASSIGNMENT.match(words[count])) and _unquoted_start(body, match[0], count):
        count += 1
    if not words[count:]:
        raise InvalidRule("it names no command; write the words that the command begins with")
    return Pattern(tuple(words[count:]), prefix, tuple(words[:count]))


def _unquoted_start(body: str, name: str, position: int) -> bool:
    return position > 0 or body.lstrip().startswith(name)


def _words(body: str) -> list[str]:
    words: list[str] = []
    word: str | None = None
    for part in _PART.finditer(body):
        text: str
        match part.lastgroup:
            case "blank":
                if word is not None:
                    words.append(word)
                word = None
                continue
            case "star":
                text = STAR
            case "double":
                text = _IN_DOUBLE.sub(r"\1", part["double"])
            case "operator":
                raise InvalidRule(
                    f"{part[0]!r} joins or redirects commands, and a rule is about one simple command at a time: "
                    "write a rule for each, or quote it if it is part of a word"
                )
            case "other":
                raise InvalidRule(
                    "a quote or a backslash is not closed; close it, or write a backslash before it"
                    if part[0] in "'\"\\"
                    else f"no command holds the character {part[0]!r}"
                )
            case kind:
                text = part[kind or "plain"]
        word = (word or "") + text
    if word is not None:
        words.append(word)
    return words


def validate_pattern(content: str) -> None:
    """Raises InvalidRule, with the reason, for a pattern that can never match."""
    parse_pattern(content)


def quote(text: str) -> str:
    """One word as a pattern writes it, so that it stands for nothing but itself."""
    return shlex.quote(text)


def explain_pattern(content: str) -> str:
    """What commands a pattern matches, to follow a verb such as "Allows". Raises nothing."""
    try:
        pattern = parse_pattern(content)
    except InvalidRule as error:
        return f"no command, since {content!r} cannot be read: {error}"
    if pattern.words == (STAR,) and not pattern.assignments:
        return "any simple command"
    shown = " ".join([*pattern.assignments, *map(_shown, pattern.words)])
    if STAR in "".join(pattern.words):
        rest = ", with any words after it" if pattern.prefix else ""
        return f"any command of the form `{shown}`, where `*` is any text{rest}"
    if not pattern.prefix:
        return f"exactly the command `{shown}`"
    return (
        f"the command `{shown}` with any arguments"
        if len(pattern.words) == 1
        else f"any command that begins with `{shown}`"
    )


def _shown(word: str) -> str:
    return "*".join(shlex.quote(part) if part else "" for part in word.split(STAR)) or "''"

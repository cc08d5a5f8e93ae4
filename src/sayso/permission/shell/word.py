"""One word of the shell: what it becomes, or that only running would tell.

Owns quoting and the place of every expansion in a word, read byte by byte: the tree is asked only where a command
substitution ends. Knows no command. Grammar: bash(1) "QUOTING", "EXPANSION".
"""

import re
from collections.abc import Callable

from sayso.permission.shell.ansi import decoded
from sayso.permission.shell.arithmetic import evaluate
from sayso.permission.shell.parameter import braced
from sayso.permission.shell.reading import Limit
from sayso.permission.shell.scan import CLOSING_BRACE, Builder, Inside, NotAWord
from sayso.permission.shell.variable import Variables
from sayso.permission.unit import Word

__all__ = ["Words"]

_SAFE = re.compile(rb"[A-Za-z0-9_./:,@%+=^\-\x80-\xff]+")
_PLAIN = re.compile(rb"[A-Za-z0-9_./:,@%+=^\-#!\]}\x80-\xff]+")
# Blanks of Unicode (category Zs, and U+0085): for the shell they are letters, for a person they are not.
_BLANKS = re.compile(rb"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xaf]|\xe2\x81\x9f|\xe3\x80\x80")
_DOUBLE_QUOTED = re.compile(rb'[^"\\$`]+')
_TILDE = re.compile(rb"~(?=/|$)")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_BRACE_LIST = re.compile(rb"\{.*(?:,|\.\.).*\}", re.DOTALL)
_MOST_STEPS = 10_000
_SAFE_HOME = re.compile(r"[A-Za-z0-9_./:,@%+=-]+")


class Words:
    """Reads words of one text. home, pwd: what `~`, `$HOME` and `$PWD` stand for, or None where unknown."""

    def __init__(self, data: bytes, variables: Variables, inside: Inside, home: str | None) -> None:
        self.data = data
        self.variables = variables
        self.inside = inside
        self.home = home
        self.pwd: str | None = None
        self.steps = 0

    def read(self, start: int, end: int) -> Word:
        """The word at these offsets. Raises NotAWord."""
        source = self.data[start:end]
        if _SAFE.fullmatch(source) and (source.isascii() or not _BLANKS.search(source)):
            text = source.decode()
            return Word(text, text)
        out = Builder()
        if source[:1] == b"~":
            start_at = self.tilde(start, end, out)
        elif source[:1] == b"#":
            raise NotAWord("a comment is not a word")
        else:
            start_at = start
        if self.unquoted(start_at, end, out) != end:
            raise NotAWord("a quote or an expansion does not end with its word")
        return out.word(source)

    def tilde(self, at: int, end: int, out: Builder) -> int:
        """A leading `~`: the home directory, or somebody's, which is unknown."""
        if _TILDE.match(self.data, at, end) and self.home is not None:
            out.literal(self.home.encode())
        else:
            out.unknown(single=True)
        return at + 1

    def unquoted(self, at: int, end: int, out: Builder, stop: int = -1) -> int:
        """Read to `end`, or to the byte `stop` outside of quotes; returns the offset reached."""
        data = self.data
        while at < end:
            byte = data[at]
            if byte == stop:
                return at
            if match := _PLAIN.match(data, at, end):
                run = match[0]
                if not run.isascii() and _BLANKS.search(run):
                    raise NotAWord("a blank of Unicode outside of quotes")
                if stop >= 0 and (cut := run.find(stop)) >= 0:
                    run = run[:cut]
                out.literal(run)
                at += len(run)
                continue
            if stop == CLOSING_BRACE and byte in b" \t\n()|&;":
                out.literal(data[at : at + 1])
                at += 1
                continue
            self.step()
            step = _STEPS.get(byte)
            if step is None:
                raise NotAWord(f"{chr(byte)!r} does not belong to a word")
            at = step(self, at, end, out)
        return at

    def step(self) -> None:
        """Account for one more quote, escape or expansion. Raises Limit."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise Limit("the command has too many quotes and expansions to be judged")

    def escape(self, at: int, end: int, out: Builder) -> int:
        if at + 1 >= end:
            raise NotAWord("a backslash at the end of a word")
        if self.data[at + 1] != 0x0A:
            out.literal(self.data[at + 1 : at + 2])
        return at + 2

    def single(self, at: int, end: int, out: Builder) -> int:
        close = self.data.find(b"'", at + 1, end)
        if close < 0:
            raise NotAWord("a quote does not end with its word")
        out.literal(self.data[at + 1 : close])
        return close + 1

    def double(self, at: int, end: int, out: Builder) -> int:
        """From an opening `"` to after the closing one."""
        at = self.quoted(at + 1, end, out, 0x22)
        if at >= end:
            raise NotAWord("a quote does not end with its word")
        return at + 1

    def quoted(self, at: int, end: int, out: Builder, stop: int = -1) -> int:
        """Read text in which only `$`, backtick and backslash are special, to the byte `stop` or to `end`."""
        data = self.data
        while at < end:
            byte = data[at]
            if byte == stop:
                return at
            self.step()
            if byte == 0x24:
                at = self.dollar(at, end, out, quoted=True)
            elif byte == 0x60:
                out.unknown(single=True)
                at = self.inside(at, True)
            elif byte == 0x5C:
                following = data[at + 1 : at + 2]
                if following != b"\n":
                    out.literal(following if following in _ESCAPED_IN_QUOTES else data[at : at + 2])
                at += 2
            else:
                at = self.quoted_run(at, end, out, stop)
        return at

    def quoted_run(self, at: int, end: int, out: Builder, stop: int) -> int:
        """Plain text inside quotes, in a here-document, or in a `${...}` inside quotes."""
        match = _DOUBLE_QUOTED.match(self.data, at, end)
        run = match[0] if match else b'"'
        if stop == CLOSING_BRACE:
            if (cut := run.find(stop)) >= 0:
                run = run[:cut]
            if b"'" in run or b'"' in run:
                # Whether a quote quotes here depends on the operator and on the version of Bash.
                raise NotAWord("a quote inside a quoted ${...}")
        out.literal(run)
        return at + len(run)

    def backtick(self, at: int, end: int, out: Builder) -> int:
        out.unknown(single=False)
        return self.inside(at, False)

    def glob(self, at: int, end: int, out: Builder) -> int:
        if self.data[at] == 0x5B and b"]" not in self.data[at:end]:
            out.literal(b"[")
        else:
            out.several()
        return at + 1

    def brace(self, at: int, end: int, out: Builder) -> int:
        if _BRACE_LIST.match(self.data, at, end):
            out.several()
        else:
            out.literal(b"{")
        return at + 1

    def inner_tilde(self, at: int, end: int, out: Builder) -> int:
        # Bash expands it in words that look like assignments, also as arguments.
        if self.data[at - 1] in b"=:":
            out.unknown(single=True)
        else:
            out.literal(b"~")
        return at + 1

    def process(self, at: int, end: int, out: Builder) -> int:
        if self.data[at + 1 : at + 2] != b"(":
            raise NotAWord("a redirection is not a word")
        # The name of a pipe, absolute.
        out.literal(b"/")
        out.unknown(single=True)
        return self.inside(at, False)

    def plain_dollar(self, at: int, end: int, out: Builder) -> int:
        return self.dollar(at, end, out, quoted=False)

    def dollar(self, at: int, end: int, out: Builder, *, quoted: bool) -> int:
        """A `$` and what it introduces."""
        data = self.data
        following = data[at + 1 : at + 2] if at + 1 < end else b""
        if match := _NAME.match(data, at + 1, end):
            self.variable(match[0], out, quoted=quoted)
            return match.end()
        if following == b"(":
            if data[at + 1 : at + 3] == b"((" and (after := evaluate(self, at + 3, end)) is not None:
                out.unknown(single=True)
                return after
            out.unknown(single=quoted)
            return self.inside(at, quoted)
        if following == b"{":
            return braced(self, at, end, out, quoted=quoted)
        if following == b"[":
            raise NotAWord("$[...] evaluates arithmetic")
        if following in _SPECIAL and following:
            self.special(following, out, quoted=quoted)
            return at + 2
        if not quoted and following == b"'":
            return self.ansi(at, end, out)
        if not quoted and following == b'"':
            out.unknown(single=True)
            return self.double(at + 1, end, out)
        out.literal(b"$")
        return at + 1

    def variable(self, name: bytes, out: Builder, *, quoted: bool) -> None:
        """`$name` or `${name}`."""
        value = self.home if name == b"HOME" else self.pwd if name == b"PWD" else None
        if value is not None and (quoted or _SAFE_HOME.fullmatch(value)):
            out.literal(value.encode())
        else:
            out.unknown(single=quoted)

    def special(self, name: bytes, out: Builder, *, quoted: bool) -> None:
        """A positional or special parameter. `"$@"` is several words, the numbers are one."""
        out.unknown(single=name in b"?#$" or (quoted and name != b"@"))

    def ansi(self, at: int, end: int, out: Builder) -> int:
        match = _ANSI.match(self.data, at, end)
        if match is None:
            raise NotAWord("a quote does not end with its word")
        text = decoded(match[1])
        if text is None:
            out.unknown(single=True)
        else:
            out.literal(text)
        return match.end()


_ANSI = re.compile(rb"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_SPECIAL = frozenset(bytes([byte]) for byte in b"0123456789@*#?$!-")
_ESCAPED_IN_QUOTES = frozenset({b"$", b"`", b'"', b"\\"})
_STEPS: dict[int, Callable[[Words, int, int, Builder], int]] = {
    0x5C: Words.escape,
    0x27: Words.single,
    0x22: Words.double,
    0x24: Words.plain_dollar,
    0x60: Words.backtick,
    0x2A: Words.glob,
    0x3F: Words.glob,
    0x5B: Words.glob,
    0x7B: Words.brace,
    0x7E: Words.inner_tilde,
    0x3C: Words.process,
    0x3E: Words.process,
}

"""What the readers of words, parameters and arithmetic share."""

from collections.abc import Callable
from typing import Protocol

from sayso.permission.shell.variable import Variables
from sayso.permission.unit import Word

__all__ = ["CLOSING_BRACE", "Builder", "Inside", "NotAWord", "Scanner"]

Inside = Callable[[int, bool], int]
"""Reads the commands of the substitution at an offset, in double quotes or not, and returns the offset after it."""


CLOSING_BRACE = 0x7D


class NotAWord(Exception):
    """Bash would not read this text as this word, or its value is run as code. Never leaves this package."""


class Builder:
    """A word in the making: its literal text as long as that is known, then what is certain about it."""

    __slots__ = ("known", "prefix", "single", "text")

    def __init__(self) -> None:
        self.text = bytearray()
        self.known = True
        self.single = True
        self.prefix = b""

    def literal(self, data: bytes) -> None:
        """Text that stands for itself."""
        if self.known:
            self.text += data

    def unknown(self, *, single: bool) -> None:
        """A part that only running would tell. Not single: blanks in it would split the word, or it may vanish."""
        if self.known:
            self.prefix = bytes(self.text)
            self.known = False
        if not single:
            self.single = False
            self.prefix = b""

    def several(self) -> None:
        """A glob or a brace list: several words may come of it, each beginning with what stands before it."""
        self.unknown(single=True)
        self.single = False

    def word(self, source: bytes) -> Word:
        """The word; text that is no UTF-8 is unknown."""
        written = source.decode(errors="replace")
        try:
            if self.known:
                return Word(self.text.decode(), written)
            return Word(None, written, self.prefix.decode(), self.single)
        except UnicodeDecodeError:
            return Word(None, written, "", self.single)


class Scanner(Protocol):
    """What a part of a word needs of the reader of the whole."""

    data: bytes
    variables: Variables
    inside: Inside

    def unquoted(self, at: int, end: int, out: Builder, stop: int = -1) -> int: ...
    def quoted(self, at: int, end: int, out: Builder, stop: int = -1) -> int: ...
    def variable(self, name: bytes, out: Builder, *, quoted: bool) -> None: ...
    def special(self, name: bytes, out: Builder, *, quoted: bool) -> None: ...

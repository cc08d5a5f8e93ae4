"""A cursor over one parsed text, which must pass over every byte of it.

What lies between two tokens may only be blanks, so that nothing that the tree left out can run. Owns tokens, comments
and words; the tree is trusted with their nesting alone. Knows no statement.
"""

import re
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from sayso.permission.shell.reading import Cwds, Reading, Scope
from sayso.permission.shell.scan import NotAWord
from sayso.permission.shell.word import Words
from sayso.permission.unit import Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

__all__ = ["Cursor"]

_BOUNDARY = frozenset(b" \t\n;&|<>()`")
_BLANKS = re.compile(rb"[ \t]*")
_LINES = re.compile(rb"[ \t\n]*")
_DESCRIPTOR = re.compile(rb"\d+|\{\w+\}")
_COMMENT = re.compile(rb"#[^\n]*")


class Cursor:
    """One pass over the tree of one text, in the order of its bytes.

    original: the text before here-documents were blanked. line_end: where the newline must be that ends the line of a
    here-document whose operator was passed. strict: off in text that did not parse, which asks anyway.
    """

    def __init__(
        self,
        data: bytes,
        original: bytes,
        reading: Reading,
        scope: Scope,
        cwds: Cwds,
        *,
        continued: bool = False,
    ) -> None:
        self.data = data
        self.original = original
        self.reading = reading
        self.scope = scope
        self.cwds = cwds
        self.continued = continued
        self.strict = True
        self.pos = 0
        self.line_end: int | None = None
        # Inside a substitution: whether a here-document has been passed. None outside.
        self.behind_document: bool | None = None
        self.holders: Sequence[Node] = ()
        self.nested: dict[int, Node] | None = None
        self.words = Words(data, reading.variables, self.inside, reading.home)

    @abstractmethod
    def inside(self, at: int, quoted: bool) -> int:
        """Read the commands of the substitution at this offset; returns the offset after it."""

    @abstractmethod
    def salvage_nested(self, start: int, end: int) -> None:
        """Add the commands of the substitutions between two offsets that have not been read."""

    def gap(self, start: int, *, lines: bool = False) -> None:
        """Pass over what lies before `start`: blanks, and newlines where Bash takes them for blanks."""
        between = self.data[self.pos : start]
        self.pos = start
        if not between or between == b" " or not self.strict:
            return
        if self.continued:
            between = between.replace(b"\\\n", b"")
        if not (_LINES if lines else _BLANKS).fullmatch(between):
            self.reading.note("something between its words is not understood", self.text(start, start + 40))
        if self.line_end is not None and b"\n" in between:
            if self.pos - len(between) + between.index(b"\n") != self.line_end:
                self.reading.note("a here-document that is not understood")
            self.line_end = None

    def token(self, node: "Node", *, lines: bool = False) -> None:
        """Pass over an operator or a reserved word."""
        start, end = node.start_byte, node.end_byte
        self.gap(start, lines=lines)
        self.pos = end
        if not self.strict:
            return
        before, mark, after = self.data[start - 1 : start], self.data[start:end], self.data[end : end + 1]
        if mark[:1].isalpha() or mark in (b"{", b"}", b"!", b"[[", b"]]"):
            alone = (not before or before[0] in _BOUNDARY) and (not after or after[0] in _BOUNDARY)
        else:
            alone = after not in (b"&", b"|") if mark in (b"&", b"|", b"&&", b"||", b"|&", b";") else True
            alone = alone and not (mark == b"&" and after == b">")
        if not alone:
            self.reading.note("an operator that is not understood", self.text(start, end + 10))

    def comment(self, node: "Node") -> None:
        """Pass over a comment, which must be one for Bash: at the start of a word, to the end of its line."""
        start, end = node.start_byte, node.end_byte
        self.gap(start, lines=True)
        match = _COMMENT.match(self.data, start)
        if self.strict and (match is None or match.end() != end or (start and self.data[start - 1] not in _BOUNDARY)):
            self.reading.note("a comment that is not understood", self.text(start, end))
        self.pos = end

    def text(self, start: int, end: int) -> str:
        """The source between two offsets, for people."""
        return self.original[start:end].decode(errors="replace")

    def word(self, node: "Node", *, lines: bool = False) -> Word:
        """Read the word that this node covers."""
        self.hold([node])
        return self.region(node.start_byte, node.end_byte, lines=lines)

    def hold(self, nodes: "Sequence[Node]") -> None:
        """The substitutions of the word to be read next are below these nodes."""
        self.holders, self.nested = nodes, None

    def region(self, start: int, end: int, *, lines: bool = False) -> Word:
        """Read the word between two offsets."""
        data = self.data
        while start < end and data[start] in b" \t\n":
            start += 1
        self.gap(start, lines=lines)
        after = data[end : end + 1]
        holders = self.holders
        try:
            if self.strict:
                if (start and data[start - 1] not in _BOUNDARY) or (after and after[0] not in _BOUNDARY):
                    raise NotAWord("a word that goes on")
                if after in (b"<", b">") and _DESCRIPTOR.fullmatch(data, start, end):
                    raise NotAWord("a redirection of a descriptor that is not understood")
            word = self.words.read(start, end)
        except NotAWord as problem:
            self.reading.note(str(problem), self.text(start, end))
            word = Word(None, self.text(start, end))
            self.holders = holders
            self.salvage_nested(start, end)
        self.pos = end
        return word if self.data is self.original else replace(word, source=self.text(start, end))

"""Here-documents and continued lines, taken out of a text before it is parsed.

tree-sitter-bash ends a body at any line that begins like the delimiter, and knows one here-document a line. So bodies
are found here, by Bash's rules, and blanked; `<<WORD` becomes a plain `< WORD` of the same length, so that offsets
stay. A first guess at quoting is enough to find them, because nothing rests on it: the walker checks that every
operator found here is one in the tree, and that the first newline after it is the one its body follows. A guess that
was wrong, or a here-document that was missed, makes the text opaque.
"""

import re
from dataclasses import dataclass

from sayso.permission.shell.reading import Limit

__all__ = ["HereDocument", "Lifted", "lift"]

_STEP = re.compile(
    rb"""(?P<skip>\\[^\n]|'[^']*'|\$'(?:[^'\\]|\\.)*'|<<<|[^\\'"$`()<\n#\s]+|[^\S\n]+)
    |(?P<join>\\\n)|(?P<comment>(?<![^\s;&|()<>])\#[^\n]*)|(?P<open>\$?\()|(?P<close>\))|(?P<quote>")
    |(?P<heredoc><<(?P<dash>-?)[ \t]*(?P<word>(?:[\w.!+/-]|\\[^\n]|'[^'\n]*'|"[^"\\`$\n]*")+))|(?P<newline>\n)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED_STEP = re.compile(
    rb"""(?P<skip>\\[^\n]|[^\\"$]+)|(?P<join>\\\n)|(?P<open>\$\()|(?P<quote>")|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONTINUED = re.compile(rb"(?<!\\)(?:\\\\)*\\\n")
_DEQUOTE = re.compile(rb"\\(.)|'([^']*)'|\"([^\"]*)\"|([^\\'\"]+)")


_MOST_STEPS = 12_000
_MOST_JOINS = 1000
_MOST_DOCUMENTS = 100
_TOO_MANY = "the command has too many here-documents or continued lines to be judged"


@dataclass(frozen=True, slots=True)
class HereDocument:
    """One here-document, in bytes of the text.

    operator, word_end: from `<<` to the end of the delimiter. body, end: the body, without the delimiter's line.
    line_end: offset of the newline after which the bodies of its line start. literal: the delimiter was quoted.
    """

    operator: int
    word_end: int
    line_end: int
    body: int
    end: int
    literal: bool


@dataclass(frozen=True, slots=True)
class Lifted:
    """The text with here-documents blanked. joins: where lines are continued (`\\` newline) outside of literal text."""

    text: bytes
    documents: dict[int, HereDocument]
    joins: list[int]


@dataclass(slots=True)
class _Pending:
    operator: int
    word_end: int
    delimiter: bytes
    literal: bool
    tabs: bool


def lift(data: bytes) -> Lifted:
    """Find every here-document and every continued line; see the module."""
    return _Lifter(data).run()


class _Lifter:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.documents: dict[int, HereDocument] = {}
        self.joins: list[int] = []
        self.searches = 0
        self.cuts: list[tuple[int, int]] = []
        self.pending: list[list[_Pending]] = [[]]
        # What surrounds the place read: b"(" a list of commands, b'"' a quoted text.
        self.around: list[bytes] = [b"("]

    def run(self) -> Lifted:
        at = steps = 0
        while at < len(self.data):
            steps += 1
            if steps > _MOST_STEPS or len(self.joins) > _MOST_JOINS:
                raise Limit(_TOO_MANY)
            step = (_QUOTED_STEP if self.around[-1] == b'"' else _STEP).match(self.data, at)
            if step is None:
                break
            at = self.take(step)
        out = bytearray(self.data)
        for operator in self.documents:
            dash = out[operator + 2 : operator + 3] == b"-"
            out[operator + 1 : operator + 2 + dash] = b" " * (1 + dash)
        for start, end in self.cuts:
            out[start:end] = b" " * (end - start)
        return Lifted(bytes(out), self.documents, self.joins)

    def take(self, step: re.Match[bytes]) -> int:
        match step.lastgroup:
            case "join":
                self.joins.append(step.start())
            case "open":
                self.around.append(b"(")
                self.pending.append([])
            case "close" if len(self.around) > 1:
                self.around.pop()
                self.pending.pop()
            case "quote":
                if self.around[-1] == b'"':
                    self.around.pop()
                else:
                    self.around.append(b'"')
            case "heredoc":
                word = step["word"]
                delimiter = b"".join(b"".join(parts) for parts in _DEQUOTE.findall(word))
                literal = delimiter != word
                tabs = step["dash"] == b"-"
                self.pending[-1].append(_Pending(step.start(), step.end(), delimiter, literal, tabs))
            case "newline" if self.pending[-1]:
                return self.bodies(step.start())
        return step.end()

    def bodies(self, line_end: int) -> int:
        """Cut out the bodies that follow this newline, in the order of their operators."""
        at = line_end + 1
        for pending in self.pending[-1]:
            found = self.body(pending, at)
            if found is None:
                continue
            end, after = found
            self.documents[pending.operator] = HereDocument(
                pending.operator, pending.word_end, line_end, at, end, pending.literal
            )
            self.cuts.append((at, after))
            at = after + 1
        self.pending[-1] = []
        return at

    def body(self, pending: _Pending, at: int) -> tuple[int, int] | None:
        """Where the body ends and where the delimiter's line ends, or None if no line is the delimiter."""
        self.searches += 1
        if self.searches > _MOST_DOCUMENTS:
            raise Limit(_TOO_MANY)
        tabs = rb"\t*" if pending.tabs else b""
        match = re.compile(rb"\n" + tabs + re.escape(pending.delimiter) + rb"(?=\n|\Z)").search(self.data, at - 1)
        if match is None:
            return None
        if not pending.literal:
            self.joins += [m.end() - 2 for m in _CONTINUED.finditer(self.data, at, match.start() + 1)]
        return match.start() + 1, match.end()

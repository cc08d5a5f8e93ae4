"""From a parsed text to its simple commands.

Owns the cursor that must pass over every byte: what lies between two tokens may only be blanks, so that nothing the
tree left out can run. The tree is trusted with nesting alone; words are read by their own bytes (`word`), the order of
`&&`, `|` and redirections is taken from the sequence of tokens, since tree-sitter-bash binds them differently.
"""

import re
from typing import TYPE_CHECKING

from sayso.permission.shell.command import run
from sayso.permission.shell.compound import COMPOUND
from sayso.permission.shell.heredoc import HereDocument, lift
from sayso.permission.shell.reading import MAX_DEPTH, Cwds, Flow, Limit, Reading, Scope, merge
from sayso.permission.shell.redirection import OPERATOR, redirect
from sayso.permission.shell.scan import Builder, NotAWord
from sayso.permission.shell.tree import parse
from sayso.permission.shell.word import Words
from sayso.permission.unit import Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

__all__ = ["Walk", "read_text"]

_SIMPLE = frozenset({"command", "declaration_command", "unset_command", "variable_assignment", "variable_assignments"})
_CHAIN = frozenset({"pipeline", "list", "redirected_statement", "negated_command"})
_REDIRECTIONS = frozenset({"file_redirect", "herestring_redirect"})
_TERMINATORS = frozenset({";", "&", "\n"})
_NESTED = frozenset({"command_substitution", "process_substitution"})
# What tree-sitter-bash may call a word, or a part of a command that is one.
_WORDS = frozenset(
    "ansi_c_string arithmetic_expansion brace_expression command_name command_substitution concatenation expansion "
    "extglob_pattern number process_substitution raw_string regex simple_expansion string test_operator "
    "translated_string variable_assignment variable_name word special_variable_name subscript "
    "export declare typeset readonly local unset unsetenv == =~ = $".split()
)
_BOUNDARY = frozenset(b" \t\n;&|<>()`")
_BLANKS = re.compile(rb"[ \t]*")
_LINES = re.compile(rb"[ \t\n]*")
_DESCRIPTOR = re.compile(rb"\d+|\{\w+\}")
_COMMENT = re.compile(rb"#[^\n]*")


def read_text(data: bytes, reading: Reading, scope: Scope, cwds: Cwds) -> Flow:
    """Add the units of this text to `reading`; returns where the shell may be after it.

    With a continued line the joined text is read, and the text as it stands besides: the stricter counts.
    """
    if b"<<" not in data and b"\\\n" not in data:
        return _read(data, data, {}, reading, scope, cwds, continued=False)
    lifted = lift(data)
    if not lifted.joins:
        return _read(lifted.text, data, lifted.documents, reading, scope, cwds, continued=False)
    _read(lifted.text, data, lifted.documents, reading, scope, cwds, continued=True)
    joined = bytearray(data)
    for at in sorted(lifted.joins, reverse=True):
        del joined[at : at + 2]
    again = lift(bytes(joined))
    return _read(again.text, bytes(joined), again.documents, reading, scope, cwds, continued=False)


def _read(
    text: bytes,
    original: bytes,
    documents: "Mapping[int, HereDocument]",
    reading: Reading,
    scope: Scope,
    cwds: Cwds,
    *,
    continued: bool,
) -> Flow:
    root = parse(text)
    if root is None:
        raise Limit("the command takes too long to parse")
    reading.spend(root.descendant_count)
    walk = Walk(text, original, reading, scope, cwds, documents, continued=continued)
    if root.has_error:
        reading.note("the command cannot be parsed")
        walk.salvage(root)
        return Flow(cwds, cwds)
    flow = walk.statements(root.children)
    walk.gap(len(text), lines=True)
    if walk.line_end is not None:
        reading.note("a here-document that is not understood")
    return flow


class Walk:
    """One pass over the tree of one text, in the order of its bytes."""

    def __init__(
        self,
        data: bytes,
        original: bytes,
        reading: Reading,
        scope: Scope,
        cwds: Cwds,
        documents: "Mapping[int, HereDocument]",
        *,
        continued: bool = False,
    ) -> None:
        self.data = data
        self.original = original
        self.reading = reading
        self.scope = scope
        self.cwds = cwds
        self.documents = documents
        self.continued = continued
        self.strict = True
        self.pos = 0
        self.line_end: int | None = None
        self.holder: Node | None = None
        self.nested: dict[int, Node] | None = None
        self.words = Words(data, reading.variables, self.inside, reading.home)

    # -- the cursor ------------------------------------------------------------------------------

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

    # -- words -----------------------------------------------------------------------------------

    def word(self, node: "Node", *, lines: bool = False) -> Word:
        """Read the word that this node covers."""
        self.holder, self.nested = node, None
        return self.region(node.start_byte, node.end_byte, lines=lines)

    def region(self, start: int, end: int, *, lines: bool = False) -> Word:
        """Read the word between two offsets; substitutions are looked up below `holder`."""
        data = self.data
        while start < end and data[start] in b" \t\n":
            start += 1
        self.gap(start, lines=lines)
        after = data[end : end + 1]
        holder = self.holder
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
            if holder is not None:
                self.salvage_nested(holder, start, end)
        self.pos = end
        return word

    def inside(self, at: int, quoted: bool) -> int:
        """Read the commands of the substitution at this offset; returns the offset after it."""
        if self.nested is None:
            self.nested = {} if self.holder is None else self.substitutions(self.holder)
        node = self.nested.get(at)
        if node is None:
            return self.detached(at, quoted)
        self.substitution(node, at, quoted)
        return node.end_byte

    def substitutions(self, holder: "Node") -> "dict[int, Node]":
        """The outermost substitutions below a node, by the offset of their first byte that is no blank."""
        found: dict[int, Node] = {}
        stack = [holder]
        while stack:
            node = stack.pop()
            if node.type in _NESTED:
                start = node.start_byte
                while self.data[start] in b" \t\n":
                    start += 1
                found[start] = node
            else:
                stack.extend(node.children)
        return found

    def substitution(self, node: "Node", at: int, quoted: bool) -> None:
        """Read `$(...)`, a backtick pair, `<(...)` or `>(...)`."""
        end = node.end_byte
        opener = 1 if self.data[at] == 0x60 else 2
        inner = self.data[at + opener : end - 1]
        if opener == 1 and (b"\\" in inner or b"`" in inner or (quoted and b'"' in inner)):
            self.reading.note("quotes inside backticks")
        if opener == 2 and inner.startswith(b"(") and self.data[at : at + 1] == b"$":
            self.reading.note("$(( ... )) that is not arithmetic")
        if self.data[end - 1 : end] != (b"`" if opener == 1 else b")"):
            self.reading.note("a substitution that does not end")
        saved = self.cwds, self.holder, self.nested, self.words.pwd, self.line_end
        self.pos, self.line_end = at + opener, None
        self.deeper()
        self.statements(node.children[1:-1])
        self.gap(end - 1, lines=True)
        if self.line_end is not None:
            self.reading.note("a here-document that is not understood")
        self.reading.depth -= 1
        self.cwds, self.holder, self.nested, self.words.pwd, self.line_end = saved
        self.pos = end

    def deeper(self) -> None:
        """One level of nesting more."""
        self.reading.depth += 1
        if self.reading.depth > MAX_DEPTH:
            raise Limit(f"the command nests deeper than {MAX_DEPTH} levels")

    def detached(self, at: int, quoted: bool) -> int:
        """Read a substitution that has no node: parse from its start, and take the first node."""
        rest = self.data[at:]
        root = parse(rest)
        node = root.descendant_for_byte_range(0, 1) if root is not None else None
        while node is not None and (node.type not in _NESTED or node.start_byte != 0):
            node = node.parent
        if root is None or node is None:
            raise NotAWord("a substitution that is not understood")
        self.reading.spend(root.descendant_count)
        if node.has_error:
            self.reading.note("a substitution that cannot be parsed")
        part = Walk(rest, rest, self.reading, self.scope, self.cwds, {}, continued=self.continued)
        part.strict = self.strict and not node.has_error
        part.substitution(node, 0, quoted)
        return at + node.end_byte

    # -- statements ------------------------------------------------------------------------------

    def statements(self, nodes: "Sequence[Node]") -> Flow:
        """Read commands one after another, from where the shell is; `&` runs one aside."""
        flow = Flow(self.cwds, self.cwds)
        separated = True
        for index, node in enumerate(nodes):
            kind = node.type
            if kind == "comment":
                self.comment(node)
            elif kind in _TERMINATORS:
                self.token(node)
                separated = True
            else:
                if self.strict and not separated and b"\n" not in self.data[self.pos : node.start_byte]:
                    self.reading.note("two commands with nothing between them")
                before = self.cwds
                flow = self.statement(node)
                aside = index + 1 < len(nodes) and nodes[index + 1].type == "&"
                if aside:
                    flow = Flow(before, before)
                self.cwds = flow.either
                separated = False
        return flow

    def statement(self, node: "Node") -> Flow:
        """Read one statement, with all that `&&`, `||`, `|` and redirections join to it."""
        if node.type in _SIMPLE:
            self.gap(node.start_byte, lines=True)
            return self.simple(node, ())
        pipelines = _split(node)
        flow = Flow(self.cwds, self.cwds)
        for connector, parts in pipelines:
            if connector is not None:
                self.token(connector)
                self.cwds = flow.success if connector.type == "&&" else flow.failure
            result = self.pipeline(parts)
            if connector is None:
                flow = result
            elif connector.type == "&&":
                flow = Flow(result.success, merge(flow.failure, result.failure))
            else:
                flow = Flow(merge(flow.success, result.success), result.failure)
        return flow

    def pipeline(self, parts: "Sequence[Part]") -> Flow:
        """Read the parts of a pipeline. More than one: each is a subshell, and none moves this shell."""
        start = self.cwds
        flow = Flow(start, start)
        negated = False
        for part in parts:
            for mark in part.marks:
                if mark.type == "comment":
                    self.comment(mark)
                else:
                    self.token(mark, lines=mark.type == "!")
                    negated ^= mark.type == "!"
            self.cwds = start
            flow = self.element(part)
        if len(parts) > 1:
            return Flow(start, start)
        return Flow(flow.failure, flow.success) if negated else flow

    def element(self, part: "Part") -> Flow:
        """Read one command of a pipeline and its redirections."""
        node, redirections = part.node, part.redirections
        self.words.pwd = self.cwds[0] if len(self.cwds) == 1 else None
        if (
            node is None
            or node.type in _SIMPLE
            or (node.type == "test_command" and self.data[node.start_byte : node.start_byte + 2] != b"[[")
        ):
            first = node if node is not None else redirections[0]
            self.gap(first.start_byte, lines=True)
            return self.simple(node, redirections)
        read = COMPOUND.get(node.type)
        if read is None:
            self.reading.note(
                f"a {node.type.replace('_', ' ')} is not understood", self.text(node.start_byte, node.end_byte)
            )
            self.salvage(node)
            return Flow(self.cwds, self.cwds)
        self.gap(node.start_byte, lines=True)
        self.deeper()
        place = self.cwds
        flow = read(self, node)
        self.reading.depth -= 1
        if redirections:
            self.cwds = place
            extra: list[Word] = []
            for redirection in redirections:
                self.redirection(redirection, extra)
            if extra:
                self.reading.note("words after a redirection of a compound command")
        return flow

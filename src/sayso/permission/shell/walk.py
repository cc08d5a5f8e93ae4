"""From a parsed text to its simple commands.

Owns statements: their order, what joins them, and where the shell stands when each runs. `&&`, `|` and redirections
are taken from the sequence of tokens, since tree-sitter-bash binds them differently from Bash.
"""

from typing import TYPE_CHECKING

from sayso.permission.shell.compound import COMPOUND
from sayso.permission.shell.cursor import Cursor
from sayso.permission.shell.heredoc import HereDocument, lift
from sayso.permission.shell.pipeline import Part, split
from sayso.permission.shell.reading import MOST_BYTES, Cwds, Flow, Limit, Reading, Scope, merge
from sayso.permission.shell.scan import NotAWord
from sayso.permission.shell.simple import SIMPLE, read_document, read_redirection, read_simple, salvage
from sayso.permission.shell.tree import parse
from sayso.permission.unit import Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

__all__ = ["Walk", "read_text"]

_TERMINATORS = frozenset({";", "&", "\n"})
_NESTED = frozenset({"command_substitution", "process_substitution"})


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
    root = parse(text, reading.deadline) if len(text) - text.count(b" ") <= MOST_BYTES else None
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
    walk.line_is_over()
    if walk.found != set(documents):
        reading.note("a here-document that is not understood")
    return flow


class Walk(Cursor):
    """Reads the statements of one text."""

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
        super().__init__(data, original, reading, scope, cwds, continued=continued)
        self.documents = documents
        self.found: set[int] = set()

    # -- substitutions -----------------------------------------------------------------------------

    def inside(self, at: int, quoted: bool) -> int:
        """Read the commands of the substitution at this offset; returns the offset after it."""
        if self.nested is None:
            self.nested = self.substitutions()
        node = self.nested.pop(at, None)
        if node is None:
            return self.detached(at, quoted)
        self.substitution(node, at, quoted)
        return node.end_byte

    def substitutions(self) -> "dict[int, Node]":
        """The outermost substitutions of the word, by the offset of their first byte that is no blank."""
        found: dict[int, Node] = {}
        stack = list(self.holders)
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
        saved = self.cwds, self.holders, self.nested, self.words.pwd, self.line_end, self.behind_document
        self.pos, self.line_end, self.behind_document = at + opener, None, False
        self.reading.deeper()
        self.statements(node.children[1:-1])
        self.gap(end - 1, lines=True)
        self.line_is_over()
        self.reading.depth -= 1
        self.cwds, self.holders, self.nested, self.words.pwd, self.line_end, self.behind_document = saved
        self.pos = end

    def detached(self, at: int, quoted: bool) -> int:
        """Read a substitution that has no node: parse from its start, and take the first node."""
        rest = self.data[at:]
        root = parse(rest, self.reading.deadline)
        node = root.descendant_for_byte_range(0, 1) if root is not None else None
        while node is not None and (node.type not in _NESTED or node.start_byte != 0):
            node = node.parent
        if root is None or node is None:
            raise NotAWord("a substitution that is not understood")
        self.reading.spend(root.descendant_count + len(rest) // 256)
        if node.has_error:
            self.reading.note("a substitution that cannot be parsed")
        part = Walk(rest, rest, self.reading, self.scope, self.cwds, {}, continued=self.continued)
        part.words.pwd = self.words.pwd
        part.strict = self.strict and not node.has_error
        part.substitution(node, 0, quoted)
        return at + node.end_byte

    # -- statements ------------------------------------------------------------------------------

    def statements(self, nodes: "Sequence[Node]") -> Flow:
        """Read commands one after another, from where the shell is; `&` runs one aside."""
        flow = Flow(self.cwds, self.cwds)
        separated = first = True
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
                if self.behind_document and not first:
                    # Bash 5.2 prints a `$(...)` anew to run it, and loses a `;` behind a here-document on the way.
                    self.reading.note("commands after a here-document inside a substitution")
                first = False
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
        if node.type in SIMPLE:
            self.gap(node.start_byte, lines=True)
            return self.simple(node, ())
        pipelines = split(node)
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
            or node.type in SIMPLE
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
        self.reading.deeper()
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

    def line_is_over(self) -> None:
        """A here-document whose line did not end has no body."""
        if self.line_end is not None:
            self.reading.note("a here-document that is not understood")

    # -- simple commands ---------------------------------------------------------------------------

    def simple(self, node: "Node | None", redirections: "Sequence[Node]") -> Flow:
        """Read one simple command and its redirections."""
        self.words.pwd = self.cwds[0] if len(self.cwds) == 1 else None
        return read_simple(self, node, redirections)

    def redirection(self, node: "Node", extra: list[Word]) -> None:
        """Read one redirection; words that follow its target are added to `extra`."""
        read_redirection(self, node, extra)

    def document(self, document: HereDocument, word_end: int) -> None:
        """Read the here-document of a redirection that was just passed over."""
        self.found.add(document.operator)
        self.behind_document = None if self.behind_document is None else True
        if word_end != document.word_end or self.line_end not in (None, document.line_end):
            self.reading.note("a here-document that is not understood")
        self.line_end = document.line_end
        if not document.literal:
            body = Walk(self.original, self.original, self.reading, self.scope, self.cwds, {}, continued=self.continued)
            body.words.pwd, body.strict = self.words.pwd, self.strict
            read_document(body, document.body, document.end)

    def script(self, text: bytes, scope: Scope, cwds: Cwds) -> Flow:
        """Read a text that a command of this one runs."""
        return read_text(text, self.reading, scope, cwds)

    # -- what is not understood --------------------------------------------------------------------

    def salvage(self, node: "Node") -> None:
        """Add what can be recognised below a node."""
        salvage(self, node)

    def salvage_nested(self, start: int, end: int) -> None:
        """Add the commands of the substitutions between two offsets that have not been read."""
        nested = self.substitutions() if self.nested is None else self.nested
        strict, self.strict = self.strict, False
        for at in [at for at in nested if start <= at < end]:
            self.substitution(nested.pop(at), at, True)
        self.strict = strict

"""One simple command of the tree: its assignments, words and redirections, in the order of their bytes.

Owns what is a word and what is not, decided by the bytes. What the command does is `command`'s.
"""

import re
from typing import TYPE_CHECKING

from sayso.permission.shell.command import Simple, run
from sayso.permission.shell.pipeline import REDIRECTIONS
from sayso.permission.shell.reading import Flow
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.shell.redirection import OPERATOR, redirect
from sayso.permission.shell.scan import Builder, NotAWord
from sayso.permission.unit import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from sayso.permission.shell.walk import Walk

__all__ = ["SIMPLE", "read_document", "read_redirection", "read_simple", "salvage"]

SIMPLE = frozenset({"command", "declaration_command", "unset_command", "variable_assignment", "variable_assignments"})
# What tree-sitter-bash may call a word, or a part of a command that is one.
WORDS = word_set(
    "ansi_c_string arithmetic_expansion brace_expression command_name command_substitution concatenation expansion "
    "extglob_pattern number process_substitution raw_string regex simple_expansion string test_operator "
    "translated_string variable_assignment variable_name word special_variable_name subscript "
    "export declare typeset readonly local unset unsetenv == =~ = != $ [ ] ! < > -a -o"
)
_INNER = frozenset({"unary_expression", "binary_expression", "parenthesized_expression", "variable_assignments"})
_ASSIGNMENT = re.compile(rb"([A-Za-z_]\w*)(\[[^\]]*\])?(\+?=)")
_DECLARING = word_set("declare typeset local readonly export")
_RESERVED = word_set("! { } [[ ]] case coproc do done elif else esac fi for function if in select then until while")


def read_simple(walk: "Walk", node: "Node | None", redirections: "Sequence[Node]") -> Flow:
    """Read a simple command and what is redirected for it, and let it run."""
    assignments: list[tuple[str, Word]] = []
    argv: list[Word] = []
    pieces = [*(() if node is None else _pieces(node)), *redirections]
    if not pieces:
        return Flow(walk.cwds, walk.cwds)
    test = node is not None and node.type == "test_command"
    redirected = False
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if piece.type in REDIRECTIONS:
            redirected = True
            walk.redirection(piece, argv)
        elif not (piece.type in WORDS or piece.type == "array" or (test and not piece.child_count)):
            _refuse(walk, piece)
        else:
            end = piece.end_byte
            holders = [piece]
            # What touches is one word, however the tree cuts it; so is what has more than blanks between.
            while at < len(pieces) and pieces[at].type not in REDIRECTIONS and _touch(walk, end, pieces[at].start_byte):
                end = pieces[at].end_byte
                holders.append(pieces[at])
                at += 1
            _word(walk, holders, end, assignments, argv)
    source = walk.text(pieces[0].start_byte, pieces[-1].end_byte)
    simple = Simple(tuple(assignments), tuple(argv), source, redirected)
    return run(simple, walk.reading, walk.scope, walk.cwds, walk.script)


def _touch(walk: "Walk", end: int, start: int) -> bool:
    between = walk.data[end:start]
    return not between or bool(between.replace(b"\\\n", b"").strip(b" \t\n"))


def _word(walk: "Walk", holders: "list[Node]", end: int, assignments: list[tuple[str, Word]], argv: list[Word]) -> None:
    """Read a word: an assignment, if no command word stands before it, or else an argument."""
    walk.hold(holders)
    start = _skip(walk.data, holders[0].start_byte, end)
    match = _ASSIGNMENT.match(walk.data, start, end)
    array = next((child for child in holders[0].children if child.type == "array"), None)
    if match is not None and (not argv or (array is not None and argv[0].source in _DECLARING)):
        name, value = _assignment(walk, match, array, end)
        if argv:
            argv.append(Word(None, walk.text(start, end)))
        else:
            assignments.append((name, value))
        return
    argv.append(walk.region(start, end))
    if len(argv) == 1 and argv[0].source in _RESERVED and walk.strict:
        walk.reading.note(f"{argv[0].source!r} where a command is expected is not understood", argv[0].source)


def _refuse(walk: "Walk", piece: "Node") -> None:
    if piece.type == "comment":
        walk.comment(piece)
        return
    source = walk.text(piece.start_byte, piece.end_byte)
    walk.reading.note(f"a {piece.type} inside a command is not understood", source)
    walk.salvage(piece)
    walk.pos = piece.end_byte


def _skip(data: bytes, start: int, end: int) -> int:
    while start < end and data[start] in b" \t\n":
        start += 1
    return start


def _pieces(node: "Node") -> "Iterator[Node]":
    """The words of a command; those of `[ ... ]` lie in a tree of expressions."""
    if node.type == "variable_assignment":
        yield node
        return
    for child in node.children:
        if child.type in _INNER:
            yield from _pieces(child)
        else:
            yield child


def _assignment(walk: "Walk", match: re.Match[bytes], array: "Node | None", end: int) -> tuple[str, Word]:
    """Read `name=value`, `name+=value` or `name=(...)`."""
    walk.gap(match.start())
    name = match[1].decode()
    if match[2] is not None:
        walk.reading.note("an assignment to an element of an array", walk.text(match.start(), end))
    walk.pos = match.end()
    if array is not None:
        _array(walk, array)
        return name, Word(None, walk.text(match.end(), end))
    if match.end() == end:
        return name, Word("", "")
    try:
        value = walk.words.read(match.end(), end)
    except NotAWord as problem:
        walk.reading.note(str(problem), walk.text(match.start(), end))
        value = Word(None, walk.text(match.end(), end))
        walk.salvage_nested(match.end(), end)
    walk.pos = end
    if walk.strict and end < len(walk.data) and walk.data[end] not in b" \t\n;&|<>()`":
        walk.reading.note("a word that goes on", walk.text(match.start(), end))
    return name, value


def _array(walk: "Walk", array: "Node") -> None:
    for child in array.children:
        if child.type in ("(", ")"):
            walk.token(child, lines=True)
        elif child.type == "comment":
            walk.comment(child)
        else:
            if _ASSIGNMENT.match(walk.data, child.start_byte) or walk.data[child.start_byte] == 0x5B:
                walk.reading.note("an array with subscripts", walk.text(child.start_byte, child.end_byte))
            walk.word(child, lines=True)


def read_redirection(walk: "Walk", node: "Node", extra: list[Word]) -> None:
    """Read one redirection; words that the tree put behind its target belong to the command."""
    match = OPERATOR.match(walk.data, node.start_byte, node.end_byte)
    source = walk.text(node.start_byte, node.end_byte)
    walk.gap(node.start_byte)
    if match is None:
        walk.reading.note("a redirection that is not understood", source)
        walk.pos = node.end_byte
        return
    operator = match[1].decode()
    numbered = walk.data[node.start_byte : node.start_byte + 1].isdigit()
    before = walk.data[node.start_byte - 1 : node.start_byte]
    if numbered and node.start_byte and before not in (b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")", b"<", b">"):
        walk.reading.note("a redirection that is not understood", source)
    document = walk.documents.get(match.start(1))
    walk.pos = match.end()
    targets = [child for child in node.children if child.start_byte >= match.end()]
    words = _merged(walk, targets)
    if match[2]:
        extra.extend(word for word, _ in words)
        return
    if not words:
        walk.reading.note("a redirection without a target", source)
        return
    extra.extend(word for word, _ in words[1:])
    if document is not None:
        walk.document(document, words[0][1])
        return
    if not walk.scope.remote:
        redirect(walk.reading, operator, numbered, words[0][0], walk.cwds)


def _merged(walk: "Walk", nodes: "Sequence[Node]") -> list[tuple[Word, int]]:
    """Words, each with the offset at which it ends."""
    words: list[tuple[Word, int]] = []
    at = 0
    while at < len(nodes):
        start, end = nodes[at].start_byte, nodes[at].end_byte
        holders = [nodes[at]]
        at += 1
        while at < len(nodes) and nodes[at].start_byte == end:
            holders.append(nodes[at])
            end = nodes[at].end_byte
            at += 1
        walk.hold(holders)
        words.append((walk.region(start, end), end))
    return words


def read_document(walk: "Walk", start: int, end: int) -> None:
    """The substitutions of an unquoted here-document are run."""
    try:
        walk.words.quoted(start, end, Builder())
    except NotAWord as problem:
        walk.reading.note(str(problem), walk.text(start, end))


def salvage(walk: "Walk", node: "Node") -> None:
    """Units of what can be recognised in a text that is not understood: deny rules shall see them."""
    strict, pos, cwds, line_end = walk.strict, walk.pos, walk.cwds, walk.line_end
    walk.strict, walk.line_end = False, None
    stack = [node]
    while stack:
        found = stack.pop()
        if found.type in SIMPLE:
            walk.pos = found.start_byte
            read_simple(walk, found, ())
        elif found.type in REDIRECTIONS:
            walk.pos = found.start_byte
            walk.redirection(found, [])
        else:
            stack.extend(reversed(found.children))
    walk.strict, walk.pos, walk.cwds, walk.line_end = strict, pos, cwds, line_end

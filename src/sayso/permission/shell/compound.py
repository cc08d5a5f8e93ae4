"""Compound commands: what is read in which order, and where the shell may be on each way through them.

Owns if, for, while, until, select, case, groups, subshells, `[[ ]]`, `(( ))` and function definitions. Each reader
takes the walk at the first byte of its node and leaves it behind the last one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sayso.permission.shell.arithmetic import check
from sayso.permission.shell.reading import NOWHERE, Cwds, Flow, merge
from sayso.permission.shell.scan import CLOSING_BRACE, Builder, NotAWord
from sayso.permission.unit import CommandUnit, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from sayso.permission.shell.walk import Walk

__all__ = ["COMPOUND"]

_CLAUSES = frozenset({"elif_clause", "else_clause"})
_IF_WORDS = frozenset({"if", "then", "elif", "else", "fi"})
_EXPRESSIONS = frozenset(
    {"unary_expression", "binary_expression", "ternary_expression", "parenthesized_expression", "negated_command"}
)
_TEST_TOKENS = frozenset({"&&", "||", "(", ")", "!", "<", ">"})
_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_PATTERNED = frozenset({"=~", "==", "=", "!="})


def _if(walk: "Walk", node: "Node") -> Flow:
    children: list[Node] = []
    for child in node.children:
        children.extend(child.children if child.type in _CLAUSES else [child])
    waiting: Cwds = walk.cwds
    success: list[Cwds] = []
    failure: list[Cwds] = []
    at = 0
    condition = Flow(waiting, waiting)
    while at < len(children):
        keyword = children[at]
        walk.token(keyword, lines=True)
        at += 1
        start = at
        while at < len(children) and children[at].type not in _IF_WORDS:
            at += 1
        body = children[start:at]
        if keyword.type in ("if", "elif"):
            walk.cwds = waiting
            condition = walk.statements(body)
            waiting = condition.failure
        elif keyword.type in ("then", "else"):
            walk.cwds = condition.success if keyword.type == "then" else waiting
            flow = walk.statements(body)
            success.append(flow.success)
            failure.append(flow.failure)
            waiting = () if keyword.type == "else" else waiting
    return Flow(merge(*success, waiting), merge(*failure) or merge(*success, waiting))


def _loop(walk: "Walk", read: "Callable[[], Flow]", start: int) -> Flow:
    """Read a loop; once more from anywhere, if its body moves the shell."""
    entry = walk.cwds
    flow = read()
    after = merge(entry, flow.either)
    if not set(after) <= set(entry) and None not in entry:
        walk.pos = start
        walk.cwds = NOWHERE
        read()
        return Flow(NOWHERE, NOWHERE)
    return Flow(after, after)


def _while(walk: "Walk", node: "Node") -> Flow:
    def read() -> Flow:
        keyword, *condition, body = node.children
        walk.token(keyword, lines=True)
        before = walk.statements(condition)
        walk.cwds = before.success
        flow = _group(walk, body)
        ways = merge(before.failure, flow.either)
        return Flow(ways, ways)

    return _loop(walk, read, node.start_byte)


def _for(walk: "Walk", node: "Node") -> Flow:
    """for and select: the name takes the value of each word."""
    values: list[Word] = []
    name = ""
    body: Node | None = None
    for child in node.children:
        kind = child.type
        if kind in ("for", "select", "in", ";", "\n"):
            walk.token(child, lines=kind == "in")
        elif kind in ("do_group", "compound_statement"):
            body = child
        elif kind == "variable_name" and not name:
            name = walk.word(child).text or ""
        else:
            values.append(walk.word(child))
    if not walk.reading.variables.is_local(name):
        walk.reading.note(f"a loop sets the variable {name}")
    if node.children[0].type == "select" or not values:
        values.append(Word(None, ""))
    for value in values:
        walk.reading.variables.set(name, value)
    return _body(walk, body)


def _body(walk: "Walk", body: "Node | None") -> Flow:
    if body is None:
        walk.reading.note("a loop without a body")
        return Flow(walk.cwds, walk.cwds)
    start = walk.pos

    def read() -> Flow:
        return _group(walk, body)

    return _loop(walk, read, start)


def _counting(walk: "Walk", node: "Node") -> Flow:
    """for (( ; ; ))."""
    body: Node | None = None
    inside = False
    for child in node.children:
        kind = child.type
        if kind in ("((", "))", "for") or (kind == ";" and not inside):
            if kind == "))":
                _arithmetic(walk, node, walk.pos, child.start_byte)
            walk.token(child)
            inside = kind == "((" or (inside and kind != "))")
        elif kind == ";":
            _arithmetic(walk, node, walk.pos, child.start_byte)
            walk.pos = child.end_byte
        elif kind in ("do_group", "compound_statement"):
            body = child
    return _body(walk, body)


def _arithmetic(walk: "Walk", node: "Node", start: int, end: int) -> None:
    walk.hold([node])
    try:
        check(walk.words, start, end)
    except NotAWord as problem:
        walk.reading.note(str(problem), walk.text(start, end))
        walk.salvage_nested(start, end)
    walk.pos = end


def _case(walk: "Walk", node: "Node") -> Flow:
    start = walk.cwds
    after: list[Cwds] = [start]
    entry = start
    for child in node.children:
        if child.type == "case_item":
            walk.cwds = entry
            flow, through = _item(walk, child)
            after.append(flow.either)
            entry = merge(start, flow.either) if through else start
        elif child.type == "comment":
            walk.comment(child)
        elif child.type in ("case", "in", "esac", "\n"):
            walk.token(child, lines=True)
        else:
            walk.word(child)
    ways = merge(*after)
    return Flow(ways, ways)


def _item(walk: "Walk", node: "Node") -> tuple[Flow, bool]:
    """One `pattern) commands ;;`; whether the next one may follow it."""
    children = node.children
    at = 0
    while at < len(children) and children[at].type != ")":
        child = children[at]
        if child.type in ("(", "|"):
            walk.token(child, lines=True)
        elif child.type == "comment":
            walk.comment(child)
        else:
            end = at
            while (
                end + 1 < len(children)
                and children[end + 1].start_byte == children[end].end_byte
                and (children[end + 1].type not in ("|", ")"))
            ):
                end += 1
            walk.hold([node])
            walk.region(child.start_byte, children[end].end_byte, lines=True)
            at = end
        at += 1
    if at >= len(children):
        walk.reading.note("a case without a pattern")
        return Flow(walk.cwds, walk.cwds), True
    walk.token(children[at])
    body = list(children[at + 1 :])
    last = body.pop() if body and body[-1].type in (";;", ";&", ";;&") else None
    flow = walk.statements(body)
    if last is not None:
        walk.token(last, lines=True)
    return flow, last is not None and last.type != ";;"


def _group(walk: "Walk", node: "Node") -> Flow:
    """`{ }`, `do done`, `(( ))`."""
    first, *body, last = node.children
    if first.type == "((":
        walk.token(first)
        _arithmetic(walk, node, walk.pos, last.start_byte)
        walk.token(last)
        return Flow(walk.cwds, walk.cwds)
    walk.token(first, lines=True)
    flow = walk.statements(body)
    walk.token(last, lines=True)
    return flow


def _subshell(walk: "Walk", node: "Node") -> Flow:
    start = walk.cwds
    if walk.data[node.start_byte : node.start_byte + 2] == b"((":
        walk.reading.note("(( that is not arithmetic", walk.text(node.start_byte, node.end_byte))
    _group(walk, node)
    return Flow(start, start)


def _function(walk: "Walk", node: "Node") -> Flow:
    walk.reading.note("a function is defined, and what its name runs is no longer what it seems", _first(walk, node))
    walk.salvage(node)
    walk.pos = node.end_byte
    return Flow(walk.cwds, walk.cwds)


def _first(walk: "Walk", node: "Node") -> str:
    return walk.text(node.start_byte, node.end_byte)


# -- [[ ... ]] ------------------------------------------------------------------------------------------


def _conditional(walk: "Walk", node: "Node") -> Flow:
    """`[[ ]]` compares; numbers are arithmetic, `-v` looks at a name."""
    pieces = list(_pieces(node))
    words: list[tuple[Word, int, int]] = []
    previous = ""
    for at, piece in enumerate(pieces):
        start, end = piece.start_byte, piece.end_byte
        if piece.type in _TEST_TOKENS or piece.type in ("[[", "]]"):
            walk.gap(start, lines=True)
            walk.pos = end
            words.append((Word(piece.type, piece.type), start, end))
        elif previous in _PATTERNED and at:
            words.append((_pattern(walk, node, start, end), start, end))
        elif at and pieces[at - 1].end_byte == start and previous not in _TEST_TOKENS:
            walk.reading.note("a word that goes on", walk.text(start, end))
            walk.pos = end
        else:
            walk.hold([node])
            words.append((walk.region(start, end, lines=True), start, end))
        previous = words[-1][0].source if words else ""
    for at, (word, _, _) in enumerate(words[:-1]):
        if word.source in ("-v", "-R"):
            name = words[at + 1][0].text
            if name is None or not name.isidentifier():
                walk.reading.note("[[ -v ]] of what is no plain name may run a command")
        elif word.source in _NUMERIC and at:
            _number(walk, node, *words[at - 1][1:])
            _number(walk, node, *words[at + 1][1:])
    argv = tuple(word for word, _, _ in words)
    walk.reading.command(
        CommandUnit(
            argv=argv,
            wrapped=walk.scope.wrapped,
            needs_cover=False,
            source=walk.text(node.start_byte, node.end_byte),
        ),
        walk.cwds,
    )
    return Flow(walk.cwds, walk.cwds)


def _pieces(node: "Node") -> "Sequence[Node]":
    found: list[Node] = []
    for child in node.children:
        found.extend(_pieces(child) if child.type in _EXPRESSIONS else [child])
    return found


def _number(walk: "Walk", node: "Node", start: int, end: int) -> None:
    data = walk.data
    while start < end and data[start] in b" \t\n":
        start += 1
    if end - start > 1 and data[start] == data[end - 1] == 0x22:
        start, end = start + 1, end - 1
    pos = walk.pos
    _arithmetic(walk, node, start, end)
    walk.pos = pos


def _pattern(walk: "Walk", node: "Node", start: int, end: int) -> Word:
    """The right side of `==` and `=~`: parentheses and bars belong to it."""
    while start < end and walk.data[start] in b" \t\n":
        start += 1
    walk.gap(start, lines=True)
    walk.hold([node])
    out = Builder()
    at = start
    try:
        while at < end:
            at = walk.words.unquoted(at, end, out, CLOSING_BRACE)
            if at < end:
                out.literal(b"}")
                at += 1
    except NotAWord as problem:
        walk.reading.note(str(problem), walk.text(start, end))
        walk.salvage_nested(start, end)
        out.unknown(single=True)
    walk.pos = end
    return out.word(walk.data[start:end])


COMPOUND: "dict[str, Callable[[Walk, Node], Flow]]" = {
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "c_style_for_statement": _counting,
    "case_statement": _case,
    "compound_statement": _group,
    "subshell": _subshell,
    "test_command": _conditional,
    "function_definition": _function,
}

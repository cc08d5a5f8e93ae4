"""The order in which one statement names its commands, operators and redirections.

tree-sitter-bash binds `a && b > f` as a redirection of the list, and a pipeline into the wrong side of `!`; the
sequence of tokens is right all the same. Owns that flattening; reads no bytes.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["CHAIN", "REDIRECTIONS", "Part", "split"]

CHAIN = frozenset({"pipeline", "list", "redirected_statement", "negated_command"})
REDIRECTIONS = frozenset({"file_redirect", "herestring_redirect"})


@dataclass(slots=True)
class Part:
    """One command of a pipeline with its redirections; marks: the `|`, `!` and comments in front of it."""

    node: "Node | None" = None
    redirections: list["Node"] = field(default_factory=list)
    marks: list["Node"] = field(default_factory=list)


def split(node: "Node") -> "list[tuple[Node | None, list[Part]]]":
    """The pipelines of a statement, each with the `&&` or `||` in front of it (None for the first)."""
    part = Part()
    pipelines: list[tuple[Node | None, list[Part]]] = [(None, [part])]
    for item in _flat(node):
        kind = item.type
        if kind in ("&&", "||"):
            part = Part()
            pipelines.append((item, [part]))
        elif kind in ("|", "|&"):
            part = Part(marks=[item])
            pipelines[-1][1].append(part)
        elif kind in REDIRECTIONS:
            part.redirections.append(item)
        elif kind in ("!", "comment") and part.node is None and not part.redirections:
            part.marks.append(item)
        elif part.node is None and not part.redirections:
            part.node = item
        else:
            # Nothing that Bash would accept: read on its own, so that the reader of it complains.
            part = Part(node=item)
            pipelines[-1][1].append(part)
    return pipelines


def _flat(node: "Node") -> "list[Node]":
    found: list[Node] = []
    stack = [node]
    while stack:
        item = stack.pop()
        if item.type in CHAIN:
            stack.extend(reversed(item.children))
        else:
            found.append(item)
    return found

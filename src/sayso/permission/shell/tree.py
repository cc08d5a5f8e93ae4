"""The parser: one per thread, with a limit on its time.

tree-sitter is loaded on first use. Owns nothing but the call: what a tree means is the walker's.
"""

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["parse"]

# Ambiguous text (`a|a|a|...`) makes a GLR parser slow long before it is large; below this size it takes 10 ms at most.
_SMALL = 512
_BARS = b"|" * 1000

_local = threading.local()


def _parser() -> "Parser":
    parser: Parser | None = getattr(_local, "parser", None)
    if parser is None:
        import tree_sitter
        import tree_sitter_bash

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
        _local.parser = parser
    return parser


def parse(data: bytes, deadline: float) -> "Node | None":
    """The root of the tree of this text, or None if it takes longer than to `deadline`, in `time.thread_time()`."""
    parser = _parser()
    if len(data) <= _SMALL:
        return parser.parse(data).root_node
    if _BARS in data:
        # Skipped in one step of the parser, which takes as long as it takes.
        return None

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + 65536]

    def progress(_offset: int, _has_error: bool) -> bool:
        return time.thread_time() > deadline

    try:
        return parser.parse(read, progress_callback=progress).root_node
    except ValueError:
        # tree-sitter's word for a cancelled parse. Without a reset the next text would continue this one.
        parser.reset()
        return None

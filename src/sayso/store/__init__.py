"""Where logs are kept: `MemoryStore` for one process, `SQLiteStore` for one machine. See `base.Store`.

Light to import: what needs a library is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from sayso.store.base import Closed, Entry, Index, Outcome, Runner, SessionRow, Snapshot, Store, Waiting
from sayso.store.memory import MemoryStore

if TYPE_CHECKING:
    from sayso.store.sqlite import SQLiteStore

__all__ = [
    "Closed",
    "Entry",
    "Index",
    "MemoryStore",
    "Outcome",
    "Runner",
    "SQLiteStore",
    "SessionRow",
    "Snapshot",
    "Store",
    "Waiting",
]


def __getattr__(name: str) -> object:
    if name == "SQLiteStore":
        from sayso.store.sqlite import SQLiteStore

        return SQLiteStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

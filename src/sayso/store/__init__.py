"""Where logs are kept: `MemoryStore` for one process, `SQLiteStore` for one machine, `PostgresStore` for many.

See `base.Store`. `open_store` takes a path or a URL.

Light to import: what needs a library is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from sayso.store.base import Closed, Entry, Index, Outcome, Runner, SessionRow, Snapshot, Store, Waiting
from sayso.store.memory import MemoryStore

if TYPE_CHECKING:
    from sayso.store.postgres import PostgresStore
    from sayso.store.sqlite import SQLiteStore

__all__ = [
    "Closed",
    "Entry",
    "Index",
    "MemoryStore",
    "Outcome",
    "PostgresStore",
    "Runner",
    "SQLiteStore",
    "SessionRow",
    "Snapshot",
    "Store",
    "Waiting",
    "open_store",
]


def open_store(place: str) -> Store:
    """The store at a path, at sqlite:///PATH, or in the database of a postgresql:// URL.

    Raises ValueError for another kind of URL, MissingExtra where the extra `postgres` is needed, StoreError as the
    store does.
    """
    scheme, found, rest = place.partition("://")
    if not found:
        scheme, rest = "sqlite", "/" + place
    if scheme == "sqlite":
        from sayso.store.sqlite import SQLiteStore

        return SQLiteStore(rest.removeprefix("/"))
    if scheme in ("postgresql", "postgres"):
        from sayso.store.postgres import PostgresStore

        return PostgresStore(place)
    raise ValueError(f"a store is a path, sqlite:///PATH or postgresql://..., not {scheme}://...")


def __getattr__(name: str) -> object:
    if name == "SQLiteStore":
        from sayso.store.sqlite import SQLiteStore

        return SQLiteStore
    if name == "PostgresStore":
        from sayso.store.postgres import PostgresStore

        return PostgresStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

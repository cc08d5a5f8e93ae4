"""Small worlds for tests of stores: where a log is kept, and short ways to write to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from postgres import fresh_database
from sayso.store import Entry, Index, MemoryStore, SQLiteStore, Store, Waiting
from sayso.store.postgres import PostgresStore

IDLE = Index(agent="ops", title="", state="idle")
NOON = "2026-12-01T12:00:00.000+00:00"


@dataclass(frozen=True)
class Place:
    """Where one log is kept. `open` gives a store object on it, another one where the adapter can have several."""

    where: str
    open: Callable[[], Store]


def places(adapter: str, directory: Path) -> tuple[str, Callable[[], Store]]:
    if adapter == "memory":
        store = MemoryStore()
        return "", lambda: store
    if adapter == "postgres":
        dsn = fresh_database()
        return dsn, lambda: PostgresStore(dsn)
    path = directory / "log.db"
    return str(path), lambda: SQLiteStore(path)


def request_of(
    session_id: str,
    request_id: str,
    *,
    kind: str = "confirm",
    tool: str = "bash",
    minute: int = 0,
    due: str | None = None,
) -> Waiting:
    return Waiting(
        request_id=request_id,
        session_id=session_id,
        kind=kind,
        tool=tool,
        created_at=f"2026-12-01T12:{minute:02}:00.000+00:00",
        expires_at=due,
        body=b"{}",
    )


async def add(
    store: Store, session_id: str, *facts: bytes, at: int | None = None, time: str = NOON, index: Index = IDLE
) -> tuple[Entry, ...]:
    length = len(await store.read(session_id)) if at is None else at
    return await store.append(session_id, facts, at=length, time=time, index=index)


async def park(store: Store, *requests: Waiting) -> None:
    await add(store, requests[0].session_id, b"asked", index=parked(*requests))


def parked(*requests: Waiting) -> Index:
    return Index(agent="ops", title="", state="parked", waiting=requests)


def ids(requests: Sequence[Waiting]) -> list[str]:
    return [each.request_id for each in requests]

"""The log of a session, as a store keeps it. A store moves bytes: it knows no fact, no machine and no agent.

Every adapter passes the one contract suite in tests/contracts.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ["Closed", "Entry", "Index", "Outcome", "Runner", "SessionRow", "Snapshot", "Store", "Waiting"]


class Entry(NamedTuple):
    """One fact of a session's log. A tuple, because logs hold many and a frozen dataclass takes four times as long.

    seq: 0, 1, 2 ... without gaps. at: ISO 8601 UTC. fact: encoded, one JSON object.
    hash: 32 bytes, sha256 over the previous entry's hash (32 zero bytes before the first), session_id, seq, at
        and fact; so changing, removing or inserting an entry breaks every hash after it.
    """

    session_id: str
    seq: int
    at: str
    fact: bytes
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A request that waits for somebody, as the index keeps it. `body` is for whoever lists requests."""

    request_id: str
    session_id: str
    kind: str
    tool: str
    created_at: str
    expires_at: str | None
    body: bytes


class Outcome(NamedTuple):
    """How a request ended.

    how: `approved`, `refused`, `answered`, `dismissed`, `expired` or `withdrawn`. by, via: who, through which surface.
    """

    request_id: str
    how: str
    by: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A request that waits no more. closed_at: the time of the append that ended it. `body` as while it waited."""

    request_id: str
    session_id: str
    kind: str
    tool: str
    created_at: str
    closed_at: str
    how: str
    by: str
    via: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What of a session the store must be able to find without reading its log; replaces what it said before.

    state: `idle`, `parked` or `working` (something is wanted that a program can do).
    waiting: every request open now.
    outcomes: how requests ended that were open and are no more; one that is not named was `withdrawn`.
    runner: id of the runner that drives it, None if nobody does.
    """

    agent: str
    title: str
    state: str
    waiting: tuple[Waiting, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    runner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as a listing shows it."""

    session_id: str
    agent: str
    title: str
    state: str
    length: int
    created_at: str
    updated_at: str
    runner: str | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A cached fold of the first `length` entries. Rebuildable from the log, never the truth."""

    length: int
    version: int
    body: bytes


class Runner(Protocol):
    """This process's proof of life in a store: a lock that its death releases at once."""

    @property
    def id(self) -> str: ...

    @property
    def alive(self) -> bool:
        """False once the proof is lost (connection gone, lock stolen): start nothing any more."""
        ...


class Store(Protocol):
    """Append-only logs, one per session, and an index kept in the same transaction."""

    async def append(
        self,
        session_id: str,
        facts: Sequence[bytes],
        *,
        at: int,
        time: str,
        index: Index,
        durable: bool = True,
        held: str | None = None,
    ) -> tuple[Entry, ...]:
        """Add all facts or none, and replace the session's index row.

        at: the length the log must have now. Raises `Conflict` where it has another, `StoreError` when it cannot
        be written; either way nothing was, except that after `StoreGone` only the store can say. durable: on disk
        before this returns. held: a runner whose lock must be held as the facts are added, else `LockLost`: others
        may already take it for dead. When it is cancelled it first settles: whether the facts were added is decided
        before CancelledError leaves it.
        """
        ...

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """The entries with seq >= after, at most `limit`; empty for an unknown session."""
        ...

    async def wait(self, session_id: str, *, after: int) -> None:
        """Return once the log has more than `after` entries; woken by the commit of any process, not by polling."""
        ...

    async def snapshot(self, session_id: str) -> Snapshot | None: ...

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None: ...

    async def waiting(
        self,
        *,
        session_id: str | None = None,
        kind: str | None = None,
        tool: str | None = None,
        after: str | None = None,
        limit: int = 50,
        newest_first: bool = False,
    ) -> Sequence[Waiting]:
        """Open requests, oldest first; `after` is the last request_id of the page before."""
        ...

    async def find(self, request_id: str) -> Waiting | None:
        """One open request by its id."""
        ...

    async def closed(
        self,
        *,
        session_id: str | None = None,
        tool: str | None = None,
        how: str | None = None,
        by: str | None = None,
        since: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[Closed]:
        """Requests that wait no more, the one closed last first; `after` is the last request_id of the page before.

        since: closed at that time or later.
        """
        ...

    async def find_closed(self, request_id: str) -> Closed | None:
        """One request that waits no more."""
        ...

    async def due(self, *, before: str, after: Waiting | None = None, limit: int = 100) -> Sequence[Waiting]:
        """Open requests whose `expires_at` is not after `before`, the one due first first.

        after: the last of the page before, whether or not it still waits.
        """
        ...

    async def sessions(
        self, *, state: str | None = None, after: str | None = None, limit: int = 50
    ) -> Sequence[SessionRow]:
        """Sessions, the one changed last first; `after` is the last session_id of the page before."""
        ...

    async def session(self, session_id: str) -> SessionRow | None: ...

    def runner(self) -> AbstractAsyncContextManager[Runner]:
        """Hold a liveness lock while inside."""
        ...

    async def is_alive(self, runner_id: str) -> bool:
        """Whether some process still holds that runner's lock. No clock is asked."""
        ...

    def changes(self) -> AsyncIterator[str]:
        """Ids of sessions as they change, from now on, in this store by any process."""
        ...

    async def close(self) -> None: ...

"""The log in memory: the default of a bare Agent. One process, one thread at a time; it ends with the object.

Nothing here awaits between its check and its change, so the event loop is the only lock it needs.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice

from sayso.ids import new_id
from sayso.store.base import Closed, Entry, Index, Runner, SessionRow, Snapshot, Waiting
from sayso.store.chain import FIRST, link
from sayso.store.outcome import outcomes_of
from sayso.store.refusal import closed, conflict, lock_lost, no_such_page, no_such_snapshot, refuse_strangers
from sayso.store.watch import Watch

__all__ = ["MemoryStore"]


class _Session:
    """One session: its log, what its index says, and the cached fold."""

    __slots__ = ("created_at", "entries", "index", "snapshot", "updated_at")

    def __init__(self, created_at: str, index: Index) -> None:
        self.created_at = created_at
        self.updated_at = created_at
        self.entries: list[Entry] = []
        self.index = index
        self.snapshot: Snapshot | None = None

    def row(self, session_id: str) -> SessionRow:
        return SessionRow(
            session_id=session_id,
            agent=self.index.agent,
            title=self.index.title,
            state=self.index.state,
            length=len(self.entries),
            created_at=self.created_at,
            updated_at=self.updated_at,
            runner=self.index.runner,
        )


class _MemoryRunner:
    """A runner of this process: alive as long as it is inside."""

    def __init__(self, runners: set[str]) -> None:
        self._runners = runners
        self.id = new_id()
        runners.add(self.id)

    @property
    def alive(self) -> bool:
        return self.id in self._runners


class MemoryStore:
    """A `Store` that keeps everything in this object. `durable` promises nothing: it dies with the process."""

    def __init__(self) -> None:
        # Ordered by the last change, so that a listing need not sort.
        self._sessions: dict[str, _Session] = {}
        self._waiting: dict[str, Waiting] = {}
        # Every request ever seen, as (session_id, created_at): a page may follow one that was answered meanwhile.
        self._seen: dict[str, tuple[str, str]] = {}
        self._closed: dict[str, Closed] = {}  # ordered by when they were closed
        self._runners: set[str] = set()
        self._position = 0
        self._watch = Watch()

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
        """See `Store.append`."""
        self._check_open()
        session = self._sessions.get(session_id)
        entries = session.entries if session else []
        if len(entries) != at:
            raise conflict(session_id, length=len(entries), at=at)
        if held is not None and held not in self._runners:
            raise lock_lost(held)
        if index.waiting:
            refuse_strangers(session_id, index, self._owners(index))
        previous = entries[-1].hash if entries else FIRST
        new = []
        for seq, fact in enumerate(facts, at):
            previous = link(previous, session_id, seq, time, fact)
            new.append(Entry(session_id, seq, time, fact, previous))
        old = session.index.waiting if session else ()
        session = self._sessions.pop(session_id, None) or _Session(time, index)
        self._sessions[session_id] = session
        if index.waiting or old:
            self._replace_waiting(old, index, time)
        session.index = index
        session.updated_at = time
        session.entries += new
        self._position += 1
        if self._watch.active:
            self._watch.tell([(session_id, at + len(new), self._position)])
        return tuple(new)

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """See `Store.read`."""
        self._check_open()
        session = self._sessions.get(session_id)
        after = max(after, 0)
        return session.entries[after : None if limit is None else after + max(limit, 0)] if session else []

    async def wait(self, session_id: str, *, after: int) -> None:
        """See `Store.wait`."""
        self._check_open()
        session = self._sessions.get(session_id)
        if session is None or len(session.entries) <= after:
            with self._watch.waiting(session_id, after) as told:
                await told

    async def snapshot(self, session_id: str) -> Snapshot | None:
        """See `Store.snapshot`."""
        self._check_open()
        session = self._sessions.get(session_id)
        return session.snapshot if session else None

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        """See `Store.save_snapshot`. Raises `Refused` where the log is not that long."""
        self._check_open()
        session = self._sessions.get(session_id)
        if session is None or len(session.entries) < snapshot.length:
            raise no_such_snapshot(session_id, snapshot.length)
        session.snapshot = snapshot

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
        """See `Store.waiting`. Raises `Refused` where `after` was never a request."""
        self._check_open()
        found: Iterable[Waiting] = self._waiting.values()
        if session_id is not None:
            found = self._sessions[session_id].index.waiting if session_id in self._sessions else ()
        keyed = [
            ((each.created_at, each.request_id), each)
            for each in found
            if kind in (None, each.kind) and tool in (None, each.tool)
        ]
        if after is not None:
            if after not in self._seen:
                raise no_such_page("request", after)
            last = (self._seen[after][1], after)
            keyed = [pair for pair in keyed if (pair[0] < last if newest_first else pair[0] > last)]
        keyed.sort(key=lambda pair: pair[0], reverse=newest_first)
        return [each for _, each in keyed[: max(limit, 0)]]

    async def find(self, request_id: str) -> Waiting | None:
        """See `Store.find`."""
        self._check_open()
        return self._waiting.get(request_id)

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
        """See `Store.closed`. Raises `Refused` where `after` is no closed request."""
        self._check_open()
        found = [
            each
            for each in self._closed.values()
            if session_id in (None, each.session_id)
            and tool in (None, each.tool)
            and how in (None, each.how)
            and by in (None, each.by)
            and (since is None or each.closed_at >= since)
        ]
        if after is not None:
            if after not in self._closed:
                raise no_such_page("closed request", after)
            last = (self._closed[after].closed_at, after)
            found = [each for each in found if (each.closed_at, each.request_id) < last]
        found.sort(key=lambda each: (each.closed_at, each.request_id), reverse=True)
        return found[: max(limit, 0)]

    async def find_closed(self, request_id: str) -> Closed | None:
        """See `Store.find_closed`."""
        self._check_open()
        return self._closed.get(request_id)

    async def due(self, *, before: str, after: Waiting | None = None, limit: int = 100) -> Sequence[Waiting]:
        """See `Store.due`."""
        self._check_open()
        found = [
            (each.expires_at, each.request_id, each)
            for each in self._waiting.values()
            if each.expires_at is not None and each.expires_at <= before
        ]
        if after is not None:
            found = [item for item in found if item[:2] > (after.expires_at or "", after.request_id)]
        found.sort(key=lambda item: item[:2])
        return [each for _, _, each in found[: max(limit, 0)]]

    async def sessions(
        self, *, state: str | None = None, after: str | None = None, limit: int = 50
    ) -> Sequence[SessionRow]:
        """See `Store.sessions`. Raises `Refused` where there is no session `after`."""
        self._check_open()
        ordered = reversed(self._sessions.items())
        if after is not None:
            if after not in self._sessions:
                raise no_such_page("session", after)
            for session_id, _ in ordered:
                if session_id == after:
                    break
        rows = (each.row(session_id) for session_id, each in ordered if state in (None, each.index.state))
        return list(islice(rows, max(limit, 0)))

    async def session(self, session_id: str) -> SessionRow | None:
        """See `Store.session`."""
        self._check_open()
        session = self._sessions.get(session_id)
        return session.row(session_id) if session else None

    @asynccontextmanager
    async def runner(self) -> AsyncIterator[Runner]:
        """See `Store.runner`."""
        self._check_open()
        runner = _MemoryRunner(self._runners)
        try:
            yield runner
        finally:
            self._runners.discard(runner.id)

    async def is_alive(self, runner_id: str) -> bool:
        """See `Store.is_alive`."""
        return runner_id in self._runners

    def changes(self) -> AsyncIterator[str]:
        """See `Store.changes`; from this call on."""
        self._check_open()
        return self._watch.changes(self._position)

    async def close(self) -> None:
        """End every wait; nothing else may be asked of it after."""
        self._watch.close()

    def _check_open(self) -> None:
        if self._watch.closed:
            raise closed()

    def _owners(self, index: Index) -> Iterable[tuple[str, str]]:
        for request in index.waiting:
            if request.request_id in self._seen:
                yield request.request_id, self._seen[request.request_id][0]

    def _replace_waiting(self, old: Sequence[Waiting], index: Index, time: str) -> None:
        before = {request.request_id: self._waiting.pop(request.request_id) for request in old}
        for request in index.waiting:
            before.pop(request.request_id, None)
            self._closed.pop(request.request_id, None)
            self._waiting[request.request_id] = request
            self._seen[request.request_id] = (request.session_id, request.created_at)
        for request_id, how, by, via in outcomes_of(index, before):
            self._closed[request_id] = _closed(before[request_id], time, how, by, via)


def _closed(request: Waiting, time: str, how: str, by: str, via: str) -> Closed:
    return Closed(
        request_id=request.request_id,
        session_id=request.session_id,
        kind=request.kind,
        tool=request.tool,
        created_at=request.created_at,
        closed_at=time,
        how=how,
        by=by,
        via=via,
        body=request.body,
    )

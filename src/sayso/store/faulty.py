"""A store whose process dies at a chosen append: a public double for tests of what survives a crash.

It wraps any other store. It must not know which one, nor what is appended.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from sayso.store.base import Closed, Entry, Index, Runner, SessionRow, Snapshot, Store, Waiting

__all__ = ["Crash", "CrashingStore"]


class Crash(BaseException):
    """The process died here. No program may catch it, hence not an Exception."""


class _Known(AbstractAsyncContextManager[Runner]):
    """A runner of the inner store whose id is noted, so that it can die with the outer one."""

    def __init__(self, held: AbstractAsyncContextManager[Runner], ids: set[str]) -> None:
        self._held = held
        self._ids = ids

    async def __aenter__(self) -> Runner:
        runner = await self._held.__aenter__()
        self._ids.add(runner.id)
        return runner

    async def __aexit__(self, *exc: Any) -> None:
        await self._held.__aexit__(*exc)


_dead: set[str] = set()  # runners of stores that crashed


class CrashingStore:
    """Raises `Crash` before or after the n-th append of the inner store, and at everything asked of it from then on.

    crash_at: 1 for the first append that is asked of this object, None for never. after: whether that append is
    written first. Continue with another CrashingStore of the same inner store, as a new process would: to that one the
    runners of the dead are dead, though their locks are still held in this process.
    """

    def __init__(self, inner: Store, crash_at: int | None, *, after: bool = False) -> None:
        self.inner = inner
        self.appends = 0
        """Appends asked for so far."""
        self.crashed = False
        self._crash_at = crash_at
        self._after = after
        self._runners: set[str] = set()

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
        """See `Store.append`; this is where it dies."""
        self._check_lives()
        self.appends += 1
        dies = self.appends == self._crash_at
        if dies and not self._after:
            self._die()
        # The others of a dying process do not get their turn while the last append is written.
        self.crashed = dies
        try:
            return await self.inner.append(session_id, facts, at=at, time=time, index=index, durable=durable, held=held)
        finally:
            if dies:
                self._die()

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """See `Store.read`."""
        self._check_lives()
        return await self.inner.read(session_id, after=after, limit=limit)

    async def wait(self, session_id: str, *, after: int) -> None:
        """See `Store.wait`."""
        self._check_lives()
        await self.inner.wait(session_id, after=after)
        self._check_lives()

    async def snapshot(self, session_id: str) -> Snapshot | None:
        """See `Store.snapshot`."""
        self._check_lives()
        return await self.inner.snapshot(session_id)

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        """See `Store.save_snapshot`."""
        self._check_lives()
        await self.inner.save_snapshot(session_id, snapshot)

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
        """See `Store.waiting`."""
        self._check_lives()
        return await self.inner.waiting(
            session_id=session_id, kind=kind, tool=tool, after=after, limit=limit, newest_first=newest_first
        )

    async def find(self, request_id: str) -> Waiting | None:
        """See `Store.find`."""
        self._check_lives()
        return await self.inner.find(request_id)

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
        """See `Store.closed`."""
        self._check_lives()
        return await self.inner.closed(
            session_id=session_id, tool=tool, how=how, by=by, since=since, after=after, limit=limit
        )

    async def find_closed(self, request_id: str) -> Closed | None:
        """See `Store.find_closed`."""
        self._check_lives()
        return await self.inner.find_closed(request_id)

    async def due(self, *, before: str, after: Waiting | None = None, limit: int = 100) -> Sequence[Waiting]:
        """See `Store.due`."""
        self._check_lives()
        return await self.inner.due(before=before, after=after, limit=limit)

    async def sessions(
        self, *, state: str | None = None, after: str | None = None, limit: int = 50
    ) -> Sequence[SessionRow]:
        """See `Store.sessions`."""
        self._check_lives()
        return await self.inner.sessions(state=state, after=after, limit=limit)

    async def session(self, session_id: str) -> SessionRow | None:
        """See `Store.session`."""
        self._check_lives()
        return await self.inner.session(session_id)

    def runner(self) -> AbstractAsyncContextManager[Runner]:
        """See `Store.runner`."""
        self._check_lives()
        return _Known(self.inner.runner(), self._runners)

    async def is_alive(self, runner_id: str) -> bool:
        """See `Store.is_alive`."""
        self._check_lives()
        return runner_id not in _dead and await self.inner.is_alive(runner_id)

    def changes(self) -> AsyncIterator[str]:
        """See `Store.changes`."""
        self._check_lives()
        return self.inner.changes()

    async def close(self) -> None:
        """Close the inner store; a dead process closes nothing."""
        if not self.crashed:
            await self.inner.close()

    def _check_lives(self) -> None:
        if self.crashed:
            raise Crash(f"this process died at append {self._crash_at}")

    def _die(self) -> None:
        self.crashed = True
        _dead.update(self._runners)
        self._check_lives()

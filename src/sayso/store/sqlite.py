"""The log in an SQLite file: the embedded default. Many processes of one machine may open the same file.

Beside it live SQLite's own `-wal` and `-shm`, `<file>-runners/` (the locks of living runners) and `<file>-bells/` (how
processes tell each other of commits). The two directories may be deleted whenever no process has the file open.
"""

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from sayso.errors import StoreError
from sayso.store import sqlite_query
from sayso.store.base import Closed, Entry, Index, Runner, SessionRow, Snapshot, Waiting
from sayso.store.bell import ring
from sayso.store.liveness import hold, is_held
from sayso.store.refusal import closed, lock_lost
from sayso.store.sqlite_file import SQLiteFile
from sayso.store.sqlite_listener import Listener
from sayso.store.sqlite_statement import Append, SaveSnapshot
from sayso.store.sqlite_writer import Writer

__all__ = ["SQLiteStore"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_READERS = 4
"""Threads that read, so that a short question does not wait behind a long one."""


class SQLiteStore:
    """A `Store` in one file, which is created at the first use; its directory must exist.

    path: on a local disk (SQLite's WAL needs shared memory). busy_timeout: seconds to wait while another process
    commits, before `StoreError` says that the file is locked.

    What `append` promises once it returned: the entries are seen by every process and survive the death of this one.
    With durable=True they are on disk, with everything appended before, and survive a power cut too. With
    durable=False they reach the disk with the next durable commit of any session; a power cut before that takes them,
    and whatever came after them, but never an earlier one. All that waits for a commit at one moment shares it.
    After `StoreError` nothing was added, with one exception that no database can spare anybody: where the disk failed
    while it was synced, and this process dies before its next commit, the entries may be found there after all.

    Methods may be called from any event loop. After a fork, a child makes its own store.
    """

    def __init__(self, path: str | os.PathLike[str], *, busy_timeout: float = 5.0) -> None:
        if os.fspath(path) in ("", ":memory:"):
            raise ValueError(f"SQLiteStore needs the path of a file, not {os.fspath(path)!r}; without one: MemoryStore")
        self.path = Path(path).absolute()
        self._runners = self.path.with_name(f"{self.path.name}-runners")
        self._bells = self.path.with_name(f"{self.path.name}-bells")
        self._file = SQLiteFile(str(self.path), busy_timeout)
        self._writer = Writer(self._file, functools.partial(ring, self._bells))
        self._readers = ThreadPoolExecutor(_READERS, "sayso-reader")
        self._listener = Listener(self._file, self._bells)
        self._process: int | None = None
        self._closed = False

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
        """See `Store.append`, and above what it promises."""
        self._check_usable()
        if held is not None and not is_held(self._runners, held):
            raise lock_lost(held)
        statement = Append(session_id=session_id, facts=facts, at=at, time=time, index=index)
        return await self._writer.write(statement, durable=durable)

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """See `Store.read`. Raises `BrokenLog` where an entry is missing."""
        return await self._ask(sqlite_query.read, session_id, after, limit)

    async def wait(self, session_id: str, *, after: int) -> None:
        """See `Store.wait`. Raises `StoreError` if the store cannot be read, or is closed, meanwhile."""
        length, position = await self._ask(sqlite_query.position, session_id)
        if length <= after:
            await self._listener.wait(session_id, after, position)

    async def snapshot(self, session_id: str) -> Snapshot | None:
        """See `Store.snapshot`."""
        return await self._ask(sqlite_query.snapshot, session_id)

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        """See `Store.save_snapshot`; not durable by itself. Raises `Refused` where the log is not that long."""
        self._check_usable()
        await self._writer.write(SaveSnapshot(session_id=session_id, snapshot=snapshot), durable=False)

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
        return await self._ask(
            sqlite_query.waiting,
            session_id=session_id,
            kind=kind,
            tool=tool,
            after=after,
            limit=limit,
            newest_first=newest_first,
        )

    async def find(self, request_id: str) -> Waiting | None:
        """See `Store.find`."""
        return await self._ask(sqlite_query.find, request_id)

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
        return await self._ask(
            sqlite_query.closed,
            session_id=session_id,
            tool=tool,
            how=how,
            by=by,
            since=since,
            after=after,
            limit=limit,
        )

    async def find_closed(self, request_id: str) -> Closed | None:
        """See `Store.find_closed`."""
        return await self._ask(sqlite_query.find_closed, request_id)

    async def due(self, *, before: str, after: Waiting | None = None, limit: int = 100) -> Sequence[Waiting]:
        """See `Store.due`."""
        return await self._ask(sqlite_query.due, before, after, limit)

    async def sessions(
        self, *, state: str | None = None, after: str | None = None, limit: int = 50
    ) -> Sequence[SessionRow]:
        """See `Store.sessions`. Raises `Refused` where there is no session `after`."""
        return await self._ask(sqlite_query.sessions, state, after, limit)

    async def session(self, session_id: str) -> SessionRow | None:
        """See `Store.session`."""
        return await self._ask(sqlite_query.session, session_id)

    @asynccontextmanager
    async def runner(self) -> AsyncIterator[Runner]:
        """See `Store.runner`. Raises `StoreError` where no lock can be had beside the file."""
        self._check_usable()
        with hold(self._runners) as runner:
            yield runner

    async def is_alive(self, runner_id: str) -> bool:
        """See `Store.is_alive`. Raises `StoreError` where it cannot be told."""
        return is_held(self._runners, runner_id)

    def changes(self) -> AsyncIterator[str]:
        """See `Store.changes`; from this call on. It reads one number from the file, in the caller's thread."""
        self._check_usable()
        _, position = self._file.run(sqlite_query.position)
        return self._listener.changes(position)

    async def close(self) -> None:
        """Commit what was accepted, end every wait, close the file. Nothing else may be asked of it after."""
        if not self._closed:
            self._closed = True
            if self._process in (None, os.getpid()):
                await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._listener.close()
        self._readers.shutdown(wait=True)
        self._file.close_idle()

    async def _ask(
        self, question: Callable[Concatenate[apsw.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        self._check_usable()
        call = functools.partial(self._file.run, question, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    def _check_usable(self) -> None:
        if self._closed:
            raise closed()
        if self._process is None:
            self._process = os.getpid()
        elif self._process != os.getpid():
            # Neither threads nor SQLite's locks come along.
            raise StoreError(f"the store of {self.path} was used before a fork; make a new SQLiteStore in the child")

"""The log in a Postgres database: many processes on many machines. Needs the extra `postgres`.

Commits of all processes are numbered in the order in which they happen, under one advisory lock; each process puts
everything that waits for a commit at one moment into one transaction.
"""

import asyncio
import functools
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from sayso.errors import LockLost, MissingExtra, StoreError

try:
    from sayso.store import postgres_query
    from sayso.store.postgres_database import Link, PostgresDatabase
except ImportError as error:
    raise MissingExtra("PostgresStore", "postgres") from error
from sayso.store.base import Closed, Entry, Index, Runner, SessionRow, Snapshot, Waiting
from sayso.store.postgres_listener import PostgresListener
from sayso.store.postgres_runner import PostgresRunner, key_of, take
from sayso.store.postgres_statement import Append, SaveSnapshot
from sayso.store.postgres_writer import PostgresWriter
from sayso.store.refusal import closed

__all__ = ["PostgresStore"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_READERS = 4
"""Threads that read, so that a short question does not wait behind a long one; each has a connection."""


class PostgresStore:
    """A `Store` in one database, whose tables (`sayso_*`) are created at the first use.

    dsn: postgresql://user@host:port/database, or key=value words. It may hold a password, which no error shows.
    timeout: seconds to wait for a connection before `StoreError`.

    Every append is on disk before it returns, whatever `durable` says (unless the server itself is set to
    synchronous_commit = off). While the database is gone each call raises `StoreGone`, and works again once it is
    back; who waits goes on waiting. Where the connection breaks in the middle of a commit, the server is asked what
    became of it; only while it cannot be asked does an append raise `StoreGone` without knowing, and say so.

    Methods may be called from any event loop. After a fork, a child makes its own store.
    """

    def __init__(self, dsn: str, *, timeout: float = 5.0) -> None:
        self.dsn = dsn
        self._database = PostgresDatabase(dsn, timeout, _READERS)
        self._writer = PostgresWriter(self._database)
        self._readers = ThreadPoolExecutor(_READERS, "sayso-reader")
        self._listener = PostgresListener(self._database)
        self._runners: WeakValueDictionary[str, PostgresRunner] = WeakValueDictionary()
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
        del durable  # every commit is on disk before it is told of
        statement = Append(session_id=session_id, facts=facts, at=at, time=time, index=index, held=held)
        try:
            return await self._writer.write(statement)
        except LockLost:
            if (runner := self._runners.get(held or "")) is not None:
                runner.lose()
            raise

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """See `Store.read`. Raises `BrokenLog` where an entry is missing."""
        return await self._ask(postgres_query.read, session_id, after, limit)

    async def wait(self, session_id: str, *, after: int) -> None:
        """See `Store.wait`. Raises `StoreError` if the store cannot be read, or is closed, meanwhile."""
        length, position = await self._ask(postgres_query.position, session_id)
        if length <= after:
            await self._listener.wait(session_id, after, position)

    async def snapshot(self, session_id: str) -> Snapshot | None:
        """See `Store.snapshot`."""
        return await self._ask(postgres_query.snapshot, session_id)

    async def save_snapshot(self, session_id: str, snapshot: Snapshot) -> None:
        """See `Store.save_snapshot`. Raises `Refused` where the log is not that long."""
        self._check_usable()
        await self._writer.write(SaveSnapshot(session_id=session_id, snapshot=snapshot))

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
            postgres_query.waiting,
            session_id=session_id,
            kind=kind,
            tool=tool,
            after=after,
            limit=limit,
            newest_first=newest_first,
        )

    async def find(self, request_id: str) -> Waiting | None:
        """See `Store.find`."""
        return await self._ask(postgres_query.find, request_id)

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
            postgres_query.closed,
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
        return await self._ask(postgres_query.find_closed, request_id)

    async def due(self, *, before: str, after: Waiting | None = None, limit: int = 100) -> Sequence[Waiting]:
        """See `Store.due`."""
        return await self._ask(postgres_query.due, before, after, limit)

    async def sessions(
        self, *, state: str | None = None, after: str | None = None, limit: int = 50
    ) -> Sequence[SessionRow]:
        """See `Store.sessions`. Raises `Refused` where there is no session `after`."""
        return await self._ask(postgres_query.sessions, state, after, limit)

    async def session(self, session_id: str) -> SessionRow | None:
        """See `Store.session`."""
        return await self._ask(postgres_query.session, session_id)

    @asynccontextmanager
    async def runner(self) -> AsyncIterator[Runner]:
        """See `Store.runner`. Raises `StoreError` where no lock can be had."""
        self._check_usable()
        taking = asyncio.ensure_future(asyncio.to_thread(take, self._database))
        try:
            runner = await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(_let_go)  # the lock may be taken a moment later, for nobody
            raise
        self._runners[runner.id] = runner
        try:
            yield runner
        finally:
            await asyncio.shield(asyncio.to_thread(runner.release))

    async def is_alive(self, runner_id: str) -> bool:
        """See `Store.is_alive`. Raises `StoreError` where it cannot be told."""
        return await self._ask(postgres_query.is_held, *key_of(runner_id))

    def changes(self) -> AsyncIterator[str]:
        """See `Store.changes`; from this call on. It reads one number from the database, in the caller's thread."""
        self._check_usable()
        _, position = self._database.run(postgres_query.position)
        return self._listener.changes(position)

    async def close(self) -> None:
        """Commit what was accepted, end every wait, close the connections. Nothing else may be asked of it after."""
        if not self._closed:
            self._closed = True
            if self._process in (None, os.getpid()):
                await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._listener.close()
        self._readers.shutdown(wait=True)
        self._database.close()

    async def _ask(self, question: Callable[Concatenate[Link, _P], _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        self._check_usable()
        call = functools.partial(self._database.run, question, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    def _check_usable(self) -> None:
        if self._closed:
            raise closed()
        if self._process is None:
            self._process = os.getpid()
        elif self._process != os.getpid():
            # Neither threads nor connections come along.
            raise StoreError("this store was used before a fork; make a new PostgresStore in the child")


def _let_go(taking: "asyncio.Future[PostgresRunner]") -> None:
    if not taking.cancelled() and taking.exception() is None:
        threading.Thread(target=taking.result().release, daemon=True).start()

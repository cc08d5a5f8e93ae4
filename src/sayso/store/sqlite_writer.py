"""The one committing writer of a process: everything that waits for a commit at that moment goes into the next one.

It must not know what is written. A group is open for more until the writer gets to it; then it is one transaction.
A member that is refused (checked before it changed anything) does not disturb the others; where SQLite itself fails
in the middle, the group is rolled back and each member is tried alone, so that one cannot spoil it for the rest.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import apsw

from sayso.errors import Conflict, Refused, StoreError
from sayso.store.refusal import closed
from sayso.store.sqlite_file import Link, SQLiteFile
from sayso.store.watch import deliver

__all__ = ["Statement", "Writer"]

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")

_GROUP = 256
"""Members of one commit at most: other processes wait for the lock meanwhile, and memory is bounded."""

_CHECKPOINT = 500
"""Pages of the log file after which a commit also brings them into the database: half of SQLite's default, because that
commit takes as much longer (16 ms became 9 with a million sessions), for a tenth of the rate under full load."""

# What one member can bring about: SQLite's own errors, and values that cannot be bound (a lone surrogate in a text).
_FAILURES = (apsw.Error, ValueError, TypeError, OverflowError)


# Nothing can be written with this connection any more, not even when the reason is gone.
_UNUSABLE = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.CorruptError, apsw.NotADBError)


class Statement(Protocol[_T_co]):
    """Something to write. `write` raises `Conflict`, `Refused` or `StoreError` only before it changed anything."""

    def write(self, connection: apsw.Connection) -> _T_co: ...


class _Member:
    """A statement in a group, and whom to tell how it went."""

    __slots__ = ("durable", "future", "loop", "statement")

    def __init__(self, statement: Statement[Any], durable: bool) -> None:
        self.statement = statement
        self.durable = durable
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()


_Outcome = tuple[_Member, object]
"""A member, and its result or the exception to raise where it waits."""


class Writer:
    """Commits to one file. committed: called in the writer's thread after each commit that changed something."""

    def __init__(self, file: SQLiteFile, committed: Callable[[], None]) -> None:
        self._file = file
        self._committed = committed
        self._thread = ThreadPoolExecutor(1, "sayso-writer")
        self._lock = threading.Lock()
        self._open: list[_Member] = []
        self._closed = False
        self._link: Link | None = None
        self._durable: bool | None = None

    async def write(self, statement: Statement[_T], *, durable: bool) -> _T:
        """Return what the statement returned, once it is committed; raises what it raised, or `StoreError`.

        Cancelled, it leaves only when it is decided whether the statement was committed.
        """
        member = _Member(statement, durable)
        with self._lock:
            if self._closed:
                raise closed()
            if not 0 < len(self._open) < _GROUP:
                self._open = []
                group = self._open
                self._thread.submit(self._commit, group).add_done_callback(partial(self._tell, group))
            self._open.append(member)
        try:
            return cast(_T, await asyncio.shield(member.future))
        except asyncio.CancelledError:
            while not member.future.done():
                # Cancelled once more while it settles: the answer stays the same.
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([member.future])
            member.future.exception()  # seen by nobody, and that is no oversight
            raise

    def close(self) -> None:
        """Return once everything accepted is committed and told. Blocks."""
        with self._lock:
            self._closed = True
        self._thread.shutdown(wait=True)
        self._drop_link()

    def _commit(self, group: list[_Member]) -> list[_Outcome]:
        with self._lock:
            if self._open is group:
                self._open = []
        try:
            return self._transaction(group)
        except apsw.BusyError as error:
            # Each alone would wait as long again, and nothing was written.
            failure = self._file.explain(error)
            return [(member, failure) for member in group]
        except _FAILURES as error:
            if len(group) == 1:
                return [(group[0], self._file.explain(error) if isinstance(error, apsw.Error) else error)]
        return [outcome for member in group for outcome in self._commit([member])]

    def _transaction(self, group: list[_Member]) -> list[_Outcome]:
        connection = self._connection()
        self._set_durable(connection, any(member.durable for member in group))
        try:
            connection.execute("BEGIN IMMEDIATE")
            outcomes = [(member, _outcome(member.statement, connection)) for member in group]
            connection.execute("COMMIT")
        except _UNUSABLE:
            self._drop_link()
            raise
        finally:
            # A connection that could not write or sync is kept: it knows where the failed commit lies in the log file,
            # and writes the next one over it. A new one would find it there complete, and believe it.
            if self._link is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
        return outcomes

    def _connection(self) -> apsw.Connection:
        if self._link is not None and not self._file.is_current(self._link):
            self._drop_link()
        if self._link is None:
            self._link = self._file.open()
            self._link.connection.wal_autocheckpoint(_CHECKPOINT)
        return self._link.connection

    def _drop_link(self) -> None:
        if self._link is not None:
            self._link.connection.close()
        self._link = None
        self._durable = None

    def _set_durable(self, connection: apsw.Connection, durable: bool) -> None:
        if durable is not self._durable:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable

    def _tell(self, group: list[_Member], done: "Future[list[_Outcome]]") -> None:
        error = done.exception()
        outcomes = [(member, error) for member in group] if error is not None else done.result()
        homes = defaultdict(list)
        for member, outcome in outcomes:
            homes[member.loop].append((member.future, outcome))
        for loop, results in homes.items():
            deliver(loop, _settle, results)
        if not all(isinstance(outcome, BaseException) for _, outcome in outcomes):
            self._committed()


def _outcome(statement: Statement[object], connection: apsw.Connection) -> object:
    try:
        return statement.write(connection)
    except (Conflict, Refused, StoreError) as refusal:
        return refusal


def _settle(results: list[tuple["asyncio.Future[object]", object]]) -> None:
    for future, outcome in results:
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

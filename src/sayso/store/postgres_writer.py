"""The one committing writer of a process: everything that waits for a commit at that moment goes into the next one.

It must not know what is written. Every commit is on disk before it is told of; where the connection breaks in the
middle of one, the server is asked what became of it.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import psycopg

from sayso.errors import StoreError, StoreGone
from sayso.store.base import Entry
from sayso.store.postgres_database import Link, PostgresDatabase
from sayso.store.postgres_statement import Statement, write
from sayso.store.refusal import closed

__all__ = ["PostgresWriter"]

_GROUP = 256
"""Members of one commit at most: other processes wait for the lock meanwhile, and memory is bounded."""

# What one member can bring about: the server's own errors, and values that cannot be bound (a lone surrogate).
_FAILURES = (psycopg.Error, ValueError, TypeError, OverflowError)
_Outcome = tuple[Entry, ...] | Exception


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    statement: Statement
    future: "Future[tuple[Entry, ...]]"


class PostgresWriter:
    """Commits to one database, in a thread of its own."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(1, "sayso-writer")
        self._lock = threading.Lock()
        self._queue: list[_Member] = []
        self._closed = False
        self._link: Link | None = None

    async def write(self, statement: Statement) -> tuple[Entry, ...]:
        """The new entries, once they are committed; raises what the statement met, or `StoreError`.

        Cancelled, it leaves only when it is decided whether the statement was committed.
        """
        member = _Member(statement, Future())
        with self._lock:
            if self._closed:
                raise closed()
            self._queue.append(member)
            self._thread.submit(self._commit_next)
        future = asyncio.wrap_future(member.future)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not future.done():
                # Cancelled once more while it settles: the answer stays the same.
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([future])
            future.exception()  # seen by nobody, and that is no oversight
            raise

    def close(self) -> None:
        """Return once everything accepted is committed and told. Blocks."""
        with self._lock:
            self._closed = True
        self._thread.shutdown(wait=True)
        self._drop_link()

    def _commit_next(self) -> None:
        with self._lock:
            group, self._queue = self._queue[:_GROUP], self._queue[_GROUP:]
        if not group:
            return  # an earlier turn took it along
        for member, outcome in zip(group, self._outcomes([each.statement for each in group]), strict=True):
            if isinstance(outcome, Exception):
                member.future.set_exception(outcome)
            else:
                member.future.set_result(outcome)

    def _outcomes(self, statements: Sequence[Statement]) -> Sequence[_Outcome]:
        try:
            return self._transaction(statements)
        except StoreError as error:
            return [error] * len(statements)
        except _FAILURES as error:
            lost = self._link is None or self._link.closed
            if lost:
                self._drop_link()
            if lost or len(statements) == 1:
                told = self._database.explain(error) if isinstance(error, psycopg.Error) else error
                return [told] * len(statements)
        # One of them spoiled it: each is tried alone.
        return [self._outcomes([statement])[0] for statement in statements]

    def _transaction(self, statements: Sequence[Statement]) -> Sequence[_Outcome]:
        kept = self._link is not None and not self._link.closed
        if not kept:
            self._link = self._database.open()
        link, transaction = cast(Link, self._link), ""
        try:
            with link.transaction():
                outcomes, transaction = write(link, statements)
        except psycopg.Error:
            if link.closed and transaction and self._was_committed(transaction):
                return outcomes
            if link.closed and not transaction and kept:
                # The server was gone meanwhile, which only its use could show. Nothing was committed.
                return self._transaction(statements)
            raise
        return outcomes

    def _was_committed(self, transaction: str) -> bool:
        """Whether it was, though its connection was lost. Raises `StoreGone` where nobody can be asked."""
        self._drop_link()
        try:
            self._link = self._database.open()
            found = self._link.execute("SELECT pg_xact_status(%s::xid8)", (transaction,)).fetchone()
        except (psycopg.Error, StoreError):
            found = ("in progress",)
        if found and found[0] in ("committed", "aborted"):
            return bool(found[0] == "committed")
        raise StoreGone(
            f"{self._database.where} was lost in the middle of a commit and cannot say yet what became of it; "
            "read the session again before you go on"
        )

    def _drop_link(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

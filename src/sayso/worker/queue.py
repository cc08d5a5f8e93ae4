"""The queue of sessions to drive, in the database of their store. Owns the names of jobs, queues and locks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Self

from sayso.errors import MissingExtra, StoreGone

try:
    import psycopg
    from procrastinate import App, PsycopgConnector
    from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtra("a queue of sessions", "postgres") from error
from sayso.store.postgres import PostgresStore
from sayso.store.postgres_database import options_of
from sayso.worker.schema import bring_up_to_date

__all__ = ["DRIVE", "SWEEP", "Queue", "queue_of"]

DRIVE, SWEEP = "sayso.drive", "sayso.sweep"
"""Names of jobs."""

# Postgres cuts the names of channels at 63 bytes, and Procrastinate puts 22 before that of a queue.
_LONGEST = 40
_CONNECTIONS = 4
_TIMEOUT = 5.0  # seconds to wait for a connection


def queue_of(agent: str) -> str:
    """The queue of an agent's sessions: only workers that have the agent listen to it."""
    return agent if len(agent.encode()) <= _LONGEST else sha256(agent.encode()).hexdigest()[:_LONGEST]


class Queue:
    """The queue in a store's database, a `Dispatch`. Use it as `async with Queue(store) as queue`.

    Its tables (`procrastinate_*`) are created at the first use. Raises StoreError where they cannot be.
    """

    def __init__(self, store: PostgresStore) -> None:
        self.dsn = store.dsn
        parts = conninfo_to_dict(store.dsn)
        self.where = f"the queue in Postgres at {parts.get('host') or 'local socket'}:{parts.get('port') or '5432'}"
        self.app = App(
            connector=PsycopgConnector(
                conninfo=store.dsn,
                kwargs=options_of(store.dsn, _TIMEOUT),
                min_size=0,
                max_size=_CONNECTIONS,
                timeout=_TIMEOUT,
                reconnect_timeout=_TIMEOUT,  # see PostgresDatabase
            )
        )

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(bring_up_to_date, self.dsn, self.where)
        async with self.talking():
            await self.app.open_async()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.app.close_async()

    async def migrate(self) -> Sequence[str]:
        """Make what later versions of the queue need and older workers could not bear; the names of what was made."""
        return await asyncio.to_thread(bring_up_to_date, self.dsn, self.where, post=True)

    async def drive(self, session_id: str, agent: str) -> None:
        """See `Dispatch.drive`. A session that is in the queue already is not put there again."""
        await self._defer(session_id, agent, session_id)

    async def drive_later(self, session_id: str, agent: str, *, seconds: float, attempt: int) -> None:
        """Have a session driven that could not be now; until then an answer to it is still driven at once."""
        await self._defer(session_id, agent, f"again:{session_id}", seconds=seconds, attempt=attempt)

    async def workers(self) -> int:
        """How many workers have said lately that they are there."""
        question = "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - interval '15 s'"
        async with self.talking():
            return int((await self.app.connector.execute_query_one_async(question))["count"])

    @asynccontextmanager
    async def talking(self) -> AsyncIterator[None]:
        """Inside, the database's errors become `StoreGone`."""
        try:
            yield
        except (ConnectorException, psycopg.Error) as exc:
            raise StoreGone(f"{self.where} cannot be reached ({_first_line(exc)})") from None

    async def _defer(
        self, session_id: str, agent: str, queueing_lock: str, *, seconds: float = 0.0, attempt: int = 0
    ) -> None:
        schedule = {"seconds": seconds} if seconds else None
        job = self.app.configure_task(
            DRIVE, queue=queue_of(agent), lock=session_id, queueing_lock=queueing_lock, schedule_in=schedule
        )
        async with self.talking():
            try:
                await job.defer_async(session_id=session_id, agent=agent, attempt=attempt)
            except AlreadyEnqueued:
                return  # whoever takes that job reads the log after what was written now


def _first_line(exc: BaseException) -> str:
    cause = exc.__cause__ or exc
    return str(cause).strip().split("\n")[0] or type(cause).__name__

"""Live events from the process that drives a session to those in which somebody watches it, by NOTIFY.

They may be lost, and cost a watcher nothing but the sight of words as they come: every finished block is in the log.
Owns how they are gathered, packed and read. What is notified is not kept anywhere.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import msgspec
import psycopg
from pydantic import TypeAdapter, ValidationError

from sayso.event import AgentEvent, EventType
from sayso.host.watch import is_live
from sayso.store.postgres_database import options_of

__all__ = ["Teller", "hearing"]

_CHANNEL = "sayso_live"
# Words are gathered for this long: ten notifications a second, however many sessions speak, and no eye sees the gap.
_GATHERED = 0.1
# Postgres takes less than 8,000 bytes in one notification.
_LARGEST = 7_800
_TIMEOUT = 5.0  # seconds to wait for a connection
_RETURN = 1.0  # seconds between two tries to reach the database again

_Words = tuple[str, str]  # session_id, the event as JSON
_packed = msgspec.json.Decoder(list[_Words])
_event: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent)


class Teller:
    """Tells other processes what is said in the sessions that this one drives. Use it as `async with`."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._gathered: list[tuple[str, AgentEvent]] = []
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Teller":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def tell(self, session_id: str, event: AgentEvent) -> None:
        """Have it told soon; it costs an append to a list."""
        if is_live(event):
            self._gathered.append((session_id, event))
            self._news.set()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(psycopg.Error):
                async with await _connected(self._dsn) as link:
                    # What is lost with the server is of no use after it.
                    await link.execute("SET synchronous_commit = off")
                    await self._follow(link)
            self._gathered.clear()
            await asyncio.sleep(_RETURN)

    async def _follow(self, link: psycopg.AsyncConnection) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(_GATHERED)
            self._news.clear()
            gathered, self._gathered = self._gathered, []
            for payload in _payloads(_joined(gathered)):
                await link.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, payload))


@asynccontextmanager
async def hearing(dsn: str, show: Callable[[str, AgentEvent], None]) -> AsyncIterator[None]:
    """Inside, `show` is called with the live events of the sessions that other processes drive."""
    task = asyncio.create_task(_hear(dsn, show))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _hear(dsn: str, show: Callable[[str, AgentEvent], None]) -> None:
    while True:
        with contextlib.suppress(psycopg.Error):
            async with await _connected(dsn) as link:
                await link.execute(f"LISTEN {_CHANNEL}".encode())
                async for notice in link.notifies():
                    for session_id, event in _unpacked(notice.payload):
                        show(session_id, event)
        await asyncio.sleep(_RETURN)


async def _connected(dsn: str) -> psycopg.AsyncConnection:
    return await psycopg.AsyncConnection.connect(dsn, autocommit=True, **options_of(dsn, _TIMEOUT))


def _joined(gathered: Iterable[tuple[str, AgentEvent]]) -> list[tuple[str, AgentEvent]]:
    """The same, with the pieces of a text that follow one another as one piece."""
    out: list[tuple[str, AgentEvent]] = []
    for session_id, event in gathered:
        last = out[-1] if out else None
        if (
            last is not None
            and last[0] == session_id
            and event.type is last[1].type is EventType.TEXT_BLOCK_DELTA
            and getattr(event, "block_id", None) == getattr(last[1], "block_id", None)
        ):
            words = getattr(last[1], "delta", "") + getattr(event, "delta", "")
            out[-1] = (session_id, last[1].model_copy(update={"delta": words}))
        else:
            out.append((session_id, event))
    return out


def _payloads(events: Iterable[tuple[str, AgentEvent]]) -> Iterable[str]:
    """As few notifications as hold them. An event that is too large for one is left out: it is in the log soon."""
    group: list[_Words] = []
    size = 0
    for session_id, event in events:
        words = event.model_dump_json()
        length = len(msgspec.json.encode((session_id, words))) + 1
        if length > _LARGEST:
            continue
        if size + length > _LARGEST:
            yield msgspec.json.encode(group).decode()
            group, size = [], 0
        group.append((session_id, words))
        size += length
    if group:
        yield msgspec.json.encode(group).decode()


def _unpacked(payload: str) -> Iterable[tuple[str, AgentEvent]]:
    """The events; none where it was written by a version that speaks otherwise."""
    try:
        for session_id, words in _packed.decode(payload):
            yield session_id, _event.validate_json(words)
    except (msgspec.MsgspecError, ValidationError):
        return

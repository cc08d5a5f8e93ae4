"""Watching a session: what is in its log as finished events, then live ones, without a gap and without a repeat."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sayso.event import AgentEvent
from sayso.reply.codec import decode
from sayso.reply.machine import step
from sayso.reply.state import Session
from sayso.reply.watch import events_of, request_events
from sayso.store.base import Store

__all__ = ["Live", "Seen", "watch_session"]

# Deltas that a watcher has not fetched yet. A slow one loses the oldest deltas, never a finished block: those are
# in the log. It costs the agent nothing and the process this many events at most.
_BEHIND = 1_000


@dataclass(frozen=True, slots=True)
class Seen:
    """Events of a session that belong together: those of one entry of its log, or deltas of what is under way.

    seq: how many entries of the log are shown once these are; None for deltas. at: when the entry was written.
    events: none says that all `seq` entries that there are have been shown; what follows has yet to happen.
    """

    session_id: str
    seq: int | None
    events: tuple[AgentEvent, ...]
    at: str = ""


class Live:
    """Deltas of the sessions that this process drives, for whoever watches at this moment."""

    def __init__(self) -> None:
        self._watchers: dict[str, list[tuple[deque[AgentEvent], asyncio.Event]]] = {}

    def sink(self, session_id: str, event: AgentEvent) -> None:
        """Hand one event to the watchers of its session."""
        for events, news in self._watchers.get(session_id, ()):
            events.append(event)
            news.set()

    @contextmanager
    def watching(self, session_id: str) -> Iterator[tuple[deque[AgentEvent], asyncio.Event]]:
        """While inside, the session's live events come into the deque."""
        mine: tuple[deque[AgentEvent], asyncio.Event] = (deque(maxlen=_BEHIND), asyncio.Event())
        self._watchers.setdefault(session_id, []).append(mine)
        try:
            yield mine
        finally:
            watchers = self._watchers[session_id]
            watchers.remove(mine)
            if not watchers:
                del self._watchers[session_id]


_DELTAS = ("TEXT_BLOCK", "THINKING_BLOCK", "TOOL_CALL", "TOOL_RESULT_TEXT", "TOOL_RESULT_DATA")


async def watch_session(store: Store, live: Live, session_id: str, after: int) -> AsyncGenerator[Seen, None]:
    """The events of the log from entry `after` on, for ever; between them the deltas of what is under way.

    Deltas are shown without a seq, and their finished block comes again with one: whoever reconnects from a seq sees
    finished blocks and misses nothing.
    """
    session, length, shown = Session(), 0, -1
    with live.watching(session_id) as (deltas, news):
        while True:
            for entry in await store.read(session_id, after=length):
                fact = decode(entry.fact)
                before, session = session, step(session, fact)
                length = entry.seq + 1
                if length > after:
                    events = (*events_of(before, fact, session, live=False), *_asked(before, session))
                    if events:
                        _forget(deltas, events)
                        yield Seen(session_id, length, events, entry.at)
            if length > shown:
                shown = length
                yield Seen(session_id, length, ())
            if deltas:
                events = tuple(e for e in deltas if e.type.value.startswith(_DELTAS))
                deltas.clear()
                if events:
                    yield Seen(session_id, None, events)
            news.clear()
            await _first(store.wait(session_id, after=length), news.wait())


def _forget(deltas: deque[AgentEvent], finished: tuple[AgentEvent, ...]) -> None:
    """Drop the deltas of what is finished now: shown after it they would be taken for more of it."""
    over = {_block(event) for event in finished} - {None}
    kept = [event for event in deltas if _block(event) not in over]
    deltas.clear()
    deltas.extend(kept)


def _block(event: AgentEvent) -> tuple[bool, str] | None:
    """What a delta is a piece of: a block of words, a call, or a call's result."""
    if not event.type.value.startswith(_DELTAS):
        return None
    key = getattr(event, "block_id", None) or getattr(event, "tool_call_id", None)
    return None if key is None else (event.type.value.startswith("TOOL_RESULT"), key)


def _asked(before: Session, after: Session) -> list[AgentEvent]:
    """The request events of what began to ask with this fact."""
    if after.reply is None or before.reply is None or after.reply.calls is before.reply.calls:
        return []
    was = {c.call.id: c.asked for c in before.reply.calls}
    new = frozenset(c.call.id for c in after.reply.calls if c.asked is not None and was.get(c.call.id) != c.asked)
    return request_events(after, new) if new else []


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Until one of them is through; its error, if it has one."""
    tasks = [asyncio.ensure_future(w) for w in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()

"""Watching a session: what is in its log as finished events, then live ones, without a gap and without a repeat."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sayso.event import AgentEvent
from sayso.reply.codec import decode
from sayso.reply.machine import step
from sayso.reply.state import Session
from sayso.reply.watch import events_of, request_events
from sayso.store.base import Store

__all__ = ["Live", "Seen", "is_live", "watch_session"]

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
    """Deltas of the sessions that are driven, for whoever watches at this moment.

    tell: is called with those of this process, for others.
    """

    def __init__(self) -> None:
        self.tell: Callable[[str, AgentEvent], None] | None = None
        self._watchers: dict[str, list[tuple[deque[AgentEvent], asyncio.Event]]] = {}

    def sink(self, session_id: str, event: AgentEvent) -> None:
        """An event of a session that this process drives."""
        self.show(session_id, event)
        if self.tell is not None:
            self.tell(session_id, event)

    def show(self, session_id: str, event: AgentEvent) -> None:
        """Hand one event to the watchers of its session here."""
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


# Blocks whose end a watcher remembers, so that pieces of them that come late are not shown after it.
_REMEMBERED = 1_000

_DELTAS = ("TEXT_BLOCK", "THINKING_BLOCK", "TOOL_CALL", "TOOL_RESULT_TEXT", "TOOL_RESULT_DATA")


def is_live(event: AgentEvent) -> bool:
    """Whether it is a piece of something under way, to be shown as it comes."""
    return event.type.value.startswith(_DELTAS)


async def watch_session(store: Store, live: Live, session_id: str, after: int) -> AsyncGenerator[Seen, None]:
    """The events of the log from entry `after` on, for ever; between them the deltas of what is under way.

    Deltas are shown without a seq, and their finished block comes again with one: whoever reconnects from a seq sees
    finished blocks and misses nothing.
    """
    session, length, shown = Session(), 0, -1
    over: dict[_Block, None] = {}
    with live.watching(session_id) as (deltas, news):
        while True:
            for entry in await store.read(session_id, after=length):
                fact = decode(entry.fact)
                before, session = session, step(session, fact)
                length = entry.seq + 1
                if length > after:
                    events = (*events_of(before, fact, session, live=False), *_asked(before, session))
                    if events:
                        _remember(over, events)
                        yield Seen(session_id, length, events, entry.at)
            if length > shown:
                shown = length
                yield Seen(session_id, length, ())
            if deltas:
                events = tuple(e for e in deltas if is_live(e) and _block(e) not in over)
                deltas.clear()
                if events:
                    yield Seen(session_id, None, events)
            news.clear()
            await _first(store.wait(session_id, after=length), news.wait())


_Block = tuple[str, bool, str]


def _remember(over: dict[_Block, None], events: tuple[AgentEvent, ...]) -> None:
    """These blocks are finished: pieces of them that come later would be taken for more words."""
    over |= {block: None for event in events if (block := _block(event)) is not None}
    while len(over) > _REMEMBERED:
        del over[next(iter(over))]


def _block(event: AgentEvent) -> _Block | None:
    """What a delta is a piece of: a block of words, a call, or a call's result, of a reply."""
    if not is_live(event):
        return None
    key = getattr(event, "block_id", None) or getattr(event, "tool_call_id", None)
    reply_id = getattr(event, "reply_id", "")
    return None if key is None else (reply_id, event.type.value.startswith("TOOL_RESULT"), key)


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

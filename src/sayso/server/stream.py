"""Server-sent events: what happens, once and in order, to whoever watches. Knows the host and no route.

A message holds the events of one entry of a session's log and has the entry's number as its id, so that a client that
comes back with `Last-Event-ID` misses nothing and sees nothing twice. Deltas come between, without an id. One task per
watched session reads and encodes; a watcher that is too slow for it reads the log again instead of being waited for.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from sayso.event import AgentEvent, TextBlockDeltaEvent, ThinkingBlockDeltaEvent, ToolCallDeltaEvent
from sayso.host import Host, Live, Seen, watch_session
from sayso.store.base import Store

__all__ = ["Streams", "message"]

PING = 15.0
"""Seconds of silence after which a comment is sent, so that proxies keep the connection and a dead one is noticed."""

# Messages that a watcher may be behind before it reads the log itself. They are shared: a watcher costs references.
_BEHIND = 256
_PING = b": ping\n\n"

_events: TypeAdapter[list[AgentEvent]] = TypeAdapter(list[AgentEvent])


def message(kind: str, data: bytes, id: int | None = None) -> bytes:
    """One message of the stream. Lines end with LF alone: some clients take no other."""
    head = f"event: {kind}\n" + (f"id: {id}\n" if id is not None else "")
    return head.encode() + b"data: " + data + b"\n\n"


def encoded(seen: Seen) -> bytes:
    """What a watcher gets of it."""
    if not seen.events:
        return message("caught_up", json.dumps({"session_id": seen.session_id, "seq": seen.seq}).encode(), seen.seq)
    events = seen.events if seen.seq is not None else coalesced(seen.events)
    body = b'{"session_id":' + json.dumps(seen.session_id).encode()
    body += b',"seq":' + json.dumps(seen.seq).encode() + b',"at":' + json.dumps(seen.at).encode()
    body += b',"events":' + _events.dump_json(list(events), exclude_none=True) + b"}"
    return message("events", body, seen.seq)


def coalesced(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Neighbouring deltas of one block as one."""
    out: list[AgentEvent] = []
    for event in events:
        last = out[-1] if out else None
        if last is not None and _same_block(last, event):
            joined = getattr(last, "delta", "") + getattr(event, "delta", "")
            out[-1] = last.model_copy(update={"delta": joined})
        else:
            out.append(event)
    return out


def _same_block(last: AgentEvent, event: AgentEvent) -> bool:
    if isinstance(event, ToolCallDeltaEvent):
        return isinstance(last, ToolCallDeltaEvent) and last.tool_call_id == event.tool_call_id
    if isinstance(event, TextBlockDeltaEvent):
        return isinstance(last, TextBlockDeltaEvent) and last.block_id == event.block_id
    if isinstance(event, ThinkingBlockDeltaEvent):
        return isinstance(last, ThinkingBlockDeltaEvent) and last.block_id == event.block_id
    return False


class _Watcher:
    """One connection. after: what it has been given; behind: it was too slow and must read the log."""

    def __init__(self) -> None:
        self.queue: deque[tuple[int | None, bytes]] = deque()
        self.news = asyncio.Event()
        self.behind = False

    def offer(self, seq: int | None, data: bytes) -> None:
        if len(self.queue) >= _BEHIND:
            self.queue.clear()
            self.behind = True
        if not self.behind:
            self.queue.append((seq, data))
        self.news.set()


class _Channel:
    """One watched session: its task, and who watches."""

    def __init__(self, host: Host, session_id: str) -> None:
        self._host = host
        self._session_id = session_id
        self.watchers: set[_Watcher] = set()
        self.task: asyncio.Task[None] | None = None
        self.problem: BaseException | None = None

    async def run(self, after: int) -> None:
        try:
            async with contextlib.aclosing(self._host.watch(self._session_id, after=after)) as watching:
                async for seen in watching:
                    data = encoded(seen)
                    for watcher in self.watchers:
                        watcher.offer(seen.seq, data)
        except Exception as exc:  # told to every watcher: a stream that ends without a word looks like one that waits
            self.problem = exc
            for watcher in self.watchers:
                watcher.news.set()


class Streams:
    """The streams of a server. `close` ends them all."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._store: Store = host.store
        self._channels: dict[str, _Channel] = {}
        self._changes: set[asyncio.Queue[str]] = set()
        self._changing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def session(self, session_id: str, after: int) -> AsyncGenerator[bytes, None]:
        """The messages of one session, from entry `after` on, until the watcher leaves or the server closes."""
        watcher = _Watcher()
        channel = await self._join(session_id, watcher)
        try:
            watcher.behind = True
            while not self._closing.is_set():
                if watcher.behind:
                    watcher.behind = False
                    watcher.queue.clear()
                    async for seq, data in self._replayed(session_id, after):
                        after = seq
                        yield data
                while watcher.queue and not watcher.behind:
                    seq_or_none, data = watcher.queue.popleft()
                    if seq_or_none is None:
                        yield data
                    elif seq_or_none > after:
                        after = seq_or_none
                        yield data
                if channel.problem is not None:
                    raise channel.problem
                if not watcher.behind and not await self._news(watcher.news):
                    yield _PING
        finally:
            self._leave(session_id, channel, watcher)

    async def _replayed(self, session_id: str, after: int) -> AsyncGenerator[tuple[int, bytes], None]:
        async with contextlib.aclosing(watch_session(self._store, Live(), session_id, after)) as watching:
            async for seen in watching:
                seq = seen.seq if seen.seq is not None else after
                yield max(seq, after), encoded(seen)
                if not seen.events:
                    return

    async def _join(self, session_id: str, watcher: _Watcher) -> _Channel:
        row = await self._store.session(session_id)
        channel = self._channels.get(session_id)
        if channel is None or channel.problem is not None:
            channel = self._channels[session_id] = _Channel(self._host, session_id)
            channel.task = asyncio.create_task(channel.run(row.length if row is not None else 0))
        channel.watchers.add(watcher)
        return channel

    def _leave(self, session_id: str, channel: _Channel, watcher: _Watcher) -> None:
        channel.watchers.discard(watcher)
        if not channel.watchers and channel.task is not None:
            channel.task.cancel()
            if self._channels.get(session_id) is channel:
                del self._channels[session_id]

    async def _news(self, news: asyncio.Event) -> bool:
        """Whether something came before it was time for a ping."""
        news_or_end: Sequence[asyncio.Task[Any]] = [
            asyncio.ensure_future(news.wait()),
            asyncio.ensure_future(self._closing.wait()),
        ]
        try:
            done, _ = await asyncio.wait(news_or_end, timeout=PING, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in news_or_end:
                task.cancel()
        news.clear()
        return bool(done)

    # -- all sessions ----------------------------------------------------------------------------------

    async def everything(self) -> AsyncGenerator[bytes, None]:
        """What changes in all sessions: each change as the session's row and what waits in it.

        The list itself is read by whoever connects (GET /requests, GET /sessions): a stream that was away for a while
        could not tell what it missed.
        """
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._changes.add(queue)
        if self._changing is None:
            self._changing = asyncio.create_task(self._tell_changes())
        yield message("caught_up", b"{}")
        try:
            while not self._closing.is_set():
                ids = await self._changed(queue)
                for session_id in ids:
                    if (data := await self._row(session_id)) is not None:
                        yield message("session", data)
                if not ids:
                    yield _PING
        finally:
            self._changes.discard(queue)

    async def _changed(self, queue: "asyncio.Queue[str]") -> list[str]:
        """The sessions that changed since the last look, each once; none after a while of silence."""
        first = asyncio.ensure_future(queue.get())
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait([first, closing], timeout=PING, return_when=asyncio.FIRST_COMPLETED)
            found = {first.result(): None} if first.done() else {}
        finally:
            first.cancel()
            closing.cancel()
        while not queue.empty():
            found[queue.get_nowait()] = None
        return list(found)

    async def _row(self, session_id: str) -> bytes | None:
        row = await self._store.session(session_id)
        if row is None:
            return None
        waiting = [r.request_id for r in await self._store.waiting(session_id=session_id, limit=100)]
        return json.dumps({**asdict(row), "waiting": waiting}).encode()

    async def _tell_changes(self) -> None:
        async for session_id in self._store.changes():
            for queue in self._changes:
                queue.put_nowait(session_id)

    # -- the end ---------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End every stream, so that a server that stops need not wait for its watchers."""
        self._closing.set()
        tasks = [c.task for c in self._channels.values() if c.task is not None]
        tasks += [self._changing] if self._changing is not None else []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

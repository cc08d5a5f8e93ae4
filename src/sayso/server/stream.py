"""Server-sent events: what happens, once and in order, to whoever watches. Knows the host and no route.

A message holds the events of one entry of a session's log and has the entry's number as its id, so that a client that
comes back with `Last-Event-ID` misses nothing and sees nothing twice. Deltas come between, without an id. One task per
watched session reads and encodes; a watcher that is too slow for it reads the log again instead of being waited for.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable
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
# Bytes of a watched session's past that are kept encoded, so that many who join read and encode it once. Beyond, each
# watcher reads the log for itself.
_PAST = 8 << 20
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
    """One connection. queue: live or not, the entries told by then, the message. behind: it must read the log."""

    def __init__(self) -> None:
        self.queue: deque[tuple[bool, int, bytes]] = deque()
        self.news = asyncio.Event()
        self.behind = False

    def offer(self, live: bool, seq: int, data: bytes) -> None:
        if len(self.queue) >= _BEHIND:
            self.queue.clear()
            self.behind = True
        if not self.behind:
            self.queue.append((live, seq, data))
        self.news.set()


class _Channel:
    """One watched session: its task, who watches, and its past as messages.

    told: entries of the log that the watchers have been offered. base: `past` holds what came after that many.
    """

    def __init__(self, host: Host, session_id: str, length: int) -> None:
        self._host = host
        self._session_id = session_id
        self._filling = asyncio.Lock()
        self._size = 0
        self.told = self.base = length
        self.past: deque[tuple[int, bytes]] = deque()
        self.watchers: set[_Watcher] = set()
        self.task: asyncio.Task[None] | None = None
        self.problem: BaseException | None = None

    async def run(self) -> None:
        try:
            async with contextlib.aclosing(self._host.watch(self._session_id, after=self.told)) as watching:
                async for seen in watching:
                    data = encoded(seen)
                    if seen.seq is not None:
                        self.told = seen.seq
                        if seen.events:
                            self._keep(seen.seq, data)
                    for watcher in self.watchers:
                        watcher.offer(seen.seq is None, self.told, data)
        except Exception as exc:  # told to every watcher: a stream that ends without a word looks like one that waits
            self.problem = exc
            for watcher in self.watchers:
                watcher.news.set()

    def _keep(self, seq: int, data: bytes) -> None:
        self.past.append((seq, data))
        self._size += len(data)
        while self._size > _PAST:
            self.base, dropped = self.past.popleft()
            self._size -= len(dropped)

    async def reaches(self, after: int) -> bool:
        """Whether `past` holds what came after that many entries; if need be it is read, unless it is too much."""
        async with self._filling:
            if after < self.base and self._size < _PAST:
                await self._fill(after)
        return after >= self.base

    async def _fill(self, after: int) -> None:
        """Read the log from `after` on to where `past` begins."""
        earlier, size, base = list[tuple[int, bytes]](), self._size, self.base
        async with contextlib.aclosing(replayed(self._host.store, self._session_id, after)) as replaying:
            async for seen in replaying:
                if seen.seq is None or seen.seq > base or not seen.events:
                    break
                earlier.append((seen.seq, encoded(seen)))
                size += len(earlier[-1][1])
                if size > _PAST:
                    return
        if base == self.base:
            self.past.extendleft(reversed(earlier))
            self.base, self._size = after, self._size + sum(len(data) for _, data in earlier)


async def replayed(store: Store, session_id: str, after: int) -> AsyncGenerator[Seen, None]:
    """What the log has from entry `after` on; the last one says that this was all."""
    async with contextlib.aclosing(watch_session(store, Live(), session_id, after)) as watching:
        async for seen in watching:
            yield seen
            if not seen.events:
                return


class Streams:
    """The streams of a server. `close` ends them all."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._store: Store = host.store
        self._channels: dict[str, _Channel] = {}
        self._closing = asyncio.Event()

    async def session(self, session_id: str, after: int) -> AsyncGenerator[bytes, None]:
        """The messages of one session, from entry `after` on, until the watcher leaves or the server closes."""
        row = await self._store.session(session_id)
        length = row.length if row is not None else 0
        after = min(after, length)  # an id of a log that was put back from a copy must not hide what comes
        watcher = _Watcher()
        channel = self._join(session_id, watcher, length)
        try:
            watcher.behind = True
            while not self._closing.is_set():
                if watcher.behind:
                    watcher.behind = False
                    watcher.queue.clear()
                    async for seq, data in self._past(channel, session_id, after):
                        after = max(seq, after)
                        yield data
                while watcher.queue and not watcher.behind:
                    live, seq, data = watcher.queue.popleft()
                    # Deltas from before what this watcher has read in the log are of blocks that it has whole.
                    if seq > after or (live and seq == after):
                        after = seq
                        yield data
                if channel.problem is not None:
                    raise channel.problem
                if not watcher.behind and not await self._news(watcher.news):
                    yield _PING
        finally:
            self._leave(session_id, channel, watcher)

    async def _past(self, channel: _Channel, session_id: str, after: int) -> AsyncGenerator[tuple[int, bytes], None]:
        """The messages from entry `after` on, then that this was all."""
        if await channel.reaches(after):
            told, past = max(channel.told, after), [message for message in channel.past if message[0] > after]
            for seq, data in past:
                yield seq, data
            yield told, encoded(Seen(session_id, told, ()))
            return
        async with contextlib.aclosing(replayed(self._store, session_id, after)) as replaying:
            async for seen in replaying:
                yield seen.seq or after, encoded(seen)

    def _join(self, session_id: str, watcher: _Watcher, length: int) -> _Channel:
        channel = self._channels.get(session_id)
        if channel is None or channel.problem is not None:
            channel = self._channels[session_id] = _Channel(self._host, session_id, length)
            channel.task = asyncio.create_task(channel.run())
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
        try:
            async with asyncio.timeout(PING):
                await news.wait()
        except TimeoutError:
            return False
        news.clear()
        return True

    # -- all sessions ----------------------------------------------------------------------------------

    async def everything(self) -> AsyncGenerator[bytes, None]:
        """What changes in all sessions: each change as the session's row and what waits in it.

        The list itself is read by whoever connects (GET /requests, GET /sessions): a stream that was away for a while
        could not tell what it missed. A session that changes again before a slow reader was told of it is told once.
        Raises StoreError where the changes cannot be read: a stream that only pings would look like one that waits.
        """
        changes = self._store.changes()  # from here on, so that what changes while the client reads its lists is told
        yield message("caught_up", b"{}")
        ends = asyncio.ensure_future(self._closing.wait())
        change = asyncio.ensure_future(anext(changes, None))
        try:
            while not ends.done():
                waits: tuple[asyncio.Future[Any], ...] = (change, ends)
                done, _ = await asyncio.wait(waits, timeout=PING, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    yield _PING
                elif change.done():
                    if (session_id := change.result()) is None:  # the store is closed
                        return
                    change = asyncio.ensure_future(anext(changes, None))
                    if (data := await self._row(session_id)) is not None:
                        yield message("session", data)
        finally:
            change.cancel()
            ends.cancel()

    async def _row(self, session_id: str) -> bytes | None:
        row = await self._store.session(session_id)
        if row is None:
            return None
        waiting = [r.request_id for r in await self._store.waiting(session_id=session_id, limit=100)]
        return json.dumps({**asdict(row), "waiting": waiting}).encode()

    # -- the end ---------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End every stream, so that a server that stops need not wait for its watchers."""
        self._closing.set()
        for channel in self._channels.values():
            for watcher in channel.watchers:
                watcher.news.set()
        tasks = [c.task for c in self._channels.values() if c.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

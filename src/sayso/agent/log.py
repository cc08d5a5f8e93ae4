"""One session's log in hand: its fold, what is not written yet, and the fence that lets one runner move it.

Facts are accepted into the fold first and written together: before a tool starts, when a reply parks or ends, and
soon after something happened that a crash should not forget. Knows the store's protocol and the machine; no model,
no tool.
"""

import asyncio
import contextlib
import time
from typing import NamedTuple

from sayso import telemetry
from sayso.agent.folds import folds_of
from sayso.agent.index import index_of, outcome_of
from sayso.errors import Conflict, LockLost, Refused, StoreError, StoreGone
from sayso.ids import now
from sayso.reply.codec import decode, decode_session, encode_session, written
from sayso.reply.fact import Fact, OutsideReturned, SessionOpened, ToolReturned
from sayso.reply.machine import replay, step
from sayso.reply.state import Session
from sayso.store.base import Outcome, Snapshot, Store

__all__ = ["SessionLog"]

# A result that a tool brought back waits this long for the model's next words before it is written on its own:
# a fast model saves the commit, a slow one cannot make a crash forget that the tool returned. Seconds.
_GRACE = 0.05
# While the store is gone, a result or a start waits this long for it, trying again after these. Seconds. Long enough
# for a database to restart or fail over; after it the call is in doubt, as after a crash.
_OUTAGE, _RETRY = 30.0, (0.05, 2.0)
# A snapshot is written when the log has grown by this factor since the last, and by this many entries: all
# snapshots together then cost a constant number of bytes per entry.
_SNAPSHOT_GROWTH, _SNAPSHOT_LEAST = 2.0, 256
_SNAPSHOT_VERSION = 1


class _Fresh(NamedTuple):
    """A fact that is accepted and not written yet, and its bytes.

    outcome: how the request ended that it answers. note: what to tell of it once it is written.
    """

    fact: Fact
    data: bytes
    outcome: Outcome | None
    note: telemetry.Note | None


class SessionLog:
    """The log of session `session_id` in `store`.

    session: the fold of all accepted facts. length: how many of them are written.
    """

    def __init__(self, store: Store, session_id: str, opening: SessionOpened) -> None:
        self.store = store
        self.session_id = session_id
        self.session = step(Session(), opening)  # what it will be if the store has nothing
        self.length = 0
        self.fold = folds_of(store).of(session_id)
        self.runner_id: str | None = None  # who drives the session here, once that is known
        self._opening = opening
        self._fresh: list[_Fresh] = []
        self._writing = asyncio.Lock()
        self._flush: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._unsure = False  # a write was cancelled: whether it was made, only the store can say

    @property
    def is_written(self) -> bool:
        """Whether the store has all that was accepted."""
        return not self._fresh

    async def refresh(self) -> None:
        """Bring the fold up to what the store has; open the session if it has nothing."""
        fold = self.fold
        if fold.length == 0:
            await self._load_snapshot()
        entries = await self.store.read(self.session_id, after=fold.length)
        if entries:
            session = replay((decode(e.fact) for e in entries), fold.session)
            if fold.length == entries[0].seq:  # nobody brought it up to date meanwhile
                fold.session, fold.length = session, fold.length + len(entries)
        self._fresh.clear()
        self.session, self.length = fold.session, fold.length
        if self.length == 0:
            self.session = Session()
            self.accept(self._opening)

    async def _load_snapshot(self) -> None:
        cached = await self.store.snapshot(self.session_id)
        if cached is not None and cached.version == _SNAPSHOT_VERSION and self.fold.length == 0:
            self.fold.session = decode_session(cached.body)
            self.fold.length = self.fold.snapshot_at = cached.length

    def accept(self, fact: Fact) -> tuple[Session, Fact, Session]:
        """Take one fact into the fold, or raise a `Refused` and change nothing.

        Returns the fold before, the fact as it will be written, and the fold after.
        """
        before = self.session
        fact, data = written(fact)
        self.session = step(before, fact)
        outcome, note = outcome_of(before, fact, self.session), telemetry.note(before, fact, self.session)
        self._fresh.append(_Fresh(fact, data, outcome, note))
        return before, fact, self.session

    def accept_all(self, facts: list[Fact]) -> None:
        """Take all of them or, if one is refused, none."""
        before, kept = self.session, len(self._fresh)
        try:
            for fact in facts:
                self.accept(fact)
        except Refused:
            self.session = before
            del self._fresh[kept:]
            raise

    async def commit(self, *, durable: bool = True, held: str | None = None) -> None:
        """Write what is not written. Raises Conflict if another runner moved the session; then nothing was.

        held: the runner under which a tool is about to start, see `Store.append`. What a tool or an outside system
        brought back is never dropped by a conflict or a lost lock: it is written on top of what the other runner did,
        and the session goes on from there. While the store is gone, what was done or is about to be done waits for it.
        """
        self._unschedule()
        async with self._writing:
            until, pause = time.monotonic() + _OUTAGE, _RETRY[0]
            lost: LockLost | None = None
            while self._fresh:
                try:
                    await self._write(durable, held)
                except Conflict:
                    if not self._fresh:
                        raise
                    durable, held = True, None
                except LockLost as exc:
                    lost, durable, held = exc, True, None
                except StoreGone:
                    if (held is None and not self._brought()) or time.monotonic() > until:
                        raise
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _RETRY[1])
            if lost is not None:
                raise lost

    async def catch_up(self) -> bool:
        """Take in what other processes wrote meanwhile; False if there is nothing, or if the next commit will meet it.

        Whatever is accepted and not written may not fit what they wrote: only results go on top of it.
        """
        async with self._writing:
            if self._unsure or len(self._brought()) != len(self._fresh):
                return False
            if not await self.store.read(self.session_id, after=self.length, limit=1):
                return False
            await self._put_on_top()
            return True

    async def _write(self, durable: bool, held: str | None) -> None:
        """One attempt. Raises Conflict or LockLost with nothing left unwritten but what was brought back."""
        if self._unsure:
            await self._reconcile()
        try:
            if self._fresh:
                await self._append(durable, held)
        except (Conflict, LockLost) as refused:
            if isinstance(refused, Conflict) and await self._reconcile():
                return  # what stood in the way was an attempt of ours whose outcome was not known
            await self._put_on_top()
            raise

    async def _append(self, durable: bool, held: str | None) -> None:
        fresh = tuple(self._fresh)
        outcomes = tuple(each.outcome for each in fresh if each.outcome is not None)
        try:
            await self.store.append(
                self.session_id,
                [each.data for each in fresh],
                at=self.length,
                time=now(),
                index=index_of(self.session, self.runner_id, outcomes),
                durable=durable,
                held=held,
            )
        except (asyncio.CancelledError, StoreGone):
            self._unsure = True
            raise
        for each in fresh:
            if each.note is not None:
                each.note()
        self.length += len(fresh)
        del self._fresh[: len(fresh)]
        if not self._fresh and self.fold.length < self.length:
            self.fold.session, self.fold.length = self.session, self.length
        if self.length >= self.fold.snapshot_at * _SNAPSHOT_GROWTH + _SNAPSHOT_LEAST and not self._fresh:
            body = encode_session(self.session)
            await self.store.save_snapshot(self.session_id, Snapshot(self.length, _SNAPSHOT_VERSION, body))
            self.fold.snapshot_at = self.length

    def _brought(self) -> list[Fact]:
        """What is not written of what tools and outside systems brought back."""
        return [each.fact for each in self._fresh if isinstance(each.fact, ToolReturned | OutsideReturned)]

    async def _put_on_top(self) -> None:
        """Read the session again and accept what was brought back on top; the rest that is not written is dropped."""
        brought = self._brought()
        await self.refresh()
        for fact in brought:
            with contextlib.suppress(Refused):  # the call has its result already: the other runner closed it
                self.accept(fact)

    async def _reconcile(self) -> int:
        """How many of the unwritten facts the store has after all, which then count as written.

        After a write that was cancelled or cut off. A store settles a write before it lets go of it.
        """
        found = 0
        for entry in await self.store.read(self.session_id, after=self.length):
            if found == len(self._fresh) or self._fresh[found].data != entry.fact:
                break
            found += 1
        self.length += found
        del self._fresh[:found]
        self._unsure = False
        return found

    # -- writing soon ------------------------------------------------------------------------------

    def commit_soon(self) -> None:
        """Write what is not written within the grace, unless a commit comes first."""
        if self._fresh and self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(_GRACE, self._start_flush)

    def _unschedule(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None

    def _start_flush(self) -> None:
        self._flush = None
        self._flushing = asyncio.create_task(self._flush_now())

    async def _flush_now(self) -> None:
        # A failure here leaves the facts unwritten; the next commit meets it again and raises it to the caller.
        with contextlib.suppress(Conflict, StoreError):
            await self.commit(durable=False)

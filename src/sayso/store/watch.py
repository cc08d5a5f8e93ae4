"""Who waits for a log to grow, in this process. Owns the waiting; whoever learns of a commit tells it.

It must not know how a store learns of commits. Threads and event loops may differ between the one that waits and the
one that tells: a waiter is woken in its own loop. What waits costs one future, what is parked costs nothing.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from weakref import WeakSet

from sayso.errors import StoreError
from sayso.store.refusal import closed

__all__ = ["Changes", "Watch", "deliver"]

_T = TypeVar("_T")


def deliver(loop: asyncio.AbstractEventLoop, call: Callable[[_T], object], argument: _T) -> None:
    """Call it in that loop, from any thread; nothing where the loop is closed, for nobody is left to be told."""
    try:
        loop.call_soon_threadsafe(call, argument)
    except RuntimeError:
        if not loop.is_closed():
            raise


class _Wait:
    """One waiter: the length its session must pass, and the future to resolve in its loop."""

    __slots__ = ("after", "future", "loop")

    def __init__(self, after: int) -> None:
        self.after = after
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()

    def end(self, error: StoreError | None = None) -> None:
        deliver(self.loop, self._end, error)

    def _end(self, error: StoreError | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)


class Changes:
    """Ids of sessions as they change. One that changes again before it was read is told once.

    Ends when the store is closed; raises `StoreError` where the store cannot be read, and may be asked again.
    """

    def __init__(self, watch: "Watch", position: int) -> None:
        self._watch = watch
        self._position = position
        self._pending: dict[str, None] = {}
        self._error: StoreError | None = None
        self._asleep: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def __aiter__(self) -> "Changes":
        return self

    async def __anext__(self) -> str:
        while True:
            with self._watch.lock:
                if self._pending:
                    session_id = next(iter(self._pending))
                    del self._pending[session_id]
                    return session_id
                if self._error is not None:
                    error, self._error = self._error, None
                    raise error
                if self._watch.closed:
                    raise StopAsyncIteration
                event = asyncio.Event()
                self._asleep = (asyncio.get_running_loop(), event)
            await event.wait()

    def add(self, session_id: str, position: int) -> None:
        """A commit. Called with the watch's lock held, as the other two."""
        if position > self._position:
            self._pending[session_id] = None
            self.wake()

    def fail(self, error: StoreError) -> None:
        """The store cannot be read."""
        self._error = error
        self.wake()

    def wake(self) -> None:
        """Look again."""
        if self._asleep is not None:
            loop, event = self._asleep
            self._asleep = None
            deliver(loop, lambda _: event.set(), None)


class Watch:
    """The waiters of one store object. Every method may be called from any thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._waits: dict[str, list[_Wait]] = {}
        # A reader that goes away without a word must not be kept, nor collect changes for ever.
        self._changes: WeakSet[Changes] = WeakSet()

    @property
    def active(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waits) or len(self._changes) > 0

    def changes(self, position: int) -> Changes:
        """Changes with a greater position than this."""
        changes = Changes(self, position)
        with self.lock:
            self._changes.add(changes)
        return changes

    @contextmanager
    def waiting(self, session_id: str, after: int) -> Iterator[asyncio.Future[None]]:
        """A future, resolved once a commit to that session makes it longer than `after`.

        It raises `StoreError` if the store fails or is closed meanwhile.
        """
        wait = _Wait(after)
        with self.lock:
            if self.closed:
                raise closed()
            self._waits.setdefault(session_id, []).append(wait)
        try:
            yield wait.future
        finally:
            with self.lock:
                self._waits[session_id].remove(wait)
                if not self._waits[session_id]:
                    del self._waits[session_id]

    def tell(self, commits: Iterable[tuple[str, int, int]]) -> None:
        """Commits, as session_id, its length now, and the position of the change (greater for later ones)."""
        with self.lock:
            changes = list(self._changes)
            for session_id, length, position in commits:
                for wait in self._waits.get(session_id, ()):
                    if length > wait.after:
                        wait.end()
                for each in changes:
                    each.add(session_id, position)

    def fail(self, error: StoreError) -> None:
        """The store cannot be read: everybody who waits is told."""
        with self.lock:
            self._end_waits(error)
            for changes in self._changes:
                changes.fail(error)

    def close(self) -> None:
        """Nothing will be told any more."""
        with self.lock:
            self.closed = True
            self._end_waits(closed())
            for changes in self._changes:
                changes.wake()

    def _end_waits(self, error: StoreError) -> None:
        for waits in self._waits.values():
            for wait in waits:
                wait.end(error)

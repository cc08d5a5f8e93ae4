"""What other processes write to a session while a run drives it here: answers, interrupts, changes of its rules.

Owns when the run takes them in. It must not know who wrote, nor decide anything: the fence of the log does.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from sayso.agent.log import SessionLog
from sayso.errors import StoreError

__all__ = ["Listening"]

# Most rounds are over by then, and cost nothing more for it. Seconds.
_AFTER = 0.25


class Listening:
    """Listens while inside `listening`, once that lasts longer than a moment.

    moved: called after facts of others were taken in. ended: called instead where the reply under way is over by them.
    """

    def __init__(self, log: SessionLog, *, moved: Callable[[], None], ended: Callable[[], None]) -> None:
        self._log = log
        self._moved = moved
        self._ended = ended

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """While inside, what others write is taken in."""
        task: asyncio.Task[None] | None = None

        def begin() -> None:
            nonlocal task
            task = asyncio.create_task(self._listen())

        timer = asyncio.get_running_loop().call_later(_AFTER, begin)
        try:
            yield
        finally:
            timer.cancel()
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    async def _listen(self) -> None:
        log, heard = self._log, 0
        # A store that cannot be read now is met by the run's next commit, which says so.
        with contextlib.suppress(StoreError):
            while True:
                heard = max(heard, log.length)
                await log.store.wait(log.session_id, after=heard)
                row = await log.store.session(log.session_id)
                heard = max(heard, row.length if row is not None else 0)
                reply_id = self._reply_id()
                if heard > log.length and await log.catch_up():
                    if self._reply_id() != reply_id:
                        self._ended()
                        return
                    self._moved()

    def _reply_id(self) -> str | None:
        reply = self._log.session.reply
        return reply.id if reply is not None and reply.ended is None else None

"""Watching a session: no delta is shown after the block that it is a piece of."""

import asyncio
import contextlib
from collections.abc import Sequence

from hosting import says
from sayso.event import TextBlockDeltaEvent
from sayso.host import Host, Live, watch_session
from sayso.store import MemoryStore
from sayso.store.base import Entry


class Busy(MemoryStore):
    """A store in which a block is begun, finished and written while a read of the log is under way."""

    def __init__(self, live: Live) -> None:
        super().__init__()
        self.live = live
        self.begun = asyncio.Event()
        self.reply_id = ""

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        if self.begun.is_set():
            self.begun.clear()
            for block, words in (("t", "of what is in the log by now"), ("u", "of what comes next")):
                self.live.sink(session_id, TextBlockDeltaEvent(reply_id=self.reply_id, block_id=block, delta=words))
        return await super().read(session_id, after=after, limit=limit)


def test_a_delta_that_nobody_fetched_before_its_block_was_finished_is_not_shown_after_it() -> None:
    async def world() -> None:
        live = Live()
        store = Busy(live)
        async with Host(store, {"ops": says("whole")}) as host:
            session_id = await host.submit(None, "go")
            await host.settled()
            store.reply_id = (await host.session(session_id)).context[-1].id
        store.begun.set()
        finished, deltas = list[str](), list[str]()
        async with contextlib.aclosing(watch_session(store, live, session_id, 0)) as watching:
            async for seen in watching:
                words = [e.delta for e in seen.events if isinstance(e, TextBlockDeltaEvent)]
                if seen.seq is None:
                    deltas += words
                    break
                finished += words
        assert (finished, deltas) == (["whole"], ["of what comes next"])

    asyncio.run(world())

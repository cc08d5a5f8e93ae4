"""A session of a server as the chat sees it: it knows when there is nothing more to come."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sayso.cli.remote import RemoteAgent
from sayso.client import Client
from sayso.event import AgentEvent, ReplyEndEvent
from sayso.host import Seen
from sayso.message import ReplyFinishedReason
from sayso.state import AgentState

END = ReplyEndEvent(session_id="s", reply_id="r", finished_reason=ReplyFinishedReason.COMPLETED)


class Told(Client):
    """A server whose log has `length` entries and that tells what it is given, then is silent for ever."""

    def __init__(self, *told: Seen, length: int) -> None:
        super().__init__("http://127.0.0.1:9", "token")
        self.told = told
        self.length = length

    async def watch(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Seen, None]:
        for seen in self.told:
            yield seen
        await asyncio.Event().wait()

    async def row(self, session_id: str) -> dict[str, Any]:
        return {"state": "idle", "length": self.length}

    async def session(self, session_id: str) -> AgentState:
        return AgentState()

    async def pending(self, **filters: Any) -> list[Any]:
        return []


@pytest.mark.parametrize(
    "told",
    [
        [Seen("s", 1, ()), Seen("s", 2, (END,))],  # that all was shown is said once, before the end came
        [Seen("s", 2, (END,)), Seen("s", 2, ())],
        [Seen("s", 1, (END,)), Seen("s", 2, ())],  # the last entry has nothing to show
    ],
)
def test_the_reply_is_over_with_the_last_entry_whether_or_not_the_server_says_once_more_that_this_was_all(
    told: list[Seen],
) -> None:
    async def world() -> list[AgentEvent]:
        async with Told(*told, length=2) as server, asyncio.timeout(10):
            return [event async for event in RemoteAgent(server, "s").reply_stream(None)]

    assert asyncio.run(world()) == [END]

"""A conversation on a server, with the methods of `Agent` that the chat uses. Knows the client and no store."""

from collections.abc import AsyncIterator

from sayso.agent.agent import Inputs
from sayso.cli.party import Ended
from sayso.client import Client
from sayso.event import (
    AgentEvent,
    ExternalExecutionResultEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from sayso.host import Seen
from sayso.permission.rule import PermissionRule
from sayso.request import Request
from sayso.state import AgentState

__all__ = ["RemoteAgent"]

_BLOCKS = (
    TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent,
    ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
)  # fmt: skip


class RemoteAgent:
    """The session `session_id` behind `client`; a new one where it is empty, begun by the first message."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self.session_id = session_id
        self.length = 0
        self.state = AgentState()
        self._waiting: list[Request] = []

    async def load(self) -> None:
        """Read the session and what waits in it."""
        if self.session_id:
            self.state = await self._client.session(self.session_id)
            self._waiting = await self._client.pending(session_id=self.session_id, limit=1000)

    def requests(self) -> list[Request]:
        """What waits for somebody, as of the last look."""
        return self._waiting

    async def reply_stream(self, inputs: Inputs = None, *, by: str = "", via: str = "") -> AsyncIterator[AgentEvent]:
        """Take one input and give the events until the reply ends or waits. Who it is from the server knows."""
        if isinstance(inputs, UserInterruptEvent):
            await self._client.interrupt(self.session_id)
        elif isinstance(inputs, UserConfirmResultEvent | ExternalExecutionResultEvent):
            await self._client.send(self.session_id, inputs)
        elif isinstance(inputs, str):
            self.session_id = await self._client.submit(self.session_id or None, inputs)
        if not self.session_id or isinstance(inputs, UserInterruptEvent):
            return
        streamed: set[str] = set()
        async for seen in self._client.watch(self.session_id, after=self.length):
            self.length = seen.seq if seen.seq is not None else self.length
            for event in seen.events:
                if _is_news(event, seen, streamed):
                    yield event
            if seen.seq is not None and await self._rests():
                break
        await self.load()

    async def _rests(self) -> bool:
        """Whether the session waits or is done, with nothing in its log that was not shown."""
        row = await self._client.row(self.session_id)
        return bool(row["state"] != "working" and row["length"] == self.length)

    async def changed(self) -> None:
        """Return once the session has moved; `state` and `requests` then show it."""
        async for seen in self._client.watch(self.session_id, after=self.length):
            if seen.seq is not None and seen.seq > self.length:
                break
        await self.load()

    async def ended(self, request_id: str) -> Ended | None:
        """How a request ended, None while it waits."""
        for decided in await self._client.history(session_id=self.session_id):
            if decided.request.id == request_id:
                return Ended(decided.how, decided.by, decided.via)
        return None

    def follow(self) -> AsyncIterator[AgentEvent]:
        """What somebody else does with the session, until it waits or is done."""
        return self.reply_stream(None)

    async def set_mode(self, mode: str, *, by: str = "") -> None:
        """Change the session's permission mode."""
        await self._client.set_mode(self.session_id, mode)
        await self.load()

    async def remove_rule(self, rule: PermissionRule, *, by: str = "") -> None:
        """Not from afar: a session's rules are taken back where its store is. Raises Refused."""
        from sayso.errors import Refused

        raise Refused("rules are taken back where the store is: sayso rules revoke N --session ID")


def _is_news(event: AgentEvent, seen: Seen, streamed: set[str]) -> bool:
    """Whether it was not shown as deltas before: a finished block comes whole, with its entry of the log."""
    if not isinstance(event, _BLOCKS):
        return seen.seq is not None
    if seen.seq is None:
        streamed.add(event.block_id)
        return True
    return event.block_id not in streamed or isinstance(event, TextBlockEndEvent | ThinkingBlockEndEvent)

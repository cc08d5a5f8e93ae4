"""Whom the chat talks to: a session here, in a store of this machine, or one behind a server. The same either way."""

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from sayso.agent import Agent
from sayso.agent.agent import Inputs
from sayso.event import AgentEvent
from sayso.host import Live, watch_session
from sayso.permission.rule import PermissionRule
from sayso.request import Request
from sayso.state import AgentState
from sayso.store.base import Store

__all__ = ["Ended", "Here", "Party"]


class Ended(NamedTuple):
    """How a request ended elsewhere: what was said, by whom, through which surface."""

    how: str
    by: str
    via: str


class Party(Protocol):
    """A conversation as the chat needs it; see `Agent` for what is named alike."""

    @property
    def session_id(self) -> str: ...

    @property
    def state(self) -> AgentState: ...

    def requests(self) -> list[Request]: ...

    def reply_stream(self, inputs: Inputs = None, *, by: str = "", via: str = "") -> AsyncIterator[AgentEvent]: ...

    async def load(self) -> None: ...

    async def changed(self) -> None: ...

    async def set_mode(self, mode: str, *, by: str = "") -> None: ...

    async def remove_rule(self, rule: PermissionRule, *, by: str = "") -> None: ...

    async def ended(self, request_id: str) -> Ended | None:
        """How a request ended, None while it waits."""
        ...

    def follow(self) -> AsyncIterator[AgentEvent]:
        """What somebody else does with the session, until it waits or is done."""
        ...


class Here:
    """The session of `agent` in `store`."""

    def __init__(self, agent: Agent, store: Store) -> None:
        self._agent = agent
        self._store = store
        self._shown = agent.length
        self.requests = agent.requests
        self.changed = agent.changed
        self.set_mode = agent.set_mode
        self.remove_rule = agent.remove_rule

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._agent.session_id

    @property
    def state(self) -> AgentState:
        """The session as a value."""
        return self._agent.state

    async def load(self) -> None:
        """Read the session as it is now; what led to it counts as shown."""
        await self._agent.load()
        self._shown = self._agent.length

    async def reply_stream(self, inputs: Inputs = None, *, by: str = "", via: str = "") -> AsyncIterator[AgentEvent]:
        """See `Agent.reply_stream`."""
        async for event in self._agent.reply_stream(inputs, by=by, via=via):
            yield event
        self._shown = self._agent.length

    async def ended(self, request_id: str) -> Ended | None:
        """See `Party.ended`."""
        closed = await self._store.find_closed(request_id)
        return None if closed is None else Ended(closed.how, closed.by, closed.via)

    async def follow(self) -> AsyncIterator[AgentEvent]:
        """See `Party.follow`."""
        # From what was shown here: `changed` may have read on, past words that nobody has seen.
        watching = watch_session(self._store, Live(), self.session_id, self._shown)
        try:
            async for seen in watching:
                self._shown = seen.seq if seen.seq is not None else self._shown
                for event in seen.events:
                    yield event
                if not seen.events:
                    row = await self._store.session(self.session_id)
                    if row is None or (row.state != "working" and row.length == seen.seq):
                        return
        finally:
            await watching.aclose()

"""The sessions that this process drives, and how an input gets to one. Owns their agents and tasks while they run.

A session is driven by one task of this process at most; a queue may give it to another process instead.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from sayso.agent import Agent
from sayso.errors import Conflict, InvalidAnswer, Refused, StoreError
from sayso.host.dispatch import Dispatch
from sayso.store.base import Store
from sayso.tool.base import ToolBase

__all__ = ["Build", "Driving", "Give"]

Build = Callable[[Store, str], Agent | Awaitable[Agent]]
"""Makes the agent of a session: `build(store, session_id)`; its name is the key it is registered under."""

Give = Callable[[Agent], Awaitable["asyncio.Task[None]"]]
"""Gives an agent its input, and the task that drives it on."""

# Each time somebody else was faster, so something went on: even fifty processes on one session are through by then.
_PATIENCE = 100


class Driving:
    """after: called when a drive has come to its end. dispatch: who is asked to drive what was only written here."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Build],
        *,
        after: Callable[[str], Awaitable[None]],
        dispatch: Dispatch | None,
        on_trouble: Callable[[str, BaseException], None] | None,
    ) -> None:
        self.store = store
        self.agents = dict(agents)
        self.dispatch = dispatch
        self._after = after
        self._on_trouble = on_trouble
        self._driven: dict[str, tuple[Agent, asyncio.Task[None]]] = {}
        self._taking: dict[str, asyncio.Lock] = {}
        self._offered: dict[str, list[ToolBase]] = {}
        self._errands: dict[asyncio.Future[None], str] = {}

    @property
    def here(self) -> bool:
        """Whether what comes in is driven by this process."""
        return self.dispatch is None

    def is_driven(self, session_id: str) -> bool:
        """Whether this process drives it now."""
        return session_id in self._driven

    async def close(self, grace: float) -> None:
        """Give what is driven `grace` seconds to park or end; the rest goes on elsewhere, or at the next start."""
        tasks = [task for _, task in self._driven.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def settled(self, session_id: str | None = None) -> None:
        """Return once nothing is driven here, or that session is not: it is parked or ended, and its errands done."""
        while waits := [
            *(task for driven, (_, task) in self._driven.items() if session_id in (None, driven)),
            *(errand for errand, of in self._errands.items() if session_id in (None, of)),
        ]:
            await asyncio.wait(waits)
            await asyncio.sleep(0)  # let the drives be taken off the list

    def offer(self, session_id: str, tools: Sequence[ToolBase]) -> None:
        """See `Host.offer`."""
        for tool in tools:
            if not tool.is_external_tool:
                raise InvalidAnswer(f"{tool.name!r} is no external tool; only those can be brought along")
        self._offered[session_id] = list(tools)
        if not tools:
            del self._offered[session_id]

    async def take(
        self, session_id: str, give: Give, *, name: str | None = None, hand_on: bool = True
    ) -> "asyncio.Task[None]":
        """Give an input to a session's agent, and keep what it then does among the driven.

        name: whose session it becomes, if it is a new one. hand_on: False keeps the drive here in any case.
        Where another process moved the session at that moment the input was not taken: it is given again to the
        session as it is now, which may refuse it.
        """
        for attempt in range(_PATIENCE):
            try:
                return await self._give(session_id, give, name, hand_on)
            except Conflict:
                await asyncio.sleep(min(0.001 * 2**attempt, 0.05))  # whoever was faster is writing
        return await self._give(session_id, give, name, hand_on)

    async def hand_on(self, session_id: str, agent: str) -> None:
        """Have a session driven elsewhere. What it is about is written: where nobody can be asked now, a later look
        finds it."""
        if self.dispatch is None:
            return
        try:
            await self.dispatch.drive(session_id, agent)
        except StoreError as exc:
            self.trouble(session_id, exc)

    async def agent(self, session_id: str, name: str | None = None) -> Agent:
        """The agent of a session, as it is now. Raises Refused where this host does not have it."""
        driven = self._driven.get(session_id)
        if driven is not None and not driven[1].done():
            return driven[0]
        row = await self.store.session(session_id)
        key = row.agent if row is not None else name
        if key is None and len(self.agents) == 1:
            (key,) = self.agents
        build = self.agents.get(key or "")
        if build is None:
            names = ", ".join(sorted(self.agents))
            raise Refused(f"session {session_id!r} needs agent {key!r}; this host has: {names}")
        made = build(self.store, session_id)
        agent = made if isinstance(made, Agent) else await made
        if agent.name != key:
            raise ValueError(f"the builder of agent {key!r} made one called {agent.name!r}; give it the name {key!r}")
        for tool in self._offered.get(session_id, ()):
            try:
                agent.toolkit.add(tool)
            except ValueError as exc:
                raise InvalidAnswer(f"that tool cannot be brought along: {exc}") from exc
        await agent.load()
        return agent

    def trouble(self, session_id: str, problem: BaseException) -> None:
        """Tell whoever wants to know of a drive that failed."""
        if self._on_trouble is not None:
            self._on_trouble(session_id, problem)

    async def _give(self, session_id: str, give: Give, name: str | None, hand_on: bool) -> "asyncio.Task[None]":
        lock = self._taking.setdefault(session_id, asyncio.Lock())
        try:
            async with lock:
                agent = await self.agent(session_id, name)
                task = await give(agent)
                if session_id not in self._driven or self._driven[session_id][1] is not task:
                    self._driven[session_id] = (agent, task)
                    task.add_done_callback(lambda t: self._done(session_id, t))
        finally:
            if not lock.locked():
                self._taking.pop(session_id, None)
        if hand_on:
            await self.hand_on(session_id, agent.name)
        return task

    def _done(self, session_id: str, task: "asyncio.Task[None]") -> None:
        if (driven := self._driven.get(session_id)) is not None and driven[1] is task:
            del self._driven[session_id]
        if task.cancelled():
            return
        if (problem := task.exception()) is not None:
            self.trouble(session_id, problem)
            return
        errand = asyncio.ensure_future(self._after(session_id))
        self._errands[errand] = session_id
        errand.add_done_callback(self._ran)

    def _ran(self, errand: "asyncio.Future[None]") -> None:
        session_id = self._errands.pop(errand)
        if not errand.cancelled() and (problem := errand.exception()) is not None:
            self.trouble(session_id, problem)

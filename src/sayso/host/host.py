"""`Host`: many conversations over one store.

Answers drive their session on in the background; expiry and the pick-up of unfinished work are here; what is parked
costs rows and nothing else. Owns who is driven in this process; the truth is the log.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Self

from sayso.agent import Agent
from sayso.errors import Conflict, InvalidAnswer, NotWaiting, Refused, SaysoError, UnknownCall
from sayso.event import AgentEvent, UserInterruptEvent
from sayso.host.nested import Nested
from sayso.host.reply_to import as_event
from sayso.host.row import decided_of, no_longer, question_in, request_in
from sayso.host.watch import Live, Seen, watch_session
from sayso.ids import new_id
from sayso.message import Msg
from sayso.permission.rule import PermissionRule
from sayso.request import Answer, Decided, Request
from sayso.state import AgentState
from sayso.store.base import SessionRow, Store, Waiting
from sayso.tool.base import ToolBase

__all__ = ["Build", "Host"]

Build = Callable[[Store, str], Agent | Awaitable[Agent]]
"""Makes the agent of a session: `build(store, session_id)`; its name is the key it is registered under."""

# Each time somebody else was faster, so something went on: even fifty processes on one session are through by then.
_PATIENCE = 100


class Host:
    """Conversations of `agents` over `store`.

    agents: name -> `build(store, session_id) -> Agent`. tick: seconds between looks for what expired. clock: gives
    the time as an aware datetime. drives: False only writes what comes in, for another process to go on with.
    on_trouble: is told of a session whose drive failed; it stays as the log has it.
    nested: name of an `AgentTool` -> the agent that its calls are given to.
    Use it as `async with Host(...) as host`; or `start()` and `close()`.
    """

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Build],
        *,
        tick: float = 5.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        on_trouble: Callable[[str, BaseException], None] | None = None,
        drives: bool = True,
        nested: Mapping[str, str] | None = None,
    ) -> None:
        if not agents:
            raise ValueError("a host needs at least one agent: Host(store, agents={'name': build})")
        self.store = store
        self._agents = dict(agents)
        self._tick = tick
        self._clock = clock
        self._drives = drives
        self._on_trouble = on_trouble
        self._live = Live()
        self._driven: dict[str, tuple[Agent, asyncio.Task[None]]] = {}
        self._taking: dict[str, asyncio.Lock] = {}
        self._offered: dict[str, list[ToolBase]] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._nested = Nested(self, nested or {})
        self._errands: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def agents(self) -> list[str]:
        """The names of the agents that sessions can be begun with."""
        return list(self._agents)

    # -- life ------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Go on with what was left unfinished, and begin to look for what expires."""
        if self._drives:
            await self.pick_up()
            await self._nested.pick_up()
        self._ticking = asyncio.create_task(self._keep_ticking())

    async def close(self, grace: float = 10.0) -> None:
        """Stop driving. Sessions under way get `grace` seconds to park or end; the rest goes on at the next start."""
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.wait([self._ticking])
            self._ticking = None
        tasks = [task for _, task in self._driven.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def settled(self) -> None:
        """Return once nothing is driven here: all is parked or ended."""
        while self._driven or self._errands:
            await asyncio.wait([*(task for _, task in self._driven.values()), *self._errands])
            await asyncio.sleep(0)  # let the drives be taken off the list

    async def pick_up(self) -> list[str]:
        """Drive every session that has work and no living runner; their ids."""
        found: list[str] = []
        after: str | None = None
        while rows := await self.store.sessions(state="working", after=after, limit=200):
            for row in rows:
                if row.session_id not in self._driven and not await self._is_driven(row):
                    found.append(row.session_id)
            after = rows[-1].session_id
        for session_id in found:
            with contextlib.suppress(Conflict, Refused):  # somebody else was faster: it is theirs
                await self._go_on(session_id)
        return found

    async def _go_on(self, session_id: str) -> None:
        await self._take(session_id, lambda agent: agent.accept(None, sink=self._sink(session_id)))

    async def _is_driven(self, row: SessionRow) -> bool:
        return row.runner is not None and await self.store.is_alive(row.runner)

    async def _keep_ticking(self) -> None:
        while True:
            await asyncio.sleep(self._tick)
            try:
                await self.expire()
            except SaysoError as exc:
                self._trouble("", exc)

    # -- conversations ---------------------------------------------------------------------------------

    async def submit(
        self,
        session_id: str | None,
        message: str | Msg,
        *,
        agent: str | None = None,
        by: str = "",
        via: str = "",
    ) -> str:
        """Give a session a message; returns its id once the message is on disk, and answers in the background.

        session_id: None begins a session. agent: whose session it becomes; needed where the host has several.
        Raises Parked, ... as the agent does with a message while it waits.
        """
        session_id = session_id or new_id()
        await self._take(
            session_id,
            lambda a: a.accept(message, by=by, via=via, sink=self._sink(session_id), drive=self._drives),
            name=agent,
        )
        return session_id

    async def session(self, session_id: str) -> AgentState:
        """A session as a value. Raises UnknownCall if there is none by that id."""
        if await self.store.session(session_id) is None:
            raise UnknownCall(f"there is no session {session_id!r}")
        return (await self._agent(session_id, None)).state

    async def interrupt(self, session_id: str, *, by: str = "", via: str = "") -> None:
        """Stop the reply under way, running or parked, and those of the agents that work for it."""
        for below in await self._nested.below(session_id):
            if await self.store.session(below) is not None:
                await self._stop(below, by, via)
        await self._stop(session_id, by, via)

    async def _stop(self, session_id: str, by: str, via: str) -> None:
        agent = await self._agent(session_id, None)
        if agent.reply_id is not None:
            event = UserInterruptEvent(reply_id=agent.reply_id)
            await agent.reply(event, by=by, via=via)

    async def set_mode(self, session_id: str, mode: str, *, by: str = "") -> None:
        """Change a session's permission mode; it counts from the next judgement on."""
        await (await self._agent(session_id, None)).set_mode(mode, by=by)

    async def add_rule(self, session_id: str, rule: PermissionRule, *, by: str = "") -> None:
        """Add a rule to a session. Raises InvalidRule if it can never match its tool.

        For a program that holds the host: a surface offers rules by their id, with an answer.
        """
        await (await self._agent(session_id, None)).add_rule(rule, by=by)

    async def remove_rule(self, session_id: str, rule: PermissionRule, *, by: str = "") -> None:
        """Revoke a rule of a session. Raises WrongMoment if it has no such rule."""
        await (await self._agent(session_id, None)).remove_rule(rule, by=by)

    def watch(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Seen, None]:
        """The session's events from entry `after` of its log on, for ever; deltas of what is driven here between."""
        return watch_session(self.store, self._live, session_id, after)

    # -- requests and answers --------------------------------------------------------------------------

    async def pending(
        self,
        *,
        session_id: str | None = None,
        kind: str | None = None,
        tool: str | None = None,
        after: str | None = None,
        limit: int = 50,
        newest_first: bool = False,
    ) -> list[Request]:
        """What waits, oldest first; `after` is the id of the last request of the page before."""
        rows = await self.store.waiting(
            session_id=session_id, kind=kind, tool=tool, after=after, limit=limit, newest_first=newest_first
        )
        return [await self._nested.with_path(request_in(row)) for row in rows]

    async def request(self, request_id: str) -> Request:
        """One request, with its tool's schema. Raises NotWaiting if it waits no more, or never did."""
        row = await self.waiting(request_id)
        agent = await self._agent(row.session_id, None)
        for request in agent.requests():
            if request.id == request_id:
                return await self._nested.with_path(request)
        raise await self._not_waiting(request_id)

    async def history(
        self,
        *,
        session_id: str | None = None,
        tool: str | None = None,
        how: str | None = None,
        by: str | None = None,
        since: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> list[Decided]:
        """Requests that wait no more, the last first; `after` is the request id that ended the page before."""
        rows = await self.store.closed(
            session_id=session_id, tool=tool, how=how, by=by, since=since, after=after, limit=limit
        )
        return [decided_of(row) for row in rows]

    async def answer(self, answer: Answer, *, by: str, via: str) -> None:
        """Take one person's answer; returns once it is on disk, and the session goes on in the background.

        Raises NotWaiting (already answered: by whom, how, when), StaleAnswer (they saw something else) or
        InvalidAnswer (it does not fit); then nothing changed.
        """
        row = await self.waiting(answer.request_id)
        event = as_event(request_in(row), answer)
        sink = self._sink(row.session_id)
        call_id = question_in(row).call.id

        async def give(agent: Agent) -> "asyncio.Task[None]":
            if event is None:
                return await agent.expire(call_id, by=by, via=via, sink=sink, drive=self._drives)
            return await agent.accept(event, by=by, via=via, sink=sink, drive=self._drives)

        try:
            await self._take(row.session_id, give)
        except NotWaiting:  # somebody was faster by a moment; it can be said who
            raise await self._not_waiting(answer.request_id) from None

    async def expire(self) -> list[str]:
        """Record every question whose time is over as unanswered; the ids of the requests."""
        now = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        over: list[str] = []
        for row in await self.store.due(before=now):
            with contextlib.suppress(Conflict, Refused):  # answered at the last moment: the answer stands
                await self._expire(row.session_id, question_in(row).call.id)
                over.append(row.request_id)
        return over

    async def _expire(self, session_id: str, call_id: str) -> None:
        sink = self._sink(session_id)
        await self._take(session_id, lambda agent: agent.expire(call_id, sink=sink, drive=self._drives))

    async def waiting(self, request_id: str) -> Waiting:
        """The row of an open request. Raises NotWaiting (by whom, how, when it was answered)."""
        row = await self.store.find(request_id)
        if row is None:
            raise await self._not_waiting(request_id)
        return row

    async def _not_waiting(self, request_id: str) -> NotWaiting:
        return no_longer(request_id, await self.store.find_closed(request_id))

    def offer(self, session_id: str, tools: Sequence[ToolBase]) -> None:
        """Let a session's agent use these external tools too, from its next input on; they replace those of before.

        Raises InvalidAnswer for one that is no external tool: what runs here is what the program built.
        """
        for tool in tools:
            if not tool.is_external_tool:
                raise InvalidAnswer(f"{tool.name!r} is no external tool; only those can be brought along")
        self._offered[session_id] = list(tools)
        if not tools:
            del self._offered[session_id]

    # -- driving ---------------------------------------------------------------------------------------

    def _sink(self, session_id: str) -> Callable[[AgentEvent], None]:
        return lambda event: self._live.sink(session_id, event)

    async def _take(
        self,
        session_id: str,
        give: Callable[[Agent], Awaitable["asyncio.Task[None]"]],
        *,
        name: str | None = None,
    ) -> None:
        """Give an input to a session's agent, and keep what it then does among the driven.

        Where another process moved the session at that moment the input was not taken: it is given again to the
        session as it is now, which may refuse it.
        """
        for attempt in range(_PATIENCE):
            try:
                await self._give(session_id, give, name)
                return
            except Conflict:
                await asyncio.sleep(min(0.001 * 2**attempt, 0.05))  # whoever was faster is writing
        await self._give(session_id, give, name)

    async def _give(
        self, session_id: str, give: Callable[[Agent], Awaitable["asyncio.Task[None]"]], name: str | None
    ) -> None:
        lock = self._taking.setdefault(session_id, asyncio.Lock())
        try:
            async with lock:
                agent = await self._agent(session_id, name)
                task = await give(agent)
                if session_id not in self._driven or self._driven[session_id][1] is not task:
                    self._driven[session_id] = (agent, task)
                    task.add_done_callback(lambda t: self._done(session_id, t))
        finally:
            if not lock.locked():
                self._taking.pop(session_id, None)

    async def _agent(self, session_id: str, name: str | None) -> Agent:
        driven = self._driven.get(session_id)
        if driven is not None and not driven[1].done():
            return driven[0]
        row = await self.store.session(session_id)
        key = row.agent if row is not None else name
        if key is None and len(self._agents) == 1:
            (key,) = self._agents
        build = self._agents.get(key or "")
        if build is None:
            names = ", ".join(sorted(self._agents))
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

    def _done(self, session_id: str, task: "asyncio.Task[None]") -> None:
        if (driven := self._driven.get(session_id)) is not None and driven[1] is task:
            del self._driven[session_id]
        if task.cancelled():
            return
        if (problem := task.exception()) is not None:
            self._trouble(session_id, problem)
            return
        errand = asyncio.create_task(self._nested.after(session_id))
        self._errands.add(errand)
        errand.add_done_callback(lambda e: self._ran(session_id, e))

    def _ran(self, session_id: str, errand: "asyncio.Task[None]") -> None:
        self._errands.discard(errand)
        if not errand.cancelled() and (problem := errand.exception()) is not None:
            self._trouble(session_id, problem)

    def _trouble(self, session_id: str, problem: BaseException) -> None:
        if self._on_trouble is not None:
            self._on_trouble(session_id, problem)

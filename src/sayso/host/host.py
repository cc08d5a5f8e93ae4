"""`Host`: many conversations over one store.

Answers drive their session on in the background; expiry and the pick-up of unfinished work are here; what is parked
costs rows and nothing else. Owns who is driven in this process; the truth is the log.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Self, TypedDict

from sayso import telemetry
from sayso.agent import Agent
from sayso.errors import Conflict, NotWaiting, Refused, SaysoError, UnknownCall
from sayso.event import AgentEvent, UserInterruptEvent
from sayso.host.dispatch import Dispatch
from sayso.host.driving import Build, Driving
from sayso.host.nested import Nested
from sayso.host.reply_to import as_event
from sayso.host.row import decided_of, no_longer, question_in, request_in
from sayso.host.watch import Live, Seen, watch_session
from sayso.ids import new_id
from sayso.message import Msg
from sayso.permission.rule import PermissionRule
from sayso.request import Answer, Decided, Request
from sayso.state import AgentState
from sayso.store.base import Store, Waiting
from sayso.tool.base import ToolBase

__all__ = ["Build", "Host"]


class _Options(TypedDict):
    sink: Callable[[AgentEvent], None]
    drive: bool


class Host:
    """Conversations of `agents` over `store`.

    agents: name -> `build(store, session_id) -> Agent`. tick: seconds between looks for what expired. clock: gives
    the time as an aware datetime. dispatch: sees to it that another process drives what comes in, which is only written
    here. on_trouble: is told of a session whose drive failed; it stays as the log has it.
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
        dispatch: Dispatch | None = None,
        nested: Mapping[str, str] | None = None,
    ) -> None:
        if not agents:
            raise ValueError("a host needs at least one agent: Host(store, agents={'name': build})")
        self.store = store
        self._tick = tick
        self._clock = clock
        self._live = Live()
        self._ticking: asyncio.Task[None] | None = None
        self._nested = Nested(self, nested or {})
        self._driving = Driving(store, agents, after=self._nested.after, dispatch=dispatch, on_trouble=on_trouble)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def agents(self) -> list[str]:
        """The names of the agents that sessions can be begun with."""
        return list(self._driving.agents)

    def hand_over(self, dispatch: Dispatch) -> None:
        """From now on only write what comes in, and have `dispatch` see to it that some process drives it."""
        self._driving.dispatch = dispatch

    def relay_to(self, tell: Callable[[str, AgentEvent], None]) -> None:
        """Call `tell(session_id, event)` with every event of what is driven here, as it comes."""
        self._live.tell = tell

    def show(self, session_id: str, event: AgentEvent) -> None:
        """Show a live event of a session that another process drives to whoever watches it here."""
        self._live.show(session_id, event)

    # -- life ------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Go on with what was left unfinished, and begin to look for what expires."""
        if self._driving.here:
            await self.pick_up()
            await self.reunite()
        self._ticking = asyncio.create_task(self._keep_ticking())

    async def close(self, grace: float = 10.0) -> None:
        """Stop driving. Sessions under way get `grace` seconds to park or end; the rest goes on at the next start."""
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.wait([self._ticking])
            self._ticking = None
        await self._driving.close(grace)

    async def settled(self) -> None:
        """Return once nothing is driven here: all is parked or ended."""
        await self._driving.settled()

    async def reunite(self) -> None:
        """Go on with what a process that ended left between an agent and the agents that work for it."""
        await self._nested.pick_up()

    async def pick_up(self, *, agent: str | None = None, skip: Collection[str] = ()) -> list[str]:
        """Go on with every session that has work, no living runner and an agent of ours; their ids.

        agent: only its sessions. skip: sessions that somebody is about to drive.
        """
        agents = self.agents if agent is None else [agent]
        alive: dict[str, bool] = {}
        found: dict[str, str] = {}
        after: str | None = None
        while rows := await self.store.sessions(state="working", after=after, limit=200):
            for row in rows:
                if row.agent not in agents or row.session_id in skip:
                    continue
                if row.runner is not None and row.runner not in alive:
                    alive[row.runner] = await self.store.is_alive(row.runner)
                if not (self._driving.is_driven(row.session_id) or alive.get(row.runner or "")):
                    found[row.session_id] = row.agent
            after = rows[-1].session_id
        for session_id, name in found.items():
            if not self._driving.here:
                await self._driving.hand_on(session_id, name)
                continue
            with contextlib.suppress(Conflict, Refused):  # somebody else was faster: it is theirs
                await self._go_on(session_id)
        return list(found)

    async def _go_on(self, session_id: str) -> "asyncio.Task[None]":
        sink = self._options(session_id)["sink"]
        return await self._driving.take(session_id, lambda agent: agent.accept(None, sink=sink), hand_on=False)

    async def drive(self, session_id: str) -> None:
        """Go on with a session in this process, whoever else is asked otherwise, and return once it parks or ends.

        For workers. Raises what stopped the drive; the session then stays as the log has it.
        """
        if not self._driving.is_driven(session_id):
            task = await self._go_on(session_id)
            await asyncio.wait([task])
            if not task.cancelled():  # else another process, or the end of this one, stopped it
                task.result()
        await self._driving.settled(session_id)

    async def _keep_ticking(self) -> None:
        while True:
            await asyncio.sleep(self._tick)
            try:
                await self.expire()
            except SaysoError as exc:
                self._driving.trouble("", exc)

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
        options = self._options(session_id)
        await self._driving.take(session_id, lambda a: a.accept(message, by=by, via=via, **options), name=agent)
        return session_id

    async def session(self, session_id: str) -> AgentState:
        """A session as a value. Raises UnknownCall if there is none by that id."""
        if await self.store.session(session_id) is None:
            raise UnknownCall(f"there is no session {session_id!r}")
        return (await self._driving.agent(session_id)).state

    async def interrupt(self, session_id: str, *, by: str = "", via: str = "") -> None:
        """Stop the reply under way, running or parked, and those of the agents that work for it."""
        for below in await self._nested.below(session_id):
            if await self.store.session(below) is not None:
                await self._stop(below, by, via)
        await self._stop(session_id, by, via)

    async def _stop(self, session_id: str, by: str, via: str) -> None:
        agent = await self._driving.agent(session_id)
        if agent.reply_id is not None:
            event, options = UserInterruptEvent(reply_id=agent.reply_id), self._options(session_id)
            await self._driving.take(session_id, lambda a: a.accept(event, by=by, via=via, **options))

    async def set_mode(self, session_id: str, mode: str, *, by: str = "") -> None:
        """Change a session's permission mode; it counts from the next judgement on."""
        await (await self._driving.agent(session_id)).set_mode(mode, by=by)

    async def add_rule(self, session_id: str, rule: PermissionRule, *, by: str = "") -> None:
        """Add a rule to a session. Raises InvalidRule if it can never match its tool.

        For a program that holds the host: a surface offers rules by their id, with an answer.
        """
        await (await self._driving.agent(session_id)).add_rule(rule, by=by)

    async def remove_rule(self, session_id: str, rule: PermissionRule, *, by: str = "") -> None:
        """Revoke a rule of a session. Raises WrongMoment if it has no such rule."""
        await (await self._driving.agent(session_id)).remove_rule(rule, by=by)

    def watch(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Seen, None]:
        """The session's events from entry `after` of its log on, for ever; between them what is under way.

        Deltas are those of sessions driven here and, with `show`, elsewhere.
        """
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
        agent = await self._driving.agent(row.session_id)
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
        options, call_id = self._options(row.session_id), question_in(row).call.id

        async def give(agent: Agent) -> "asyncio.Task[None]":
            if event is None:
                return await agent.expire(call_id, by=by, via=via, **options)
            return await agent.accept(event, by=by, via=via, **options)

        try:
            await self._driving.take(row.session_id, give)
        except NotWaiting:  # somebody was faster by a moment; it can be said who
            raise await self._not_waiting(answer.request_id) from None

    async def expire(self) -> list[str]:
        """Record every question whose time is over as unanswered; the ids of the requests."""
        now = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        over: list[str] = []
        after: Waiting | None = None
        while rows := await self.store.due(before=now, after=after):
            for row in rows:
                question = question_in(row)
                if question.agent in self._driving.agents:
                    with contextlib.suppress(Conflict, Refused):  # answered at the last moment: the answer stands
                        await self._expire(row.session_id, question.call.id)
                        over.append(row.request_id)
            after = rows[-1]
        if telemetry.is_on():
            first = await self.store.waiting(limit=1)
            telemetry.oldest(first[0].created_at if first else None)
        return over

    async def _expire(self, session_id: str, call_id: str) -> None:
        options = self._options(session_id)
        await self._driving.take(session_id, lambda agent: agent.expire(call_id, **options))

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
        self._driving.offer(session_id, tools)

    def _options(self, session_id: str) -> _Options:
        """How an agent is to take an input."""
        return {"sink": lambda event: self._live.sink(session_id, event), "drive": self._driving.here}

"""`Agent`: one conversation. Takes an input, refuses it or drives the reply on, and says what waits.

Owns the routing of inputs; the loop is `run`, the log in hand is `log`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal

from sayso import telemetry
from sayso.agent.crew import Crew
from sayso.agent.intake import Answers, Inputs, Intake, messages_in, nothing_to_do, what_is_owed
from sayso.agent.judge import Judge, Policy
from sayso.agent.log import SessionLog
from sayso.agent.run import Run
from sayso.errors import Conflict, Parked, StaleAnswer
from sayso.event import AgentEvent, ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent
from sayso.ids import new_id, now
from sayso.message import (
    AssistantMsg,
    HintBlock,
    Msg,
)
from sayso.model.base import ChatModel
from sayso.model.failure import Retry
from sayso.permission.rule import PermissionRule
from sayso.reply.fact import (
    Fact,
    MessageQueued,
    ModeSet,
    ReplyEnded,
    ReplyStarted,
    RequestExpired,
    RuleAdded,
    RuleRemoved,
)
from sayso.reply.machine import is_parked, wants
from sayso.reply.question import requests_of
from sayso.reply.transcript import as_rule, as_said, open_message
from sayso.reply.watch import request_events
from sayso.request import Request
from sayso.state import AgentState, opened, state_of
from sayso.store.base import Store
from sayso.store.memory import MemoryStore
from sayso.tool.base import ToolBase
from sayso.tool.toolkit import Toolkit

__all__ = ["Agent", "Inputs"]

_Begin = Callable[[Run], Awaitable[None]]


class Agent:
    """An agent that acts on a person's say-so.

    model: a `ChatModel`, or the name of one (`openai:gpt-5`, `local:FILE.gguf`). toolkit: a Toolkit, or tools.
    state: a session to begin from; used only where the store has none by that id. store: where the log is kept; in
    memory by default. session_id: which session of the store. max_iters: model calls per reply.
    on_message_while_parked: `refuse` raises Parked and stores nothing; `supersede` closes what waits as interrupted
    and answers the message; `queue` answers it after the reply ends.
    policy: permission rules in force besides the session's own, or a function that gives them at each judgement.
    retry: the budget for a failing model. expires_after: seconds after which a question counts as unanswered; who
    records that is the host.
    """

    def __init__(
        self,
        name: str,
        system_prompt: str,
        model: ChatModel | str,
        toolkit: Toolkit | Sequence[ToolBase | Callable[..., Any]] | None = None,
        state: AgentState | None = None,
        store: Store | None = None,
        session_id: str | None = None,
        *,
        max_iters: int = 50,
        on_message_while_parked: Literal["refuse", "supersede", "queue"] = "refuse",
        policy: Policy = None,
        retry: Retry | None = None,
        expires_after: float | None = None,
    ) -> None:
        if max_iters < 1:
            raise ValueError(f"max_iters is {max_iters}; it must be at least 1")
        if on_message_while_parked not in ("refuse", "supersede", "queue"):
            raise ValueError(f"on_message_while_parked is {on_message_while_parked!r}; use refuse, supersede or queue")
        if isinstance(model, str):
            from sayso.model import connect

            model = connect(model)
        self.name = name
        self.on_message_while_parked = on_message_while_parked
        kit = toolkit if isinstance(toolkit, Toolkit) else Toolkit(toolkit or ())
        store = store if store is not None else MemoryStore()
        self.session_id = session_id or (state.session_id if state is not None else new_id())
        opening = opened(state, session_id=self.session_id, agent=name, at=now())
        self._log = SessionLog(store, self.session_id, opening)
        self._judge = Judge(kit, policy, expires_after)
        self._crew = Crew(
            name=name,
            system_prompt=system_prompt,
            model=model,
            toolkit=kit,
            judge=self._judge,
            store=store,
            max_iters=max_iters,
            retry=retry or Retry(),
        )
        self._intake = Intake(self._crew)
        self._run: Run | None = None

    # -- what a program does with it -------------------------------------------------------------------

    async def reply(self, inputs: Inputs = None, *, by: str = "", via: str = "") -> Msg:
        """Take an input and go on until the reply ends or parks; gives the reply's message.

        A parked reply's message has `finished_reason` None and says last what it waits for. by, via: who answers,
        through which surface, for the log. Raises a `Refused` where the input cannot be taken (nothing changed),
        `Conflict` where another runner moved the session first, `StoreError` where the store failed.
        """
        if (running := self._running()) is not None:
            await self._join(running, inputs, by, via)
            return self._said()
        run = self._begin(inputs, watched=False, by=by, via=via)
        await run.finish()
        return nothing_to_do(self.name, inputs) if run.was_idle else self._said()

    async def reply_stream(self, inputs: Inputs = None, *, by: str = "", via: str = "") -> AsyncIterator[AgentEvent]:
        """As `reply`, as events. A parked reply's stream ends with its request events, without REPLY_END.

        With None, what waits is shown again.
        """
        if (running := self._running()) is not None:
            await self._join(running, inputs, by, via)
            return
        run = self._begin(inputs, watched=True, by=by, via=via)
        async for event in run.events():
            yield event

    async def accept(
        self,
        inputs: Inputs,
        *,
        by: str = "",
        via: str = "",
        sink: Callable[[AgentEvent], None] | None = None,
        drive: bool = True,
    ) -> "asyncio.Task[None]":
        """Take an input, and return once it is written; the task given back drives the reply on.

        sink: is called with each event. drive: False only writes it, for another process to go on with.
        Raises as `reply` does.
        """
        if (running := self._running()) is not None:
            if isinstance(inputs, UserConfirmResultEvent | ExternalExecutionResultEvent):
                self._take_answers(running, inputs, by, via)
                await running.commit()
                running.nudge()
            else:
                await self._join(running, inputs, by, via)
            return running.task
        return await self._accepted(self._entry(inputs, by, via), sink, drive)

    async def expire(
        self,
        call_id: str,
        *,
        by: str = "",
        via: str = "",
        sink: Callable[[AgentEvent], None] | None = None,
        drive: bool = True,
    ) -> "asyncio.Task[None]":
        """Record that nobody answered in time, or, with `by`, that somebody dismissed the question; then go on."""

        async def begin(run: Run) -> None:
            await self._log.refresh()
            run.take(RequestExpired(at=now(), call_id=call_id, by=by, via=via))

        if (running := self._running()) is not None:
            running.take(RequestExpired(at=now(), call_id=call_id, by=by, via=via))
            await running.commit()
            running.nudge()
            return running.task
        return await self._accepted(begin, sink, drive)

    async def _accepted(
        self, begin: _Begin, sink: Callable[[AgentEvent], None] | None, drive: bool
    ) -> "asyncio.Task[None]":
        run = Run(self._log, self._crew, watched=False, eager=True, drives=drive, sink=sink)
        self._run = run
        task = run.start(begin)
        await asyncio.wait([task, run.accepted], return_when=asyncio.FIRST_COMPLETED)
        if not run.accepted.done():
            task.result()  # it was refused
        return task

    async def load(self) -> None:
        """Read the session from the store, so that `state` and `requests` show what other processes did."""
        if self._running() is None:
            await self._log.refresh()

    async def changed(self) -> None:
        """Return once another process has moved the session; `state` and `requests` then show what it did."""
        await self._log.store.wait(self.session_id, after=self._log.length)
        await self.load()

    @property
    def toolkit(self) -> Toolkit:
        """The tools it works with."""
        return self._crew.toolkit

    @property
    def length(self) -> int:
        """How many entries of the session's log are in `state`."""
        return self._log.length

    @property
    def state(self) -> AgentState:
        """The session as a value; what its `model_dump_json` gives can rebuild the agent elsewhere."""
        return state_of(self._log.session)

    @property
    def reply_id(self) -> str | None:
        """The reply under way, or the last one."""
        reply = self._log.session.reply
        return reply.id if reply else None

    def requests(self) -> list[Request]:
        """What waits for somebody now."""
        return requests_of(self._log.session, self._intake.schema_of)

    async def add_rule(self, rule: PermissionRule, *, by: str = "") -> None:
        """Add a rule to the session. Raises InvalidRule if it can never match its tool."""
        self._intake.check_rule(self._log.session, rule)
        await self._note(RuleAdded(at=now(), rule=as_rule(rule), by=by))

    async def remove_rule(self, rule: PermissionRule, *, by: str = "") -> None:
        """Revoke a rule of the session. Raises WrongMoment if it has no such rule."""
        await self._note(RuleRemoved(at=now(), rule=as_rule(rule), by=by))

    async def set_mode(self, mode: str, *, by: str = "") -> None:
        """Change the session's permission mode."""
        from sayso.permission.context import PermissionMode

        await self._note(ModeSet(at=now(), mode=PermissionMode(mode).value, by=by))

    async def _note(self, fact: Fact) -> None:
        if self._running() is None:
            await self._log.refresh()
        self._log.accept(fact)
        await self._log.commit()

    # -- one input at a time ---------------------------------------------------------------------------

    def _begin(self, inputs: Inputs, *, watched: bool, by: str, via: str) -> Run:
        begin = self._entry(inputs, by, via)
        run = Run(self._log, self._crew, watched=watched)
        self._run = run
        run.start(begin)
        return run

    def _running(self) -> Run | None:
        return self._run if self._run is not None and not self._run.over else None

    async def _join(self, running: Run, inputs: Inputs, by: str, via: str) -> None:
        """An input while another is being taken: an interrupt stops it; an answer that a neighbour of a running
        call waits for is taken into it, and its events are seen there; anything else is a conflict."""
        if isinstance(inputs, UserInterruptEvent):
            reply = self._log.session.reply
            if reply is not None and reply.ended is None and inputs.reply_id != reply.id:
                raise StaleAnswer(f"the interrupt is for reply {inputs.reply_id!r}, but reply {reply.id!r} is running")
            await running.stop(by or "person")
            return
        if not isinstance(inputs, UserConfirmResultEvent | ExternalExecutionResultEvent):
            raise Conflict(f"session {self.session_id!r} is taking another input; wait for it, or interrupt it")
        self._take_answers(running, inputs, by, via)
        await running.commit()
        running.nudge()
        await running.finish()

    def _entry(self, inputs: Inputs, by: str, via: str) -> _Begin:
        """What to do first with this input."""
        match inputs:
            case None:
                return self._go_on
            case UserConfirmResultEvent() | ExternalExecutionResultEvent():
                return lambda run: self._answer(run, inputs, by, via)
            case UserInterruptEvent():
                return lambda run: self._stop_parked(run, inputs, by)
            case _:
                messages = messages_in(inputs)
                return lambda run: self._hear(run, messages)

    async def _go_on(self, run: Run) -> None:
        await self._log.refresh()
        reply = self._log.session.reply
        run.was_idle = (reply is None or reply.ended is not None) and not wants(self._log.session)
        if run.emit is not None:
            for event in request_events(self._log.session):
                run.emit(event)

    async def _answer(self, run: Run, event: Answers, by: str, via: str) -> None:
        await self._log.refresh()
        self._take_answers(run, event, by, via)

    def _take_answers(self, run: Run, event: Answers, by: str, via: str) -> None:
        for fact in self._intake.facts(self._log.session, event, by, via):
            run.take(fact)

    async def _stop_parked(self, run: Run, event: UserInterruptEvent, by: str) -> None:
        await self._log.refresh()
        reply = self._log.session.reply
        if reply is None or reply.ended is not None:
            run.was_idle = True
            return
        if event.reply_id != reply.id:
            raise StaleAnswer(
                f"the interrupt is for reply {event.reply_id!r}, but reply {reply.id!r} is the current one"
            )
        run.take(ReplyEnded(at=now(), reply_id=reply.id, reason="interrupted", by=by or "person"))

    async def _hear(self, run: Run, messages: list[Msg]) -> None:
        await self._log.refresh()
        session = self._log.session
        reply = session.reply
        if reply is not None and reply.ended is None:
            match self.on_message_while_parked:
                case "refuse":
                    raise Parked(what_is_owed(session))
                case "queue":
                    for message in messages:
                        run.take(MessageQueued(at=now(), message=as_said(message)))
                    return
                case "supersede":
                    why = "Superseded by a new message before this call ran."
                    run.take(ReplyEnded(at=now(), reply_id=reply.id, reason="interrupted", by="person", why=why))
        run.take(
            ReplyStarted(
                at=now(),
                reply_id=new_id(),
                name=self.name,
                prompts=tuple(as_said(m) for m in messages),
                max_iters=self._crew.max_iters,
                trace=telemetry.begun(self.name, self.session_id),
            )
        )

    # -- what reply gives back --------------------------------------------------------------------------

    def _said(self) -> Msg:
        session = self._log.session
        reply = session.reply
        if reply is None:
            return AssistantMsg(name=self.name, content="")
        if reply.ended is not None:
            return self._log.fold.past(session.history)[-1]
        message = open_message(reply)
        if is_parked(session):
            message.content.append(HintBlock(hint=what_is_owed(session), source="sayso"))
        return message

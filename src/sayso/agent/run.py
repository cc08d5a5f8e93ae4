"""The loop: do what the machine wants, bring back what happened, stop when only the outside can go on.

One `Run` drives one session from an input until the reply parks or ends. There is no resume beside it: an answer, a
crash and a first message come in the same way. It runs as a task of its own, so that whoever watches may leave, and
hands its events over in order.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from sayso import telemetry
from sayso.agent.crew import Crew
from sayso.agent.doubt import lost_calls, raise_doubt, started_by
from sayso.agent.log import SessionLog
from sayso.agent.model_call import ask_model
from sayso.agent.others import Listening
from sayso.agent.runner import ProcessRunner
from sayso.agent.tool_call import run_call
from sayso.errors import Conflict, LockLost, ModelError, Refused
from sayso.event import AgentEvent
from sayso.ids import new_id, now
from sayso.reply.digest import digest_of, question_digest
from sayso.reply.effect import Await, CallModel, Effect, JudgeCall, RunTool, SettleDoubt, StartQueued
from sayso.reply.fact import (
    CallJudged,
    CallSubmitted,
    DoubtRaised,
    DoubtSettled,
    Fact,
    ReplyEnded,
    ReplyStarted,
    ToolReturned,
    ToolStarted,
)
from sayso.reply.machine import wants
from sayso.reply.part import Asked, Call
from sayso.reply.state import Session
from sayso.reply.watch import events_of, request_events
from sayso.tool.toolkit import definition_digest

__all__ = ["Run"]


class Run:
    """One drive of a session.

    watched: whether events are wanted; without a watcher none are made. sink: who gets them instead of `events`.
    eager: write the input before the model is asked, for somebody who waits to hear that it was accepted; `accepted`
    is done when it is written. drives: False only writes the input, for another process to go on with.
    """

    def __init__(
        self,
        log: SessionLog,
        crew: Crew,
        *,
        watched: bool,
        eager: bool = False,
        drives: bool = True,
        sink: Callable[[AgentEvent], None] | None = None,
    ) -> None:
        self.log = log
        self.crew = crew
        self.eager = eager
        self.drives = drives
        self.emit: Callable[[AgentEvent], None] | None = sink or (self._emit if watched else None)
        self._events: list[AgentEvent] = []
        self._held: list[AgentEvent] = []  # shown only after what they say is written
        self._news: asyncio.Future[None] | None = None
        self._runner: ProcessRunner | None = None
        self._task: asyncio.Task[None] | None = None
        self._asked: set[str] = set()
        self._tools: set[asyncio.Task[None]] = set()  # tools that run beside each other
        self._nudged: asyncio.Future[None] | None = None
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.interrupted_by: str | None = None
        self._ended_elsewhere = False  # another process interrupted or replaced the reply
        self.was_idle = False  # the input found nothing to do
        self.over = False  # nothing more will be accepted or written by it

    # -- from outside --------------------------------------------------------------------------------

    def start(self, begin: Callable[["Run"], Awaitable[None]]) -> "asyncio.Task[None]":
        """Take the input with `begin`, then drive."""
        self._task = asyncio.create_task(self._whole(begin))
        self._task.add_done_callback(lambda _: self._wake())
        return self._task

    @property
    def task(self) -> "asyncio.Task[None]":
        """The task that drives; only after `start`."""
        if self._task is None:
            raise RuntimeError("the run was not started")
        return self._task

    async def events(self) -> AsyncIterator[AgentEvent]:
        """The events in order, until the run is over; then its error, if it has one.

        Leaving early, or being cancelled, interrupts the reply, and waits until that is recorded.
        """
        task = self._task
        if task is None:
            return
        try:
            while True:
                while self._events:
                    batch, self._events = self._events, []
                    for event in batch:
                        yield event
                if task.done():
                    break
                self._news = asyncio.get_running_loop().create_future()
                await self._news
        finally:
            if not task.done():
                await self.stop("the watcher left")
        task.result()

    async def finish(self) -> None:
        """Wait until the run is over; being cancelled interrupts the reply. Raises the run's error."""
        task = self._task
        if task is None:
            return
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            await self.stop("cancelled")
            raise
        task.result()

    async def stop(self, by: str) -> None:
        """Interrupt the reply: tools are asked to stop, every open call gets its result, and that is recorded."""
        if self._task is not None and not self._task.done():
            self.interrupted_by = by
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.wait([self._task]))

    def _emit(self, event: AgentEvent) -> None:
        self._events.append(event)
        if self._news is not None:
            self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
        self._news = None

    # -- the loop --------------------------------------------------------------------------------------

    async def _whole(self, begin: Callable[["Run"], Awaitable[None]]) -> None:
        try:
            self._runner = await self.crew.runner() if self.drives else None
            self.log.runner_id = self._runner.id if self._runner is not None else None
            await begin(self)
            await (self._drive() if self.drives else self.commit())
        except asyncio.CancelledError:
            if self.interrupted_by is not None:
                return await self._close_interrupted()
            with contextlib.suppress(Conflict):  # somebody else drives it now
                await self.log.commit()  # what the tools said when they were stopped; the reply itself can go on later
            if not self._ended_elsewhere:
                raise
        finally:
            self.over = True
            await self._leave_nothing_running()

    async def _leave_nothing_running(self) -> None:
        """A call that was started here, is not run here any more and has no result: only a lost lock tells others."""
        runner = self._runner
        if runner is None or not runner.alive:
            return
        started = started_by(self.log.session, runner.id)
        if not all([await runner.still_runs(runner.id, self.log.session_id, call_id) for call_id in started]):
            await runner.abandon()

    async def _drive(self) -> None:
        for lost in await lost_calls(self.crew, self.log.session):
            self.take(lost)
        others = Listening(self.log, moved=self.nudge, ended=self._end_here)
        async with others.listening():
            await self._loop()
        self._show_held()
        if self.emit is not None and self._asked:
            for event in request_events(self.log.session, frozenset(self._asked)):
                self.emit(event)

    async def _loop(self) -> None:
        try:
            while True:
                todo = [e for e in wants(self.log.session) if type(e) is not Await]
                if todo:
                    await self._do(todo)
                elif self._tools:
                    await self._wait_for_news()
                elif self.log.is_written:
                    break
                else:
                    await self.commit()  # which may find that another runner moved the session on
        except BaseException:
            await self._stop_tools()
            raise

    def _end_here(self) -> None:
        self._ended_elsewhere = True
        if self._task is not None:
            self._task.cancel()

    async def _do(self, todo: list[Effect]) -> None:
        """One round: what must be decided first, then whatever may run runs together."""
        first = todo[0]
        if isinstance(first, CallModel):
            return await self._ask_model(self.log.session)
        if isinstance(first, StartQueued):
            return self._start_queued(len(first.messages))
        decided = False
        for effect in todo:
            session, fact = self.log.session, await self._decided(effect)
            if fact is None:
                continue
            decided = True
            if self.log.session is not session:
                return None  # a rule, a mode or a result came in meanwhile, which may change it: look again
            if isinstance(fact, DoubtRaised) or (isinstance(fact, CallJudged) and fact.verdict == "ask"):
                self._asked.add(fact.call_id)
            self.take(fact)
        if not decided:
            await self._run_tools([e.call for e in todo if isinstance(e, RunTool)])
        return None

    async def _decided(self, effect: Effect) -> CallJudged | DoubtSettled | DoubtRaised | None:
        """What is decided of a call as the session stands; None where there is nothing to decide."""
        match effect:
            case JudgeCall():
                return await self.crew.judge(self.log.session, effect)
            case SettleDoubt():
                return await raise_doubt(self.crew, effect.call)
            case _:
                return None

    def _start_queued(self, waiting: int) -> None:
        self.take(
            ReplyStarted(
                at=now(),
                reply_id=new_id(),
                name=self.crew.name,
                prompts=(),
                max_iters=self.crew.max_iters,
                from_queue=waiting,
                trace=telemetry.begun(self.crew.name, self.log.session_id),
            )
        )

    def take(self, fact: Fact) -> None:
        """Accept one fact, and show it."""
        before, fact, after = self.log.accept(fact)
        if self.emit is not None:
            ends = after.reply is not None and after.reply.ended is not None
            for event in events_of(before, fact, after):
                if ends:
                    self._held.append(event)
                else:
                    self.emit(event)

    async def commit(self, *, held: str | None = None) -> None:
        """Write what is not written, then show what had to wait for that."""
        await self.log.commit(held=held)
        if not self.accepted.done():
            self.accepted.set_result(None)
        self._show_held()

    def _show_held(self) -> None:
        if self.emit is not None:
            for event in self._held:
                self.emit(event)
            self._held.clear()

    # -- the model ---------------------------------------------------------------------------------------

    async def _ask_model(self, session: Session) -> None:
        reply = session.reply
        if reply is None:
            return None
        if self.eager and not self.accepted.done():
            await self.commit()
        self.log.commit_soon()
        try:
            with telemetry.chat(session, self.crew.model.model_name) as answered:
                answer = await ask_model(
                    self.crew.model,
                    self.crew.messages(session, self.log.fold.past(session.history)),
                    self.crew.schemas,
                    reply_id=reply.id,
                    taken=frozenset(p.id for p in reply.said if isinstance(p, Call)),
                    is_safe=self.crew.is_safe,
                    retry=self.crew.retry,
                    emit=self.emit,
                )
                answered(answer)
        except ModelError as exc:
            self.take(ReplyEnded(at=now(), reply_id=reply.id, reason="error", error=(exc.kind, str(exc)), why=str(exc)))
            return await self.commit()
        self.take(answer)
        return None

    # -- the tools ---------------------------------------------------------------------------------------

    async def _run_tools(self, calls: list[Call]) -> None:
        local: list[Call] = []
        runner = await self.crew.runner()
        for call in calls:
            tool = self.crew.toolkit.get(call.tool)
            if tool is not None and tool.is_external_tool:
                definition = definition_digest(tool)
                asked = Asked(
                    request_id=new_id(),
                    at=now(),
                    kind=tool.request_kind,
                    definition=definition,
                    digest=question_digest(call, definition),
                    expires_at=self.crew.judge.expiry(),
                )
                self.take(CallSubmitted(at=asked.at, call_id=call.id, asked=asked))
                self._asked.add(call.id)
            else:
                local.append(call)
        if not local:
            return None
        self.crew.recall(self.log.session, self.log.fold.past(self.log.session.history))
        for call in local:
            self.take(ToolStarted(at=now(), call_id=call.id, runner=runner.id, digest=digest_of(call)))
        runner.begin(self.log.session_id, [c.id for c in local])
        try:
            await self.commit(held=runner.id)
            if not runner.alive:
                # It was held as the starts were written, and is not any more: others find them in doubt.
                raise LockLost(f"runner {runner.id!r} lost its lock; it starts nothing any more")
        except BaseException:
            runner.end(self.log.session_id, [c.id for c in local])
            raise
        # A result that was written on top of what another runner did takes no start along.
        mine = set(started_by(self.log.session, runner.id))
        runner.end(self.log.session_id, [c.id for c in local if c.id not in mine])
        local = [c for c in local if c.id in mine]
        if len(local) == 1 and not self._tools and not any(type(e) is Await for e in wants(self.log.session)):
            return await self._run_one(runner, local[0])
        for call in local:
            self._tools.add(asyncio.create_task(self._run_one(runner, call)))
        return None

    async def _run_one(self, runner: ProcessRunner, call: Call) -> None:
        reply = self.log.session.reply
        reply_id = reply.id if reply else ""
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        try:
            with telemetry.tool(self.log.session, call) as told:
                returned = await run_call(self.crew.toolkit, call, reply_id=reply_id, emit=self.emit)
                told(returned.result)
            self._returned(returned)
        finally:
            runner.end(self.log.session_id, [call.id])
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError  # the tool was stopped and said so; now the reply ends

    async def _wait_for_news(self) -> None:
        """Until a tool came back, or an answer came in for a neighbour of those that run."""
        self._nudged = asyncio.get_running_loop().create_future()
        await asyncio.wait([*self._tools, self._nudged], return_when=asyncio.FIRST_COMPLETED)
        done = {t for t in self._tools if t.done()}
        self._tools -= done
        for task in done:
            task.result()

    def nudge(self) -> None:
        """Facts were accepted beside the loop; look again at what is wanted."""
        if self._nudged is not None and not self._nudged.done():
            self._nudged.set_result(None)

    async def _stop_tools(self) -> None:
        for task in self._tools:
            task.cancel()
        if self._tools:
            await asyncio.wait(self._tools)
            self._tools.clear()

    def _returned(self, fact: ToolReturned) -> None:
        with contextlib.suppress(Refused):  # another process gave the call its result, or ended the reply
            self.take(fact)
            self.log.commit_soon()

    async def _close_interrupted(self) -> None:
        reply = self.log.session.reply
        if reply is None or reply.ended is not None:
            return
        by = self.interrupted_by or ""
        self.take(ReplyEnded(at=now(), reply_id=reply.id, reason="interrupted", by=by))
        await self.commit()

"""A crash before and after every write of every scenario: nothing is lost, nothing runs twice unasked."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sayso.agent import Agent
from sayso.agent.runner import runner_of
from sayso.errors import LockLost
from sayso.event import (
    AgentEvent,
    ExternalExecutionResultEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
)
from sayso.message import Msg, ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.model.base import ModelStream, ToolSchema
from sayso.permission import PermissionBehavior, PermissionContext, PermissionRule
from sayso.store import Entry, MemoryStore
from sayso.testing import Crash, CrashingStore
from sayso.tool import FunctionTool
from worlds import Bank, Outside, agent_with, answer, call, results_in

PAYS = PermissionContext(allow_rules={"pay": [PermissionRule(tool_name="pay", behavior=PermissionBehavior.ALLOW)]})


class Script:
    """What the model says, by how many results it has seen: it says the same again when it is asked again."""

    model_name = "script"

    def __init__(self, *rounds: Any) -> None:
        self.rounds = rounds

    async def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
        from sayso.message import TextBlock
        from sayso.model.base import ModelResponse

        seen = sum(isinstance(b, ToolResultBlock) for m in messages for b in m.content)
        said = self.rounds[min(seen, len(self.rounds) - 1)]
        yield ModelResponse([TextBlock(text=said)] if isinstance(said, str) else list(said))


def one_payment(bank: Bank) -> tuple[Any, list[Any]]:
    return Script([call("c1", to="ann")], "done"), [bank.tool()]


def two_at_once(bank: Bank) -> tuple[Any, list[Any]]:
    calls = [call("c1", to="ann"), call("c2", to="bob")]
    return Script(calls, calls, "done"), [bank.tool()]


def one_after_the_other(bank: Bank) -> tuple[Any, list[Any]]:
    calls = [call("c1", to="ann"), call("c2", to="bob")]
    return Script(calls, calls, "done"), [bank.tool(is_concurrency_safe=False)]


def pay_then_deploy(bank: Bank) -> tuple[Any, list[Any]]:
    return Script([call("c1", to="ann")], [call("c2", tool="deploy", to="prod")], "done"), [bank.tool(), Outside()]


SCENARIOS = [one_payment, two_at_once, one_after_the_other, pay_then_deploy]
WRITES = 6  # more than any scenario makes


async def until_it_ends(scenario: Callable[[Bank], tuple[Any, list[Any]]], crash_at: int, after: bool) -> None:
    """Processes one after the other, the first of which crashes; a person answers whatever is asked, always yes."""
    bank, inner, doubts, crashed = Bank(), MemoryStore(), 0, False
    model, tools = scenario(bank)
    for attempt in range(12):
        store = CrashingStore(inner, crash_at if attempt == 0 else None, after=after)
        agent = Agent("bursar", "", model, tools, store=store, session_id="s", max_iters=9)
        try:
            await agent.load()
            state = agent.state
            if state.context and state.context[-1].finished_reason is not None:
                break
            inputs: Any = "pay" if not state.context else None
            while (request := await last_request(agent, inputs)) is not None:
                doubts += len(request.tool_calls) if request.metadata.get("in_doubt") else 0
                inputs = reply_to(request)
        except Crash:
            crashed = True
    assert agent.state.context[-1].finished_reason == "completed"
    calls = [b.id for m in agent.state.context for b in m.content if isinstance(b, ToolCallBlock)]
    assert sorted(r[0] for r in results_in(agent)) == sorted(calls)
    assert all(state == "success" for _, state, _ in results_in(agent))
    assert len(bank.paid) <= len(set(bank.paid)) + doubts, "paid twice without a person's word"
    assert set(bank.paid) == {
        f"{name}:1" for name in (("ann", "bob") if "c2" in calls and len(tools) == 1 else ("ann",))
    }
    assert crashed or crash_at > 3


async def last_request(agent: Agent, inputs: Any) -> Any:
    last: AgentEvent | None = None
    async for event in agent.reply_stream(inputs):
        last = event
    return last if isinstance(last, RequireUserConfirmEvent | RequireExternalExecutionEvent) else None


def reply_to(request: Any) -> Any:
    if isinstance(request, RequireUserConfirmEvent):
        return answer(request)
    return ExternalExecutionResultEvent(
        reply_id=request.reply_id,
        execution_results=[
            ToolResultBlock(id=c.id, name=c.name, output="deployed", state=ToolResultState.SUCCESS)
            for c in request.tool_calls
        ],
    )


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
@pytest.mark.parametrize(("crash_at", "after"), list(itertools.product(range(1, WRITES + 1), (False, True))))
def test_a_crash_at_any_write_loses_nothing_and_repeats_nothing_unasked(
    scenario: Callable[[Bank], tuple[Any, list[Any]]], crash_at: int, after: bool
) -> None:
    asyncio.run(until_it_ends(scenario, crash_at, after))


def crashed_while_paying(tool: FunctionTool, bank: Bank) -> Agent:
    """An agent whose predecessor died after it had started to pay."""

    async def world() -> Agent:
        inner = MemoryStore()
        model = Script([call("c1", to="ann")], "done")
        first = Agent("bursar", "", model, [tool], store=CrashingStore(inner, 3), session_id="s")
        request = await last_request(first, "pay")
        with pytest.raises(Crash):
            await first.reply(answer(request))
        assert bank.paid == ["ann:1"]
        return Agent("bursar", "", model, [tool], store=CrashingStore(inner, None), session_id="s")

    return asyncio.run(world())


def test_a_call_that_may_have_run_is_asked_again_and_the_request_says_so() -> None:
    bank = Bank()
    agent = crashed_while_paying(bank.tool(), bank)
    request = asyncio.run(last_request(agent, None))
    assert request.metadata["in_doubt"] is True
    assert "may have run" in request.metadata["reasons"]["c1"]
    assert agent.requests()[0].in_doubt
    assert bank.paid == ["ann:1"]


def test_no_to_a_call_in_doubt_leaves_it_and_says_interrupted() -> None:
    bank = Bank()
    agent = crashed_while_paying(bank.tool(), bank)
    request = asyncio.run(last_request(agent, None))
    asyncio.run(agent.reply(answer(request, False)))
    assert bank.paid == ["ann:1"]
    assert results_in(agent)[0][1] == "interrupted"


def test_a_person_can_say_what_came_of_a_call_in_doubt() -> None:
    bank = Bank()
    agent = crashed_while_paying(bank.tool(), bank)
    request = asyncio.run(last_request(agent, None))
    block = ToolResultBlock(id="c1", name="pay", output="the bank says: paid", state=ToolResultState.SUCCESS)
    asyncio.run(agent.reply(ExternalExecutionResultEvent(reply_id=request.reply_id, execution_results=[block])))
    assert results_in(agent) == [("c1", "success", "the bank says: paid")]


def test_an_idempotent_tool_runs_again_by_itself() -> None:
    bank = Bank()
    agent = crashed_while_paying(bank.tool(idempotent=True), bank)
    assert asyncio.run(agent.reply(None)).finished_reason == "completed"
    assert bank.paid == ["ann:1", "ann:1"]


@pytest.mark.parametrize(("found", "paid"), [("done", 1), ("not_done", 2)])
def test_a_tool_that_can_verify_settles_the_doubt_itself(found: Any, paid: int) -> None:
    from sayso.tool.base import Verified

    async def verify(to: str, amount: int = 1) -> Verified:
        assert (to, amount) == ("ann", 1)
        return Verified(outcome=found, result="the bank has it")

    bank = Bank()
    agent = crashed_while_paying(bank.tool(verify=verify), bank)
    assert asyncio.run(agent.reply(None)).finished_reason == "completed"
    assert len(bank.paid) == paid


def test_a_verify_that_fails_leaves_the_doubt_to_a_person_who_is_told() -> None:
    async def verify(to: str, amount: int = 1) -> bool:
        raise ConnectionError("the bank does not answer")

    bank = Bank()
    agent = crashed_while_paying(bank.tool(verify=verify), bank)
    request = asyncio.run(last_request(agent, None))
    assert "the bank does not answer" in request.metadata["reasons"]["c1"]
    assert bank.paid == ["ann:1"]


def test_two_runners_with_the_same_yes_pay_once() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()

        def process() -> Agent:
            return agent_with(["done"], [bank.tool()], store=store, session_id="s")

        first = agent_with([[call("c1", to="ann")]], [bank.tool()], store=store, session_id="s")
        request = await last_request(first, "pay")
        yes: UserConfirmResultEvent = answer(request)
        outcomes = await asyncio.gather(*(process().reply(yes) for _ in range(10)), return_exceptions=True)
        assert bank.paid == ["ann:1"]
        assert sorted(type(o).__name__ for o in outcomes).count("Msg") == 1
        assert {type(o).__name__ for o in outcomes} <= {"Msg", "Conflict", "NotWaiting"}

    asyncio.run(world())


def test_a_result_is_not_lost_when_another_runner_moved_the_session_meanwhile() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        started, go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> str:
            """Slow."""
            started.set()
            await go_on.wait()
            return "at last"

        calls = [call("c1", to="ann"), call("c2", tool="slow")]
        tools = [bank.tool(), FunctionTool(slow, is_read_only=True)]
        one = Agent("bursar", "", Script(calls, calls, "done"), tools, store=store, session_id="s")
        other = Agent("bursar", "", Script(calls, calls, "done"), tools, store=store, session_id="s")
        running = asyncio.create_task(one.reply("go"))
        await started.wait()
        await other.load()
        (request,) = other.requests()
        block = ToolCallBlock(id="c1", name="pay", input=request.input)
        from sayso.event import ConfirmResult

        yes = UserConfirmResultEvent(
            reply_id=request.reply_id, confirm_results=[ConfirmResult(confirmed=True, tool_call=block)]
        )
        await other.reply(yes)
        go_on.set()
        message = await running
        assert bank.paid == ["ann:1"]
        assert message.finished_reason == "completed"
        assert sorted(r[:2] for r in results_in(one)) == [("c1", "success"), ("c2", "success")]

    asyncio.run(world())


def test_a_start_that_a_conflict_dropped_is_not_run_though_a_result_was_kept() -> None:
    class Moved(MemoryStore):
        """Somebody changes the session's mode just before the second call's start is written."""

        mover: Agent | None = None

        async def append(self, session_id: str, facts: Sequence[bytes], **more: Any) -> tuple[Entry, ...]:
            kinds = b" ".join(facts)
            if self.mover is not None and b"ToolReturned" in kinds and b"ToolStarted" in kinds:
                mover, self.mover = self.mover, None
                await mover.load()
                await mover.set_mode("accept_edits")
            return await super().append(session_id, facts, **more)

    async def world() -> None:
        bank, store = Bank(), Moved()
        tools = [bank.tool(is_concurrency_safe=False)]
        calls = [call("c1", to="ann"), call("c2", to="bob")]
        agent = agent_with([calls, "done"], tools, store=store, session_id="s", policy=PAYS)
        store.mover = agent_with([], tools, store=store, session_id="s")
        message = await agent.reply("pay both")
        assert (bank.paid, message.finished_reason) == (["ann:1", "bob:1"], "completed")
        starts = [
            entry.fact for entry in await store.read("s") if b"ToolStarted" in entry.fact and b'"c2"' in entry.fact
        ]
        assert len(starts) == 1 and store.mover is None

    asyncio.run(world())


def test_a_runner_that_lost_its_lock_starts_nothing_and_a_new_one_does() -> None:
    class Cut(MemoryStore):
        """The first start finds the lock gone."""

        held = True

        async def append(self, session_id: str, facts: Sequence[bytes], **more: Any) -> tuple[Entry, ...]:
            if self.held and b"ToolStarted" in b" ".join(facts):
                self.held = False
                await (await runner_of(self)).abandon()
            return await super().append(session_id, facts, **more)

    async def world() -> None:
        bank, store = Bank(), Cut()
        script = Script([call("c1", to="ann")], "done")
        agent = Agent("bursar", "", script, [bank.tool()], store=store, session_id="s", policy=PAYS)
        with pytest.raises(LockLost, match="lost its lock"):
            await agent.reply("pay")
        assert bank.paid == []
        message = await agent.reply("pay")
        assert (bank.paid, message.finished_reason) == (["ann:1"], "completed")

    asyncio.run(world())

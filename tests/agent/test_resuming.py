"""What an answer does, and which answers are refused. Numbers are of the behaviours in the contract."""

import asyncio
from typing import Any

import pytest

from sayso.agent import Agent
from sayso.errors import InvalidAnswer, NotWaiting, Parked, Refused, StaleAnswer, UnknownCall
from sayso.event import (
    ConfirmResult,
    EventType,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from sayso.message import HintBlock, ToolCallBlock, ToolResultState
from sayso.permission import PermissionBehavior, PermissionRule
from sayso.state import AgentState
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool, Toolkit
from worlds import (
    Bank,
    Outside,
    agent_with,
    answer,
    asked_by,
    call,
    events_of,
    result,
    results_in,
    submitted_by,
)

DENY = PermissionRule(tool_name="pay", behavior=PermissionBehavior.DENY)


def test_a_yes_runs_the_call_once_and_the_reply_goes_on() -> None:  # 7
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "done"], [bank.tool()])
        message = await agent.reply(answer(await asked_by(agent)))
        assert bank.paid == ["ann:1"]
        assert message.finished_reason == "completed"
        assert message.get_text_content() == "done"

    asyncio.run(world())


def test_a_deny_rule_added_while_parked_beats_the_yes() -> None:  # 7
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "sorry"], [bank.tool()])
        event = await asked_by(agent)
        await agent.add_rule(DENY)
        await agent.reply(answer(event))
        assert bank.paid == []
        assert results_in(agent)[0][1] == "denied"

    asyncio.run(world())


def test_a_refusal_is_a_denied_result_with_the_reason_that_the_model_sees() -> None:  # 8
    async def world() -> None:
        bank = Bank()
        model = ScriptedModel([[call("c1", to="ann")], "understood"])
        agent = Agent("bursar", "", model, [bank.tool()])
        events = await events_of(agent, answer(await asked_by(agent), False, reason="ann was paid on Monday"))
        assert bank.paid == []
        assert results_in(agent)[0][1] == "denied"
        seen = model.requests[-1].messages[-1].model_dump_json()
        assert "ann was paid on Monday" in seen
        kinds = [e.type for e in events]
        first = kinds.index(EventType.TOOL_RESULT_START)
        assert kinds[first : first + 3] == [
            EventType.TOOL_RESULT_START,
            EventType.TOOL_RESULT_TEXT_DELTA,
            EventType.TOOL_RESULT_END,
        ]

    asyncio.run(world())


def test_an_edited_input_is_what_runs_and_the_history_shows_that_a_person_edited_it() -> None:  # 7
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann", amount=500)], "done"], [bank.tool()])
        await agent.reply(answer(await asked_by(agent), input='{"to": "ann", "amount": 5}'))
        assert bank.paid == ["ann:5"]
        said = agent.state.context[-1]
        assert said.get_content_blocks(ToolCallBlock)[0].input == '{"to": "ann", "amount": 5}'
        (hint,) = said.get_content_blocks(HintBlock)
        assert "500" in str(hint.hint)

    asyncio.run(world())


def test_an_edit_cannot_escape_a_deny_rule() -> None:  # 7
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "sorry"], [bank.tool()])
        event = await asked_by(agent)
        mallory = PermissionRule(tool_name="pay", rule_content='{"to": "mallory"}', behavior=PermissionBehavior.DENY)
        await agent.add_rule(mallory)
        await agent.reply(answer(event, input='{"to": "mallory"}'))
        assert bank.paid == []
        assert results_in(agent)[0][1] == "denied"

    asyncio.run(world())


async def refused(agent: Agent, inputs: Any, error: type[Refused]) -> None:
    before = agent.state.model_dump_json()
    with pytest.raises(error):
        await agent.reply(inputs)
    assert agent.state.model_dump_json() == before


def test_answers_that_do_not_fit_are_refused_by_a_typed_error_and_change_nothing() -> None:  # 6, 7
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "done"], [bank.tool()])
        event = await asked_by(agent)
        block = event.tool_calls[0]
        yes = ConfirmResult(confirmed=True, tool_call=block)
        no = ConfirmResult(confirmed=False, tool_call=block)

        def with_calls(*results: ConfirmResult, reply_id: str = event.reply_id) -> UserConfirmResultEvent:
            return UserConfirmResultEvent(reply_id=reply_id, confirm_results=list(results))

        other = ConfirmResult(confirmed=True, tool_call=block.model_copy(update={"id": "c9"}))
        renamed = ConfirmResult(confirmed=True, tool_call=block.model_copy(update={"name": "Bash"}))
        bad_edit = ConfirmResult(confirmed=True, tool_call=block.model_copy(update={"input": '{"to": 7'}))
        bash = PermissionRule(tool_name="Bash", behavior=PermissionBehavior.ALLOW)
        foreign = ConfirmResult(confirmed=True, tool_call=block, rules=[bash])
        await refused(agent, with_calls(yes, reply_id="another"), StaleAnswer)
        await refused(agent, with_calls(other), UnknownCall)
        await refused(agent, with_calls(yes, yes), InvalidAnswer)
        await refused(agent, with_calls(yes, no), InvalidAnswer)
        await refused(agent, with_calls(yes, other), UnknownCall)
        await refused(agent, with_calls(), InvalidAnswer)
        await refused(agent, with_calls(renamed), InvalidAnswer)
        await refused(agent, with_calls(bad_edit), InvalidAnswer)
        await refused(agent, with_calls(foreign), InvalidAnswer)
        assert bank.paid == []
        await agent.reply(with_calls(yes))
        assert bank.paid == ["ann:1"]
        with pytest.raises(NotWaiting):
            await agent.reply(with_calls(yes))

    asyncio.run(world())


def test_a_result_of_one_kind_does_not_answer_a_request_of_another() -> None:  # 6
    async def world() -> None:
        agent = agent_with([[call("c1", to="ann")]], [Bank().tool()])
        event = await asked_by(agent)
        from sayso.event import ExternalExecutionResultEvent
        from sayso.message import ToolResultBlock

        block = ToolResultBlock(id="c1", name="pay", output="paid", state=ToolResultState.SUCCESS)
        wrong = ExternalExecutionResultEvent(reply_id=event.reply_id, execution_results=[block])
        await refused(agent, wrong, InvalidAnswer)

    asyncio.run(world())


def test_accepted_rules_persist_with_the_session_and_later_calls_run_without_a_prompt() -> None:  # 9
    async def world() -> None:
        bank = Bank()
        turns = [[call("c1", to="ann")], "done", [call("c2", to="ann")], "done again"]
        agent = agent_with(turns, [bank.tool()])
        event = await asked_by(agent)
        rules = event.tool_calls[0].suggested_rules
        assert rules
        await agent.reply(answer(event, rules=[*rules, *rules]))
        kept = agent.state.permission_context.allow_rules["pay"]
        assert len(kept) == len(rules)
        message = await agent.reply("again")
        assert message.finished_reason == "completed"
        assert bank.paid == ["ann:1", "ann:1"]

    asyncio.run(world())


def test_a_suggested_rule_makes_this_very_call_pass_and_nothing_wider() -> None:  # 9
    async def world() -> None:
        bank = Bank()
        turns = [[call("c1", to="ann")], "done", [call("c2", to="bob")], "done again"]
        agent = agent_with(turns, [bank.tool()])
        event = await asked_by(agent)
        narrowest = event.tool_calls[0].suggested_rules[0]
        await agent.reply(answer(event, rules=[narrowest]))
        message = await agent.reply("and bob")
        assert message.finished_reason is None
        assert bank.paid == ["ann:1"]

    asyncio.run(world())


def test_what_is_answered_proceeds_the_rest_stays_and_no_request_is_sent_again() -> None:  # 10
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann"), call("c2", to="bob")], "done"], [bank.tool()])
        event = await asked_by(agent)
        assert [c.id for c in event.tool_calls] == ["c1", "c2"]
        later = await events_of(agent, answer(event, only="c2"))
        assert bank.paid == ["bob:1"]
        assert not any(isinstance(e, RequireUserConfirmEvent) for e in later)
        assert [r.call_id for r in agent.requests()] == ["c1"]
        message = await agent.reply(answer(event, only="c1"))
        assert bank.paid == ["bob:1", "ann:1"]
        assert message.finished_reason == "completed"

    asyncio.run(world())


def test_refusing_one_does_not_remove_the_approved_one() -> None:
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann"), call("c2", to="bob")], "done"], [bank.tool()])
        event = await asked_by(agent)
        await agent.reply(answer(event, False, only="c1"))
        await agent.reply(answer(event, only="c2"))
        assert bank.paid == ["bob:1"]
        assert [r[:2] for r in results_in(agent)] == [("c1", "denied"), ("c2", "success")]

    asyncio.run(world())


def test_an_external_result_resumes_the_reply() -> None:  # 11
    async def world() -> None:
        agent = agent_with([[call("c1", tool="deploy", to="prod")], "it is live"], [Outside()])
        message = await agent.reply(result(await submitted_by(agent)))
        assert message.get_text_content() == "it is live"
        assert results_in(agent) == [("c1", "success", "deployed")]

    asyncio.run(world())


def test_an_external_result_must_be_final_and_can_be_sent_again_when_it_was_not() -> None:  # 11
    async def world() -> None:
        agent = agent_with([[call("c1", tool="deploy", to="prod")], "it is live"], [Outside()])
        event = await submitted_by(agent)
        await refused(agent, result(event, state=ToolResultState.RUNNING), InvalidAnswer)
        assert (await agent.reply(result(event))).finished_reason == "completed"

    asyncio.run(world())


def test_metadata_of_an_external_result_must_fit_the_tools_schema() -> None:  # 11
    class Measured(Outside):
        metadata_schema = {
            "type": "object",
            "properties": {"seconds": {"type": "number"}},
            "required": ["seconds"],
        }

    async def world() -> None:
        agent = agent_with([[call("c1", tool="deploy", to="prod")], "it is live"], [Measured()])
        event = await submitted_by(agent)
        await refused(agent, result(event, metadata={"seconds": "many"}), InvalidAnswer)
        assert (await agent.reply(result(event, metadata={"seconds": 3}))).finished_reason == "completed"

    asyncio.run(world())


def test_a_long_external_result_is_bounded() -> None:  # 11
    async def world() -> None:
        agent = agent_with([[call("c1", tool="deploy", to="prod")], "ok"], [Outside()])
        await agent.reply(result(await submitted_by(agent), text="x" * 200_000))
        assert len(results_in(agent)[0][2]) < 50_000

    asyncio.run(world())


def test_an_interrupt_while_parked_closes_every_open_call() -> None:  # 13
    async def world() -> None:
        agent = agent_with([[call("c1", to="ann"), call("c2", to="bob")]], [Bank().tool()])
        event = await asked_by(agent)
        events = await events_of(agent, UserInterruptEvent(reply_id=event.reply_id))
        assert [r[:2] for r in results_in(agent)] == [("c1", "interrupted"), ("c2", "interrupted")]
        assert events[-1].type is EventType.REPLY_END
        assert agent.state.context[-1].finished_reason == "interrupted"

    asyncio.run(world())


def test_an_interrupt_while_idle_does_nothing_and_says_so() -> None:  # 13
    agent = agent_with(["hello"], [])
    message = asyncio.run(agent.reply(UserInterruptEvent(reply_id="none")))
    assert "nothing to interrupt" in message.get_text_content()


def test_an_interrupt_while_running_stops_the_tool_and_closes_the_reply() -> None:  # 13
    async def world() -> None:
        started, stopped = asyncio.Event(), asyncio.Event()

        async def dig() -> str:
            """Dig."""
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            return "dug"

        agent = agent_with([[call("c1", tool="dig")]], [FunctionTool(dig, is_read_only=True)])
        running = asyncio.create_task(agent.reply("dig"))
        await started.wait()
        reply_id = agent.state.reply_id
        assert reply_id is not None
        await agent.reply(UserInterruptEvent(reply_id=reply_id))
        message = await running
        assert stopped.is_set()
        assert message.finished_reason == "interrupted"
        ((_, state, words),) = results_in(agent)
        assert state == "interrupted"
        assert "may have completed" in words

    asyncio.run(world())


def test_cancelling_the_caller_closes_the_reply_in_the_same_way() -> None:  # 13, 15
    async def world() -> None:
        started = asyncio.Event()

        async def dig() -> str:
            """Dig."""
            started.set()
            await asyncio.Event().wait()
            return "dug"

        agent = agent_with([[call("c1", tool="dig")], "next"], [FunctionTool(dig, is_read_only=True)])
        running = asyncio.create_task(agent.reply("dig"))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert agent.state.context[-1].finished_reason == "interrupted"
        assert (await agent.reply("go on")).get_text_content() == "next"

    asyncio.run(world())


@pytest.mark.parametrize("policy", ["refuse", "supersede", "queue"])
def test_a_message_while_parked_is_never_an_answer(policy: str) -> None:  # 14
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "first", "second"], [bank.tool()], on_message_while_parked=policy)
        event = await asked_by(agent)
        if policy == "refuse":
            await refused(agent, "yes", Parked)
            await agent.reply(answer(event))
            assert bank.paid == ["ann:1"]
        elif policy == "supersede":
            message = await agent.reply("never mind")
            assert (bank.paid, message.get_text_content()) == ([], "first")
            assert results_in(agent)[0][:2] == ("c1", "interrupted")
        else:
            assert (await agent.reply("and then?")).finished_reason is None
            message = await agent.reply(answer(event))
            assert (bank.paid, message.get_text_content()) == (["ann:1"], "second")

    asyncio.run(world())


def test_restored_from_json_in_another_agent_the_same_answer_is_accepted() -> None:  # 18
    async def world() -> None:
        bank = Bank()
        first = agent_with([[call("c1", to="ann")]], [bank.tool()])
        event = await asked_by(first)
        saved = first.state.model_dump_json()
        second = agent_with(["done"], [bank.tool()], state=AgentState.model_validate_json(saved))
        assert [r.call_id for r in second.requests()] == ["c1"]
        assert second.state.model_dump_json() == saved
        message = await second.reply(answer(event))
        assert bank.paid == ["ann:1"]
        assert message.get_text_content() == "done"

    asyncio.run(world())


def test_a_tool_whose_schema_changed_while_parked_asks_again_and_says_why() -> None:  # 18
    async def world() -> None:
        bank = Bank()
        first = agent_with([[call("c1", to="ann")]], [bank.tool()])
        event = await asked_by(first)
        state = AgentState.model_validate_json(first.state.model_dump_json())

        def pay(to: str, amount: int = 1, currency: str = "EUR") -> str:
            """Pay somebody, in a currency."""
            bank.paid.append(f"{to}:{amount} {currency}")
            return "paid"

        second = agent_with(["done"], [FunctionTool(pay)], state=state)
        again = await asked_by(second, answer(event))
        assert bank.paid == []
        assert "changed" in again.metadata["reasons"]["c1"]
        await refused(second, answer(event), StaleAnswer)
        await second.reply(answer(again))
        assert bank.paid == ["ann:1 EUR"]

    asyncio.run(world())


def test_a_tool_that_is_gone_is_an_error_result_never_a_crash_loop() -> None:  # 18
    async def world() -> None:
        first = agent_with([[call("c1", to="ann")]], [Bank().tool()])
        event = await asked_by(first)
        state = AgentState.model_validate_json(first.state.model_dump_json())
        second = agent_with(["sorry"], [], state=state)
        assert (await second.reply(answer(event))).get_text_content() == "sorry"
        assert results_in(second)[0][1] == "error"

    asyncio.run(world())


def test_a_call_at_the_end_of_a_handmade_history_is_not_approved_by_its_lack_of_a_result() -> None:
    async def world() -> None:
        from sayso.message import AssistantMsg, UserMsg

        bank = Bank()
        context = [UserMsg(content="pay"), AssistantMsg(content=[call("c1", to="ann")])]
        agent = agent_with(["hello"], [bank.tool()], state=AgentState(context=context))
        await agent.reply("hi")
        assert bank.paid == []
        assert results_in(agent)[0][:2] == ("c1", "interrupted")

    asyncio.run(world())


def test_the_history_sent_to_a_model_has_exactly_one_result_for_every_call() -> None:  # 15
    async def world() -> None:
        model = ScriptedModel([[call("c1", to="ann"), call("c2", tool="nope"), call("c3", to="bob")], "ok", "hi"])
        agent = Agent("bursar", "", model, Toolkit([Bank().tool()]))
        event = await asked_by(agent)
        await agent.reply(UserInterruptEvent(reply_id=event.reply_id))
        await agent.reply("hello?")
        from sayso.message import ToolResultBlock

        blocks = [b for m in model.requests[-1].messages for b in m.content]
        calls = [b.id for b in blocks if isinstance(b, ToolCallBlock)]
        results = [b.id for b in blocks if isinstance(b, ToolResultBlock)]
        assert sorted(calls) == sorted(results) == ["c1", "c2", "c3"]

    asyncio.run(world())


def test_a_second_unrelated_turn_never_runs_an_approved_call_again() -> None:
    async def world() -> None:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann")], "done", "hello"], [bank.tool()])
        await agent.reply(answer(await asked_by(agent)))
        await agent.reply("hi")
        assert bank.paid == ["ann:1"]

    asyncio.run(world())


def test_who_answered_is_in_the_refusal_of_a_late_answer() -> None:
    async def world() -> None:
        bank = Bank()
        tool = bank.tool()
        agent = agent_with([[call("c1", to="ann"), call("c2", to="bob")], "done"], [tool])
        event = await asked_by(agent)
        await agent.reply(answer(event, only="c1"), by="ann", via="web")
        with pytest.raises(NotWaiting, match="approved by ann via web"):
            await agent.reply(answer(event, False, only="c1"))

    asyncio.run(world())

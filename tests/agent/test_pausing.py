"""When a reply pauses, and what it says then. Numbers are of the behaviours in the contract."""

import asyncio

from sayso.event import (
    EventType,
    RequireUserConfirmEvent,
    ToolResultStartEvent,
)
from sayso.message import ToolCallBlock, ToolCallState
from sayso.permission import PermissionBehavior, PermissionContext, PermissionRule
from sayso.state import AgentState
from worlds import Bank, Outside, agent_with, answer, asked_by, call, events_of, results_in, submitted_by


def test_an_unknown_tool_is_an_error_result_that_names_the_tools_there_are() -> None:  # 1
    agent = agent_with([[call("c1", tool="fly")], "sorry"], [Bank().tool()])
    asyncio.run(agent.reply("go"))
    ((call_id, state, words),) = results_in(agent)
    assert (call_id, state) == ("c1", "error")
    assert "fly" in words
    assert "pay" in words


def test_cut_off_arguments_are_an_error_result_never_completed_by_guessing() -> None:  # 1
    bank = Bank()
    agent = agent_with([[ToolCallBlock(id="c1", name="pay", input='{"to": "ann", "am')], "sorry"], [bank.tool()])
    asyncio.run(agent.reply("go"))
    assert [r[:2] for r in results_in(agent)] == [("c1", "error")]
    assert bank.paid == []


def test_arguments_that_do_not_fit_the_schema_are_an_error_result_without_a_prompt() -> None:  # 1
    bank = Bank()
    agent = agent_with([[call("c1", to="ann", amount="lots")], "sorry"], [bank.tool()])
    events = asyncio.run(events_of(agent, "go"))
    assert not any(isinstance(e, RequireUserConfirmEvent) for e in events)
    assert results_in(agent)[0][1] == "error"
    assert "amount" in results_in(agent)[0][2]


def test_a_call_that_asks_is_the_last_event_and_the_reply_has_not_ended() -> None:  # 2, 5
    agent = agent_with([[call("c1", to="ann")]], [Bank().tool()])
    events = asyncio.run(events_of(agent, "go"))
    last = events[-1]
    assert isinstance(last, RequireUserConfirmEvent)
    assert [(c.id, c.name, c.state) for c in last.tool_calls] == [("c1", "pay", ToolCallState.ASKING)]
    assert EventType.REPLY_END not in {e.type for e in events}


def test_reply_gives_back_a_waiting_message_without_a_finished_reason() -> None:  # 5
    agent = agent_with([[call("c1", to="ann")]], [Bank().tool()])
    message = asyncio.run(agent.reply("go"))
    assert message.finished_reason is None
    assert message.get_content_blocks(ToolCallBlock)[0].state is ToolCallState.ASKING


def test_suggested_rules_are_stored_on_the_block() -> None:  # 2
    agent = agent_with([[call("c1", to="ann")]], [Bank().tool()])
    event = asyncio.run(asked_by(agent))
    block = agent.state.context[-1].get_content_blocks(ToolCallBlock)[0]
    assert block.suggested_rules == event.tool_calls[0].suggested_rules


def test_an_external_tool_is_submitted_and_its_result_is_waited_for() -> None:  # 2
    agent = agent_with([[call("c1", tool="deploy", to="prod")]], [Outside()])
    events = asyncio.run(events_of(agent, "go"))
    assert any(isinstance(e, ToolResultStartEvent) and e.tool_call_id == "c1" for e in events)
    assert events[-1].type is EventType.REQUIRE_EXTERNAL_EXECUTION
    assert agent.state.context[-1].get_content_blocks(ToolCallBlock)[0].state is ToolCallState.SUBMITTED


def test_a_deny_rule_makes_a_denied_result_that_names_the_reason() -> None:
    context = PermissionContext()
    context.add_rule(PermissionRule(tool_name="pay", behavior=PermissionBehavior.DENY))
    agent = agent_with([[call("c1", to="ann")], "sorry"], [Bank().tool()], state=AgentState(permission_context=context))
    asyncio.run(agent.reply("go"))
    assert results_in(agent)[0][1] == "denied"


def test_unsafe_calls_run_in_order_and_the_first_pause_holds_back_the_rest() -> None:  # 3
    bank = Bank()
    tool = bank.tool(is_concurrency_safe=False)
    agent = agent_with([[call("c1", to="ann"), call("c2", to="bob")]], [tool])
    event = asyncio.run(asked_by(agent))
    assert [c.id for c in event.tool_calls] == ["c1"]


def test_in_a_concurrent_batch_all_that_may_run_do_run_and_all_that_ask_ask() -> None:  # 3
    bank = Bank()

    def look(at: str) -> str:
        """Look."""
        bank.paid.append(f"looked at {at}")
        return "seen"

    from sayso.tool import FunctionTool

    agent = agent_with(
        [[call("c1", to="ann"), call("c2", tool="look", at="balance")]],
        [bank.tool(), FunctionTool(look, is_read_only=True)],
    )
    event = asyncio.run(asked_by(agent))
    assert [c.id for c in event.tool_calls] == ["c1"]
    assert bank.paid == ["looked at balance"]


def test_a_call_that_a_suggested_rule_of_the_batch_would_cover_stays_pending_without_a_prompt() -> None:  # 4
    agent = agent_with([[call("c1", to="ann"), call("c2", to="ann")]], [Bank().tool()])
    event = asyncio.run(asked_by(agent))
    assert [c.id for c in event.tool_calls] == ["c1"]
    blocks = agent.state.context[-1].get_content_blocks(ToolCallBlock)
    assert [b.state for b in blocks] == [ToolCallState.ASKING, ToolCallState.PENDING]


def test_always_lets_the_pending_neighbour_run_once_makes_it_ask() -> None:  # 4
    async def world(always: bool) -> tuple[list[str], list[str]]:
        bank = Bank()
        agent = agent_with([[call("c1", to="ann"), call("c2", to="ann")], "done"], [bank.tool()])
        event = await asked_by(agent)
        rules = event.tool_calls[0].suggested_rules if always else None
        later = await events_of(agent, answer(event, rules=rules))
        asked = [c.id for e in later if isinstance(e, RequireUserConfirmEvent) for c in e.tool_calls]
        return bank.paid, asked

    assert asyncio.run(world(True)) == (["ann:1", "ann:1"], [])
    assert asyncio.run(world(False)) == (["ann:1"], ["c2"])


def test_the_request_says_why_it_asks() -> None:
    agent = agent_with([[call("c1", to="ann")]], [Bank().tool()])
    event = asyncio.run(asked_by(agent))
    assert event.metadata["reasons"]["c1"]
    (request,) = agent.requests()
    assert (request.call_id, request.kind, request.tool) == ("c1", "confirm", "pay")
    assert request.why == event.metadata["reasons"]["c1"]


def test_a_pause_does_not_spend_an_iteration() -> None:  # 5
    async def world() -> str | None:
        agent = agent_with([[call("c1", to="ann")], "done"], [Bank().tool()], max_iters=2)
        message = await agent.reply(answer(await asked_by(agent)))
        return message.finished_reason

    assert asyncio.run(world()) == "completed"


def test_iterations_that_run_out_end_the_reply_and_say_so() -> None:
    bank = Bank()
    context = PermissionContext()
    context.add_rule(PermissionRule(tool_name="pay", behavior=PermissionBehavior.ALLOW))
    agent = agent_with(
        [[call(f"c{n}", to="ann")] for n in range(5)],
        [bank.tool()],
        max_iters=2,
        state=AgentState(permission_context=context),
    )
    message = asyncio.run(agent.reply("go"))
    assert message.finished_reason == "exceed_max_iters"
    assert len(bank.paid) == 2


def test_an_external_call_that_waits_names_what_it_waits_for() -> None:
    agent = agent_with([[call("c1", tool="deploy", to="prod")]], [Outside()])
    event = asyncio.run(submitted_by(agent))
    assert [(c.id, c.name, c.input) for c in event.tool_calls] == [("c1", "deploy", '{"to": "prod"}')]
    (request,) = agent.requests()
    assert request.kind == "external"

"""Agents that are tools of other agents: their gates hold, their questions come through the one inbox."""

import asyncio
from collections.abc import Callable
from typing import Any

from hosting import Script, says, yes
from sayso.agent import Agent
from sayso.host import Host
from sayso.store.base import Store
from sayso.tool import AgentTool
from worlds import Bank, call, results_in


def named(name: str, *turns: Any, tools: Any = ()) -> Callable[[Store, str], Agent]:
    def build(store: Store, session_id: str) -> Agent:
        return Agent(name, "", Script(turns), tools, store=store, session_id=session_id)

    return build


def company(bank: Bank, *, said: Any = "paid") -> tuple[dict[str, Any], dict[str, str]]:
    """A chief asks a manager, who asks a clerk, who pays."""
    agents = {
        "chief": named(
            "chief", [call("a1", tool="manage", task="see to it")], "all is well", tools=[AgentTool("manage", "m")]
        ),
        "manager": named(
            "manager", [call("b1", tool="delegate", task="pay ann")], "it is paid", tools=[AgentTool("delegate", "d")]
        ),
        "clerk": named("clerk", [call("c1", to="ann")], said, tools=[bank.tool()]),
    }
    return agents, {"manage": "manager", "delegate": "clerk"}


def test_a_question_three_agents_deep_is_answered_from_the_inbox_and_reaches_its_owner(new_store: Any) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        agents, nested = company(bank)
        async with Host(store, agents, nested=nested) as host:
            top = await host.submit(None, "pay the bills", agent="chief")
            await host.settled()
            (request,) = await host.pending(kind="confirm")
            assert request.path == ["chief", "manager", "clerk"]
            assert bank.paid == []
            await host.answer(yes(request), by="ann", via="test")
            await host.settled()
            assert bank.paid == ["ann:1"]
            state = await host.session(top)
            assert state.context[-1].get_text_content() == "all is well"
            assert await host.pending() == []
        await store.close()

    asyncio.run(world())


def test_a_restart_between_parent_and_child_loses_neither(new_store: Any) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        agents, nested = company(bank)
        async with Host(store, agents) as without:  # as if it had ended before it could begin the child
            top = await without.submit(None, "pay the bills", agent="chief")
            await without.settled()
        async with Host(store, agents, nested=nested) as host:
            await host.settled()
            (request,) = await host.pending(kind="confirm")
            await host.answer(yes(request), by="ann", via="test")
            await host.settled()
            assert (await host.session(top)).context[-1].get_text_content() == "all is well"
        await store.close()

    asyncio.run(world())


def test_a_child_that_fails_is_a_failed_call_and_the_parent_goes_on(new_store: Any) -> None:
    async def world() -> None:
        store = new_store()
        agents = {
            "chief": says([call("a1", tool="ask", task="go")], "we manage without", tools=[AgentTool("ask", "a")]),
        }
        agents = {"ops": agents["chief"], "child": named("child", ValueError("broken"))}
        async with Host(store, agents, nested={"ask": "child"}) as host:
            top = await host.submit(None, "go", agent="ops")
            await host.settled()
            state = await host.session(top)
            assert state.context[-1].get_text_content() == "we manage without"
            agent = agents["ops"](store, top)
            await agent.load()
            assert [(i, s) for i, s, _ in results_in(agent)] == [("a1", "error")]
        await store.close()

    asyncio.run(world())


def test_stopping_the_parent_stops_the_agents_that_work_for_it(new_store: Any) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        agents, nested = company(bank)
        async with Host(store, agents, nested=nested) as host:
            top = await host.submit(None, "pay the bills", agent="chief")
            await host.settled()
            await host.interrupt(top, by="ann", via="test")
            await host.settled()
            assert await host.pending() == []
            assert bank.paid == []
            assert {row.state for row in await store.sessions()} == {"idle"}
        await store.close()

    asyncio.run(world())

"""What another process writes to a session while this one drives it is heard here."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hosting import Script
from sayso.agent import Agent
from sayso.event import UserInterruptEvent
from sayso.permission import PermissionBehavior, PermissionContext, PermissionDecision, PermissionRule
from sayso.store import MemoryStore, SQLiteStore, Store
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool, ToolBase
from worlds import answer, asked_by, call, results_in


@pytest.fixture(params=["memory", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Gives the store of one more process."""
    if request.param == "sqlite":
        return lambda: SQLiteStore(tmp_path / "log.db")
    store = MemoryStore()
    return lambda: store


class Slow:
    """A tool that waits until it is let on, or stopped."""

    def __init__(self) -> None:
        self.running, self.go, self.stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def tool(self) -> ToolBase:
        async def slow() -> str:
            """Slow."""
            self.running.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.stopped.set()
                raise
            return "slowly"

        return FunctionTool(slow, is_read_only=True)


def test_an_interrupt_that_another_process_writes_stops_the_tool_here(stores: Callable[[], Store]) -> None:
    async def world() -> None:
        slow, here, there = Slow(), stores(), stores()
        one = Agent("ops", "", ScriptedModel([[call("c1", "slow")]]), [slow.tool()], store=here, session_id="s")
        other = Agent("ops", "", ScriptedModel([]), [slow.tool()], store=there, session_id="s")
        driving = asyncio.create_task(one.reply("go"))
        await slow.running.wait()
        await other.load()
        assert other.reply_id is not None
        await other.reply(UserInterruptEvent(reply_id=other.reply_id), by="ann")
        async with asyncio.timeout(10):
            await slow.stopped.wait()
            message = await driving
        assert message.finished_reason == "interrupted"
        assert [state for _, state, _ in results_in(one)] == ["interrupted"]
        await here.close()
        await there.close()

    asyncio.run(world())


def test_an_answer_that_another_process_writes_is_acted_on_beside_a_running_tool(stores: Callable[[], Store]) -> None:
    async def world() -> None:
        slow, paid, here, there = Slow(), asyncio.Event(), stores(), stores()

        async def pay(to: str) -> str:
            """Pay somebody."""
            paid.set()
            return f"paid {to}"

        tools = [slow.tool(), FunctionTool(pay)]
        script = ScriptedModel([[call("c1", "slow"), call("c2", to="ann")], "done"])
        one = Agent("ops", "", script, tools, store=here, session_id="s")
        other = Agent("ops", "", ScriptedModel([]), tools, store=there, session_id="s")
        driving = asyncio.create_task(one.reply("go"))
        await slow.running.wait()
        event = await asked_by(other, None)
        await (await other.accept(answer(event), by="ann", drive=False))
        async with asyncio.timeout(10):
            await paid.wait()
            slow.go.set()
            message = await driving
        assert message.finished_reason == "completed"
        assert sorted(result[:2] for result in results_in(one)) == [("c1", "success"), ("c2", "success")]
        await here.close()
        await there.close()

    asyncio.run(world())


def test_a_deny_rule_that_another_process_adds_while_a_call_is_judged_is_obeyed() -> None:
    async def world() -> None:
        store, judging, go, paid = MemoryStore(), asyncio.Event(), asyncio.Event(), list[str]()

        async def pay(to: str) -> str:
            """Pay somebody."""
            paid.append(to)
            return "paid"

        async def slowly(tool_input: dict[str, Any], context: PermissionContext) -> PermissionDecision:
            judging.set()
            await go.wait()
            return PermissionDecision(behavior=PermissionBehavior.ALLOW, message="small")

        tool = FunctionTool(pay, check_permissions=slowly)
        one = Agent("ops", "", Script([[call("c1", to="ann")], "sorry"]), [tool], store=store, session_id="s")
        other = Agent("ops", "", ScriptedModel([]), [tool], store=store, session_id="s")
        driving = await one.accept("go")
        await judging.wait()
        await other.load()
        await other.add_rule(PermissionRule(tool_name="pay", behavior=PermissionBehavior.DENY))
        go.set()
        await asyncio.wait([driving])
        await one.reply()  # where the rule was met only by the commit, the drive ended and goes on anew
        assert paid == []
        assert [state for _, state, _ in results_in(one)] == ["denied"]

    asyncio.run(world())

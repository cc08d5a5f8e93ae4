"""What the host remembers of requests that wait no more, and what a program may change of a session."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from hosting import asked, says, yes
from sayso.errors import NotWaiting, StaleAnswer
from sayso.host import Host
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.request import Answer
from sayso.store import SQLiteStore
from sayso.store.base import Store
from worlds import Bank, Outside, call


def test_the_history_says_what_was_asked_and_who_decided_what(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            assert await host.history() == []
            await host.answer(yes(request), by="ann", via="web")
            await host.settled()
            (decided,) = await host.history(session_id=session_id)
            assert (decided.how, decided.by, decided.via) == ("approved", "ann", "web")
            assert (decided.request.id, decided.request.input) == (request.id, request.input)
            assert await host.history(how="refused") == []

    asyncio.run(world())


def test_a_result_that_somebody_declined_to_give_is_a_refusal(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        store = new_store()
        turns = ([call("c1", tool="deploy", to="prod")], "as you wish")
        async with Host(store, {"ops": says(*turns, tools=[Outside()])}) as host:
            _, request = await asked(host)
            answer = Answer(request_id=request.id, digest=request.digest, decision="reject", reason="not today")
            await host.answer(answer, by="ann", via="web")
            await host.settled()
            (decided,) = await host.history()
            assert (decided.how, decided.by) == ("refused", "ann")

    asyncio.run(world())


def test_a_dismissal_names_what_it_saw_like_any_answer(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            _, request = await asked(host)
            with pytest.raises(StaleAnswer):
                await host.answer(
                    Answer(request_id=request.id, digest="other", decision="dismiss"), by="ann", via="web"
                )
            await host.answer(
                Answer(request_id=request.id, digest=request.digest, decision="dismiss"), by="ann", via="web"
            )
            await host.settled()
            (decided,) = await host.history()
            assert (decided.how, decided.by) == ("dismissed", "ann")

    asyncio.run(world())


def test_a_session_can_be_given_a_mode_and_rules_and_lose_them(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        rule = PermissionRule(tool_name="pay", rule_content=None, behavior=PermissionBehavior.ALLOW, source="session")
        async with Host(store, {"ops": says("hello", tools=[bank.tool()])}) as host:
            session_id = await host.submit(None, "hi")
            await host.settled()
            await host.set_mode(session_id, "explore", by="ann")
            await host.add_rule(session_id, rule, by="ann")
            context = (await host.session(session_id)).permission_context
            assert context.mode == "explore"
            assert [r.tool_name for r in context.allow_rules["pay"]] == ["pay"]
            await host.remove_rule(session_id, rule, by="ann")
            assert not (await host.session(session_id)).permission_context.allow_rules.get("pay")

    asyncio.run(world())


def test_of_hosts_that_answer_at_the_same_moment_one_is_taken_and_the_others_are_told_by_whom(tmp_path: Path) -> None:
    async def world() -> None:
        bank = Bank()
        agents = {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}
        stores = [SQLiteStore(tmp_path / "log.db") for _ in range(8)]
        hosts = [Host(store, agents) for store in stores]
        _, request = await asked(hosts[0])
        answers = [host.answer(yes(request), by=f"p{n}", via="test") for n, host in enumerate(hosts)]
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        for host in hosts:
            await host.settled()
        (winner,) = [n for n, outcome in enumerate(outcomes) if outcome is None]
        told = [outcome.by for outcome in outcomes if isinstance(outcome, NotWaiting)]
        assert told == [f"p{winner}"] * 7, outcomes
        assert bank.paid == ["ann:1"]
        for store in stores:
            await store.close()

    asyncio.run(world())

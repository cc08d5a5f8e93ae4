"""Many conversations over one store: what a surface can do, and what it cannot break."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hosting import Script, asked, says, yes
from sayso.agent import Agent
from sayso.errors import InvalidAnswer, NotWaiting, Parked, Refused, StaleAnswer
from sayso.event import RequireUserConfirmEvent, TextBlockDeltaEvent
from sayso.host import Host
from sayso.message import ToolCallBlock
from sayso.request import Answer
from sayso.store import MemoryStore
from sayso.store.base import Store
from sayso.testing import ScriptedModel
from sayso.tool import AskUser
from worlds import Bank, Outside, call, results_in


def test_an_answer_drives_the_session_on_in_the_background(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            assert (request.kind, request.tool, bank.paid) == ("confirm", "pay", [])
            await host.answer(yes(request), by="ann", via="test")
            await host.settled()
            assert bank.paid == ["ann:1"]
            assert (await host.session(session_id)).context[-1].get_text_content() == "done"
            assert await host.pending() == []
        await store.close()

    asyncio.run(world())


def test_another_host_over_the_same_store_answers(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank = Bank()
        agents = {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}
        first = new_store()
        async with Host(first, agents) as host:
            session_id, _ = await asked(host)
        second = new_store()
        async with Host(second, agents) as host:
            (request,) = await host.pending()
            await host.answer(yes(request), by="bob", via="elsewhere")
            await host.settled()
            assert (await host.session(session_id)).context[-1].finished_reason == "completed"
        assert bank.paid == ["ann:1"]
        await second.close()

    asyncio.run(world())


def test_a_second_answer_is_refused_and_fifty_at_once_are_one(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            _, request = await asked(host)
            answers = [host.answer(yes(request), by=f"p{n}", via="test") for n in range(50)]
            outcomes = await asyncio.gather(*answers, return_exceptions=True)
            await host.settled()
            assert [o for o in outcomes if o is None] == [None]
            late = [o for o in outcomes if isinstance(o, NotWaiting)]
            assert len(late) == 49
            first = next(n for n, o in enumerate(outcomes) if o is None)
            assert {(o.how, o.by, o.via) for o in late} == {("approved", f"p{first}", "test")}
            with pytest.raises(NotWaiting):
                await host.answer(yes(request), by="late", via="test")
        assert bank.paid == ["ann:1"]
        await store.close()

    asyncio.run(world())


def test_answers_that_do_not_fit_change_nothing() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            wrong: list[tuple[Answer, type[Refused]]] = [
                (yes(request).model_copy(update={"digest": "another"}), StaleAnswer),
                (yes(request, rule_ids=["rule-99"]), InvalidAnswer),
                (yes(request, edited_input='{"to": 7'), InvalidAnswer),
                (yes(request, answers=[{"question": "?"}]), InvalidAnswer),
                (yes(request, output="paid"), InvalidAnswer),
                (Answer(request_id=request.id, digest=request.digest, decision="answer", output="x"), InvalidAnswer),
                (
                    Answer(request_id=request.id, digest=request.digest, decision="reject", edited_input="{}"),
                    InvalidAnswer,
                ),
            ]
            before = await store.read(session_id)
            for answer, error in wrong:
                with pytest.raises(error):
                    await host.answer(answer, by="ann", via="test")
            assert await store.read(session_id) == before
            assert bank.paid == []

    asyncio.run(world())


def test_a_rule_is_accepted_by_the_id_of_its_offer() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        turns = ([call("c1", to="ann")], "one", [call("c2", to="ann")], "two")
        async with Host(store, {"ops": says(*turns, tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            await host.answer(yes(request, rule_ids=[request.suggested_rules[0].id]), by="ann", via="test")
            await host.settled()
            await host.submit(session_id, "again")
            await host.settled()
            assert await host.pending() == []
        assert bank.paid == ["ann:1", "ann:1"]

    asyncio.run(world())


def test_nobody_answering_is_recorded_when_the_time_is_over() -> None:
    async def world() -> None:
        bank, store, times = Bank(), MemoryStore(), [datetime.now(UTC)]
        agents = {"ops": says([call("c1", to="ann")], "nobody", tools=[bank.tool()], expires_after=60)}
        async with Host(store, agents, clock=lambda: times[0]) as host:
            session_id, request = await asked(host)
            assert request.expires_at is not None
            assert await host.expire() == []
            times[0] += timedelta(seconds=61)
            assert await host.expire() == [request.id]
            await host.settled()
            state = await host.session(session_id)
            assert bank.paid == []
            assert "Nobody answered" in state.model_dump_json()
            with pytest.raises(NotWaiting):
                await host.answer(yes(request), by="late", via="test")

    asyncio.run(world())


def test_a_dismissed_question_is_neither_yes_nor_no() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "hm", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            dismissal = Answer(request_id=request.id, digest=request.digest, decision="dismiss")
            await host.answer(dismissal, by="ann", via="test")
            await host.settled()
            assert "dismissed" in (await host.session(session_id)).model_dump_json()
        assert bank.paid == []

    asyncio.run(world())


QUESTION = {
    "questions": [
        {
            "question": "Which?",
            "header": "Which",
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
        }
    ]
}


def test_the_questions_of_ask_user_are_answered_through_the_same_door() -> None:
    async def world() -> None:
        store = MemoryStore()
        async with Host(store, {"ops": says([call("c1", tool="AskUser", **QUESTION)], "A", tools=[AskUser()])}) as host:
            session_id, request = await asked(host)
            assert request.kind == "ask"
            blank = Answer(
                request_id=request.id,
                digest=request.digest,
                decision="answer",
                answers=[{"question": "Which?", "other": "  "}],
            )
            with pytest.raises(InvalidAnswer):
                await host.answer(blank, by="ann", via="test")
            chosen = blank.model_copy(update={"answers": [{"question": "Which?", "selected": ["A"]}]})
            await host.answer(chosen, by="ann", via="test")
            await host.settled()
            assert (await host.session(session_id)).context[-1].finished_reason == "completed"

    asyncio.run(world())


def test_an_external_result_comes_through_the_same_door() -> None:
    async def world() -> None:
        store = MemoryStore()
        agents = {"ops": says([call("c1", tool="deploy", to="prod")], "live", tools=[Outside()])}
        async with Host(store, agents) as host:
            session_id, request = await asked(host)
            answer = Answer(request_id=request.id, digest=request.digest, decision="answer", output="deployed")
            await host.answer(answer, by="ci", via="test")
            await host.settled()
            assert (await host.session(session_id)).context[-1].get_text_content() == "live"

    asyncio.run(world())


def test_a_message_to_a_parked_session_is_refused_and_not_taken_for_an_answer() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, _ = await asked(host)
            with pytest.raises(Parked):
                await host.submit(session_id, "yes")
        assert bank.paid == []

    asyncio.run(world())


def test_a_host_that_starts_picks_up_what_a_dead_one_left(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        from sayso.testing import Crash, CrashingStore

        bank, store = Bank(), new_store()
        agents = {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool(idempotent=True)])}
        dying = CrashingStore(store, 4)
        trouble: list[BaseException] = []
        host = Host(dying, agents, on_trouble=lambda _, problem: trouble.append(problem))
        session_id, request = await asked(host)
        await host.answer(yes(request), by="ann", via="test")
        await host.settled()
        assert [type(t) for t in trouble] == [Crash]
        async with Host(CrashingStore(store, None), agents) as later:
            await later.settled()
            assert (await later.session(session_id)).context[-1].finished_reason == "completed"
        assert bank.paid == ["ann:1", "ann:1"]
        await store.close()

    asyncio.run(world())


def test_a_watcher_sees_the_past_then_the_live_without_a_gap(new_store: Callable[[], Store]) -> None:
    async def world() -> None:
        bank, store = Bank(), new_store()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            seen: list[Any] = []
            parked, ended = asyncio.Event(), asyncio.Event()

            async def look() -> None:
                async for item in host.watch(session_id):
                    for event in item.events:
                        seen.append((item.seq, event))
                        if isinstance(event, RequireUserConfirmEvent):
                            parked.set()
                        if event.type == "REPLY_END":
                            ended.set()

            watching = asyncio.create_task(look())
            await parked.wait()
            await host.answer(yes(request), by="ann", via="test")
            await ended.wait()
            watching.cancel()
            await asyncio.wait([watching])
            kinds = [event.type.value for seq, event in seen if seq is not None]
            assert kinds[0] == "REPLY_START"
            assert kinds.count("REQUIRE_USER_CONFIRM") == 1
            assert kinds[-1] == "REPLY_END"
            seqs = [seq for seq, _ in seen if seq is not None]
            assert seqs == sorted(seqs)
            finished = [event for seq, event in seen if isinstance(event, TextBlockDeltaEvent) and seq is not None]
            assert [f.delta for f in finished] == ["done"]
        await store.close()

    asyncio.run(world())


def test_a_question_of_an_agent_that_is_not_here_does_not_end_the_expiry_of_the_others() -> None:
    async def world() -> None:
        store, tools = MemoryStore(), [Bank().tool()]
        agents = {"ops": says([call("c1", to="ann")], "done", tools=tools, expires_after=60)}
        async with Host(store, agents) as host:
            await asked(host)

        def other(store: Store, session_id: str) -> Agent:
            script = Script([[call("c1", to="bob")], "done"])
            return Agent("other", "", script, tools, store=store, session_id=session_id, expires_after=60)

        later = datetime.now(UTC) + timedelta(hours=1)
        async with Host(store, {"other": other}, clock=lambda: later) as host:
            session_id = await host.submit(None, "pay")
            await host.settled()
            (mine,) = await host.pending(session_id=session_id)
            assert await host.expire() == [mine.id]
            assert [r.tool for r in await host.pending()] == ["pay"]

    asyncio.run(world())


def test_a_host_keeps_nothing_for_a_parked_session() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            await asyncio.gather(*(host.submit(None, "pay") for _ in range(20)))
            await host.settled()
            assert len(await host.pending(limit=50)) == 20
            assert (host._driving._driven, host._driving._taking) == ({}, {})

    asyncio.run(world())


def test_a_builder_must_give_its_agent_the_name_it_is_registered_under() -> None:
    def build(store: Store, session_id: str) -> Agent:
        return Agent("someone", "", ScriptedModel(["hi"]), store=store, session_id=session_id)

    async def world() -> None:
        with pytest.raises(ValueError, match="give it the name 'ops'"):
            await Host(MemoryStore(), {"ops": build}).submit(None, "hello")

    asyncio.run(world())


def test_what_the_agent_did_is_in_the_log_with_who_said_so() -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            session_id, request = await asked(host)
            await host.answer(yes(request), by="ann", via="web")
            await host.settled()
            facts = [e.fact.decode() for e in await store.read(session_id)]
            (said,) = [f for f in facts if "HumanAnswered" in f]
            assert '"by":"ann"' in said
            assert '"via":"web"' in said
            agent = Agent("ops", "", ScriptedModel([]), store=store, session_id=session_id)
            await agent.load()
            assert results_in(agent)[0][1] == "success"
            assert isinstance(agent.state.context[-1].content[0], ToolCallBlock)

    asyncio.run(world())

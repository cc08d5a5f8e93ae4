"""What is begun and answered in one process is driven in another."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from hosting import says, yes
from postgres import fresh_database
from sayso.agent import Agent
from sayso.event import TextBlockDeltaEvent
from sayso.host import Host
from sayso.message import Msg, TextBlock, ToolResultBlock
from sayso.model.base import ModelResponse, ModelStream, TextDelta, ToolSchema
from sayso.request import Request
from sayso.store import PostgresStore
from sayso.store.base import Store
from sayso.tool import AgentTool, FunctionTool
from working import front, until, worker
from worlds import Bank, call


def host_of(dsn: str, *turns: Any, tools: Any = (), **options: Any) -> Host:
    return Host(PostgresStore(dsn), {"ops": says(*turns, tools=tools)}, **options)


async def asked(host: Host, count: int = 1) -> list[Request]:
    async def look() -> list[Request] | None:
        found = await host.pending()
        return found if len(found) >= count else None

    return await until(look) or []


async def ended(host: Host, session_id: str) -> str:
    """The last words of a session, once it has come to its end."""

    async def look() -> bool:
        row = await host.store.session(session_id)
        return row is not None and row.state == "idle"

    await until(look)
    return (await host.session(session_id)).context[-1].get_text_content() or ""


def test_what_is_begun_and_answered_at_the_front_is_driven_by_a_worker() -> None:
    async def world() -> None:
        dsn, here, there = fresh_database(), Bank(), Bank()
        script = ([call("c1", to="ann")], "done")
        async with (
            front(host_of(dsn, *script, tools=[here.tool()])) as host,
            worker(host_of(dsn, *script, tools=[there.tool()])),
        ):
            session_id = await host.submit(None, "pay")
            (request,) = await asked(host)
            await host.answer(yes(request), by="ann", via="web")
            assert await ended(host, session_id) == "done"
            assert (here.paid, there.paid) == ([], ["ann:1"])

    asyncio.run(world())


def test_an_answer_resumes_on_another_machine_with_the_same_rules_and_history() -> None:
    async def world() -> None:
        dsn, first, second = fresh_database(), Bank(), Bank()
        script = ([call("c1", to="ann")], [call("c2", to="ann")], "done")
        async with front(host_of(dsn, *script, tools=[Bank().tool()])) as host:
            async with worker(host_of(dsn, *script, tools=[first.tool()])):
                session_id = await host.submit(None, "pay twice")
                (request,) = await asked(host)
            async with worker(host_of(dsn, *script, tools=[second.tool()])):
                rule = request.suggested_rules[0].id
                await host.answer(yes(request, rule_ids=[rule]), by="ann", via="web")
                assert await ended(host, session_id) == "done"
            assert (first.paid, second.paid) == ([], ["ann:1", "ann:1"])  # the second call was covered by the rule
            assert len(await host.history(session_id=session_id)) == 1

    asyncio.run(world())


def test_a_watcher_at_the_front_sees_the_words_of_a_worker_as_they_come() -> None:
    said = asyncio.Event()

    class Slow:
        """Says half, waits until that was seen, and says the rest."""

        model_name = "slow"

        async def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
            yield TextDelta("t", "half ")
            await said.wait()
            yield TextDelta("t", "whole")
            yield ModelResponse([TextBlock(id="t", text="half whole")])

    def build(store: Store, session_id: str) -> Agent:
        return Agent("ops", "", Slow(), store=store, session_id=session_id)

    async def world() -> None:
        dsn = fresh_database()
        async with (
            front(Host(PostgresStore(dsn), {"ops": build})) as host,
            worker(Host(PostgresStore(dsn), {"ops": build})),
        ):
            session_id, deltas = "s", list[str]()
            watching = host.watch(session_id)
            beginning = asyncio.create_task(host.submit(session_id, "speak"))
            async for seen in watching:
                words = [e.delta for e in seen.events if isinstance(e, TextBlockDeltaEvent)]
                if seen.seq is None:
                    deltas += words
                    said.set()
                elif words:
                    assert words == ["half whole"]
                    break
            await beginning
            await watching.aclose()
            assert deltas[0] == "half "

    asyncio.run(world())


def test_an_interrupt_at_the_front_stops_the_tool_that_a_worker_runs() -> None:
    async def world() -> None:
        dsn, running, stopped = fresh_database(), asyncio.Event(), asyncio.Event()

        async def wait() -> str:
            """Wait for ever."""
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            return ""

        tools = [FunctionTool(wait, is_read_only=True)]
        script = ([call("c1", "wait")], "done")
        async with front(host_of(dsn, *script, tools=tools)) as host, worker(host_of(dsn, *script, tools=tools)):
            session_id = await host.submit(None, "wait")
            await running.wait()
            await host.interrupt(session_id, by="ann", via="web")
            async with asyncio.timeout(5):
                await stopped.wait()
            state = await host.session(session_id)
            assert state.context[-1].finished_reason == "interrupted"

    asyncio.run(world())


def test_an_answer_at_the_front_is_taken_in_by_the_worker_that_runs_the_call_beside() -> None:
    async def world() -> None:
        dsn, bank, running, go = fresh_database(), Bank(), asyncio.Event(), asyncio.Event()

        async def wait() -> str:
            """Wait."""
            running.set()
            await go.wait()
            return "waited"

        tools = [FunctionTool(wait, is_read_only=True), bank.tool()]
        script = ([call("c1", "wait"), call("c2", to="ann")], "done")
        async with front(host_of(dsn, *script, tools=tools)) as host, worker(host_of(dsn, *script, tools=tools)):
            session_id = await host.submit(None, "both")
            await running.wait()
            (request,) = await asked(host)
            await host.answer(yes(request), by="ann", via="web")

            async def paid() -> list[str]:
                return bank.paid

            assert await until(paid, 5) == ["ann:1"]  # while the other still waits
            go.set()
            assert await ended(host, session_id) == "done"

    asyncio.run(world())


def test_a_session_whose_drive_fails_is_tried_again() -> None:
    async def world() -> None:
        dsn, trouble, tries = fresh_database(), list[BaseException](), list[int]()
        good = says("done")

        def shaky(store: Store, session_id: str) -> Agent:
            tries.append(1)
            if len(tries) < 3:
                raise OSError("no key yet")
            return good(store, session_id)

        async with (
            front(host_of(dsn, "done")) as host,
            worker(Host(PostgresStore(dsn), {"ops": shaky}), trouble=trouble),
        ):
            session_id = await host.submit(None, "hi")
            assert await ended(host, session_id) == "done"
            assert [str(problem) for problem in trouble] == ["no key yet"] * 2

    asyncio.run(world())


def test_the_agents_that_work_for_another_are_driven_by_workers_too() -> None:
    async def world() -> None:
        dsn, bank = fresh_database(), Bank()
        helper = AgentTool("helper", "Pays.")
        agents = {
            "boss": lambda store, session_id: Agent(
                "boss", "", Saying([[call("c1", "helper", task="pay ann")], "thanks"]), [helper], store=store,
                session_id=session_id,
            ),
            "ops": says([call("c2", to="ann")], "paid", tools=[bank.tool()]),
        }  # fmt: skip
        nested = {"helper": "ops"}
        async with (
            front(Host(PostgresStore(dsn), agents, nested=nested)) as host,
            worker(Host(PostgresStore(dsn), agents, nested=nested)),
        ):
            session_id = await host.submit(None, "have ann paid", agent="boss")

            async def of_the_helper() -> list[Request]:
                return [r for r in await host.pending() if r.tool == "pay"]

            (request,) = await until(of_the_helper)
            assert request.path == ["boss", "ops"]
            await host.answer(yes(request), by="ann", via="web")
            assert await ended(host, session_id) == "thanks"
            assert bank.paid == ["ann:1"]

    asyncio.run(world())


@pytest.mark.slow
def test_a_question_that_nobody_answers_in_time_is_ended_by_a_worker() -> None:
    async def world() -> None:
        dsn, bank = fresh_database(), Bank()

        def host() -> Host:
            build = says([call("c1", to="ann")], "nobody was there", tools=[bank.tool()], expires_after=0.2)
            return Host(PostgresStore(dsn), {"ops": build}, tick=3600)

        async with worker(host()), front(host()) as at_the_front:
            session_id = await at_the_front.submit(None, "pay")
            assert await ended(at_the_front, session_id) == "nobody was there"
            (decided,) = await at_the_front.history(session_id=session_id)
            assert (decided.how, bank.paid) == ("expired", [])

    asyncio.run(world())


class Saying:
    """Says its turns by how many results it has seen."""

    model_name = "saying"

    def __init__(self, turns: Sequence[Any]) -> None:
        self.turns = turns

    async def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
        seen = sum(isinstance(b, ToolResultBlock) for m in messages for b in m.content)
        said = self.turns[min(seen, len(self.turns) - 1)]
        yield ModelResponse([TextBlock(text=said)] if isinstance(said, str) else list(said))

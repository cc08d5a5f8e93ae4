"""What OpenTelemetry is told: a trace for each reply, across pauses and processes; how long people took; doubts."""

import asyncio
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hosting import asked, says, yes
from sayso.agent import Agent
from sayso.host import Host
from sayso.store import MemoryStore
from sayso.testing import ScriptedModel
from worlds import Bank, agent_with, answer, asked_by, call


@cache
def providers() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """OpenTelemetry takes one of each in a process."""
    spans, points = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([points]))
    return spans, points


@dataclass
class Told:
    """What was told since the test began."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    def spans(self, session_id: str) -> list[ReadableSpan]:
        mine = [s for s in self.exporter.get_finished_spans() if s.attributes]
        return [s for s in mine if (s.attributes or {}).get("gen_ai.conversation.id") == session_id]

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        every = [m for r in (data.resource_metrics if data else ()) for s in r.scope_metrics for m in s.metrics]
        return [point for metric in every if metric.name == name for point in metric.data.data_points]


@pytest.fixture
def told() -> Told:
    exporter, reader = providers()
    exporter.clear()
    return Told(exporter, reader)


def test_a_reply_is_one_trace_across_a_pause_and_two_processes(told: Told) -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        one = agent_with([[call("c1", to="ann")]], [bank.tool()], store=store, session_id="s")
        with trace.get_tracer("program").start_as_current_span("request") as request:
            event = await asked_by(one)
        other = agent_with(["done"], [bank.tool()], store=store, session_id="s")
        await other.reply(answer(event), by="ann", via="web")
        spans = told.spans("s")
        root = spans[0]
        assert [s.name for s in spans] == [
            "invoke_agent bursar", "chat scripted", "wait pay", "execute_tool pay", "chat scripted", "reply bursar",
        ]  # fmt: skip
        assert {s.context.trace_id for s in spans} == {request.get_span_context().trace_id}
        assert root.parent is not None and root.parent.span_id == request.get_span_context().span_id
        assert {s.parent.span_id if s.parent else 0 for s in spans[1:]} == {root.context.span_id}
        waited = dict(spans[2].attributes or {})
        assert (waited["gen_ai.tool.call.id"], waited["sayso.outcome"]) == ("c1", "approved")

    asyncio.run(world())


def test_a_tool_runs_inside_its_span(told: Told) -> None:
    async def world() -> None:
        inside = list[int]()

        def look() -> str:
            """Look."""
            inside.append(trace.get_current_span().get_span_context().span_id)
            return "seen"

        from sayso.tool import FunctionTool

        tool = FunctionTool(look, is_read_only=True)
        await Agent("a", "", ScriptedModel([[call("c1", "look")], "done"]), [tool], session_id="inside").reply("look")
        (span,) = [s for s in told.spans("inside") if s.name == "execute_tool look"]
        assert inside == [span.context.span_id]

    asyncio.run(world())


def test_no_text_of_a_person_a_model_or_a_tool_is_told(told: Told) -> None:
    async def world() -> None:
        def fail(what: str) -> str:
            """Fail."""
            raise OSError(f"secret {what}")

        agent = Agent("a", "", ScriptedModel([[call("c1", "fail", what="secret")], OSError("secret")]), [fail])
        event = await asked_by(agent, "my secret")
        await agent.reply(answer(event))
        spans = told.spans(agent.session_id)
        assert len(spans) == 6
        assert "secret" not in "".join(span.to_json() for span in spans)
        assert sum(not span.status.is_ok and span.status.is_unset is False for span in spans) == 2

    asyncio.run(world())


def test_how_long_a_person_took_and_what_is_in_doubt_is_counted(told: Told) -> None:
    async def world() -> None:
        bank, store = Bank(), MemoryStore()
        async with Host(store, {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}) as host:
            _, request = await asked(host)
            await host.expire()
            (age,) = told.points("sayso.requests.oldest_age")
            assert age.value >= 0
            await host.answer(yes(request), by="ann", via="web")
            await host.settled()
        latency = [p for p in told.points("sayso.decision.latency") if p.attributes["sayso.outcome"] == "approved"]
        assert latency[0].attributes["sayso.request.kind"] == "confirm" and latency[0].count >= 1

    asyncio.run(world())


def test_a_call_in_doubt_is_counted_once(told: Told) -> None:
    from sayso.testing import Crash, CrashingStore

    def count() -> int:
        return sum(p.value for p in told.points("sayso.calls.in_doubt"))

    async def world() -> None:
        bank, inner = Bank(), MemoryStore()
        before = count()
        script = [[call("c1", to="ann")], "done"]
        dying = agent_with(script, [bank.tool()], store=CrashingStore(inner, 3), session_id="d")
        with pytest.raises(Crash):
            await dying.reply(answer(await asked_by(dying)))
        after = agent_with(["done"], [bank.tool()], store=CrashingStore(inner, None), session_id="d")
        await after.reply()
        assert after.requests()[0].in_doubt
        assert count() - before == 1

    asyncio.run(world())


def test_a_program_without_opentelemetry_loads_none_of_it() -> None:
    code = (
        "import asyncio, sys\nfrom sayso.agent import Agent\nfrom sayso.testing import ScriptedModel\n"
        "asyncio.run(Agent('a', '', ScriptedModel(['hi'])).reply('hi'))\n"
        "print([m for m in sys.modules if m.startswith('opentelemetry')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"

"""Traces and metrics for OpenTelemetry, for programs that use it. Owns what a reply looks like there.

A reply is one trace, however often it pauses and whichever processes drive it: the fact that begins it keeps its trace
context. Names follow OpenTelemetry's conventions for generative AI where there are any. No text of a person, a model
or a tool is in it. A program that never loaded OpenTelemetry pays a look into `sys.modules`; nothing is loaded here.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import cache
from typing import Any

from sayso.reply.fact import DoubtRaised, Fact, HumanAnswered, ModelReplied, OutsideReturned, RequestExpired
from sayso.reply.part import Call, Result
from sayso.reply.state import CallAt, Reply, Session

__all__ = ["begun", "chat", "is_on", "note", "oldest", "tool"]

Note = Callable[[], None]
"""Tells of a fact, once it is written."""

_SCOPE = "sayso"


def _api() -> Any:
    """OpenTelemetry's API, if this program uses it."""
    return sys.modules.get("opentelemetry.trace")


def begun(name: str, session_id: str) -> str:
    """The trace context of a new reply, as W3C writes it: below the span that is current, if there is one; else new."""
    api = _api()
    if api is None:
        return ""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    with api.get_tracer(_SCOPE).start_as_current_span(
        f"invoke_agent {name}", attributes={**attributes, "gen_ai.conversation.id": session_id}
    ) as span:
        context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}" if context.is_valid else ""


def chat(session: Session, model: str) -> AbstractContextManager[Callable[[ModelReplied], None]]:
    """The span of a model's turn; what is given is called with its answer."""
    if _api() is None or session.reply is None:
        return nullcontext(_ignore)
    return _chat(session, session.reply, model)


def tool(session: Session, call: Call) -> AbstractContextManager[Callable[[Result], None]]:
    """The span of a tool that runs; what is given is called with its result."""
    if _api() is None or session.reply is None:
        return nullcontext(_ignore)
    return _tool(session, session.reply, call)


def note(before: Session, fact: Fact, after: Session) -> Note | None:
    """What to tell of a fact once it is written: how long a person took, a call in doubt, a reply that ended."""
    reply = after.reply
    if _api() is None or reply is None:
        return None
    if isinstance(fact, DoubtRaised):
        return lambda: _metrics().doubts.add(1, {"gen_ai.tool.name": _tool_of(reply, fact.call_id)})
    if isinstance(fact, HumanAnswered | OutsideReturned | RequestExpired):
        call_id = fact.result.call_id if isinstance(fact, OutsideReturned) else fact.call_id
        was = next((c for c in before.reply.calls if c.call.id == call_id), None) if before.reply else None
        now = next((c for c in reply.calls if c.call.id == call_id), None)
        if was is not None and was.asked is not None and now is not None and now.answered is not None:
            return lambda: _waited(after, reply, was, now)
    if reply.ended is not None and (before.reply is None or before.reply.ended is None):
        return lambda: _ended(after, reply)
    return None


def is_on() -> bool:
    """Whether this program uses OpenTelemetry."""
    return _api() is not None


def oldest(asked_at: str | None) -> None:
    """Tell since when the oldest open request of the store waits; None where nothing does."""
    _metrics().age.set(max(0.0, datetime.now().timestamp() - _seconds(asked_at)) if asked_at is not None else 0.0)


class _Metrics:
    def __init__(self) -> None:
        from opentelemetry import metrics

        meter = metrics.get_meter(_SCOPE)
        self.waits = meter.create_histogram(
            "sayso.decision.latency", unit="s", description="From a question to its answer, by kind, tool and outcome."
        )
        self.doubts = meter.create_counter(
            "sayso.calls.in_doubt", description="Calls put to a person because they may have run."
        )
        self.age = meter.create_gauge(
            "sayso.requests.oldest_age", unit="s", description="How long the oldest open request waits; 0 for none."
        )


@cache
def _metrics() -> _Metrics:
    return _Metrics()


def _ignore(_: object) -> None:
    return None


@contextmanager
def _chat(session: Session, reply: Reply, model: str) -> Iterator[Callable[[ModelReplied], None]]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
    with _span(session, reply, f"chat {model}", attributes) as span:

        def answered(fact: ModelReplied) -> None:
            span.set_attribute("gen_ai.usage.input_tokens", fact.usage[0])
            span.set_attribute("gen_ai.usage.output_tokens", fact.usage[1])

        yield answered


@contextmanager
def _tool(session: Session, reply: Reply, call: Call) -> Iterator[Callable[[Result], None]]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.id,
    }
    with _span(session, reply, f"execute_tool {call.tool}", attributes) as span:

        def returned(result: Result) -> None:
            span.set_attribute("sayso.result.state", result.state)
            if result.state == "error":
                span.set_status(_api().Status(_api().StatusCode.ERROR))

        yield returned


@contextmanager
def _span(session: Session, reply: Reply, name: str, attributes: dict[str, Any]) -> Iterator[Any]:
    """A span below the reply's own, current while it lasts. An exception's text stays out: it may quote a person."""
    api = _api()
    with api.get_tracer(_SCOPE).start_as_current_span(
        name,
        context=_parent(reply.trace),
        attributes={**attributes, **_common(session, reply)},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as exc:
            span.set_status(api.Status(api.StatusCode.ERROR, type(exc).__name__))
            raise


def _told(session: Session, reply: Reply, name: str, attributes: dict[str, Any], since: str, until: str) -> None:
    """A span of something that is over."""
    _api().get_tracer(_SCOPE).start_span(
        name,
        context=_parent(reply.trace),
        attributes={**attributes, **_common(session, reply)},
        start_time=int(_seconds(since) * 1e9),
    ).end(int(_seconds(until) * 1e9))


def _waited(session: Session, reply: Reply, was: CallAt, now: CallAt) -> None:
    if was.asked is None or now.answered is None:
        return
    what = {"sayso.request.kind": was.asked.kind, "gen_ai.tool.name": was.call.tool, "sayso.outcome": now.answered.how}
    attributes = {**what, "gen_ai.tool.call.id": was.call.id, "sayso.request.id": was.asked.request_id}
    _told(session, reply, f"wait {was.call.tool}", attributes, was.asked.at, now.answered.at)
    _metrics().waits.record(max(0.0, _seconds(now.answered.at) - _seconds(was.asked.at)), what)


def _ended(session: Session, reply: Reply) -> None:
    attributes = {"sayso.reply.ended": reply.ended or ""}
    _told(session, reply, f"reply {reply.name}", attributes, reply.at, reply.ended_at or reply.at)


def _common(session: Session, reply: Reply) -> dict[str, str]:
    return {
        "gen_ai.conversation.id": session.id,
        "gen_ai.agent.name": reply.name,
        "sayso.reply.id": reply.id,
    }


def _parent(trace: str) -> Any:
    """The context that a reply's spans stand in; None, which is the current one, where its first process had none."""
    api = _api()
    try:
        _, trace_id, span_id, flags = trace.split("-")
        context = api.SpanContext(int(trace_id, 16), int(span_id, 16), True, api.TraceFlags(int(flags, 16)))
    except ValueError:
        return None
    return api.set_span_in_context(api.NonRecordingSpan(context))


def _tool_of(reply: Reply, call_id: str) -> str:
    return next((c.call.tool for c in reply.calls if c.call.id == call_id), "")


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()

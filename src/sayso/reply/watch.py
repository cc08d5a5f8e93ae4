"""A fact becomes the events that watchers see. Pure.

live: the watcher has seen the model's and the tools' words as they came; otherwise finished blocks are replayed.
"""

from sayso.event import (
    AgentEvent,
    DataBlockDeltaEvent,
    DataBlockEndEvent,
    DataBlockStartEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    ReplyEndEvent,
    ReplyStartEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from sayso.message import ErrorInfo, ReplyFinishedReason
from sayso.reply.fact import CallSubmitted, Fact, ModelReplied, ReplyStarted, ToolReturned, ToolStarted
from sayso.reply.part import Call, Data, Part, Result, Text, Thinking
from sayso.reply.state import At, CallAt, Reply, Session
from sayso.reply.transcript import RESULT_STATE, as_call_block

__all__ = ["events_of", "output_event", "output_events", "part_events", "request_events"]


def events_of(before: Session, fact: Fact, after: Session, *, live: bool = True) -> list[AgentEvent]:
    """What a watcher sees of one accepted fact."""
    reply = after.reply
    if reply is None:
        return []
    out: list[AgentEvent] = []
    match fact:
        case ReplyStarted():
            return [ReplyStartEvent(session_id=after.id, reply_id=reply.id, name=reply.name)]
        case ModelReplied():
            if not live:
                out += _model_events(reply.id, fact)
        case ToolStarted() | CallSubmitted():
            c = next(c for c in reply.calls if c.call.id == fact.call_id)
            out.append(ToolResultStartEvent(reply_id=reply.id, tool_call_id=c.call.id, tool_call_name=c.call.tool))
        case _:
            out += _results(before, reply, live=live and isinstance(fact, ToolReturned))
    if reply.ended is not None and before.reply is not None and before.reply.ended is None:
        out.append(_end(after.id, reply))
    return out


def _end(session_id: str, reply: Reply) -> AgentEvent:
    error = ErrorInfo(type=reply.error[0], message=reply.error[1]) if reply.error else None
    reason = ReplyFinishedReason(reply.ended or "completed")
    return ReplyEndEvent(session_id=session_id, reply_id=reply.id, finished_reason=reason, error=error)


def _results(before: Session, reply: Reply, *, live: bool) -> list[AgentEvent]:
    """The results that are new: a call that was not under way yet starts and ends its result at once."""
    if before.reply is None or before.reply.calls is reply.calls:
        return []
    out: list[AgentEvent] = []
    for was, c in zip(before.reply.calls, reply.calls, strict=True):
        if c.result is not None and was.result is None:
            if was.at not in (At.RUNNING, At.SUBMITTED, At.IN_DOUBT):
                out.append(ToolResultStartEvent(reply_id=reply.id, tool_call_id=c.call.id, tool_call_name=c.call.tool))
            if not live:
                out += output_events(reply.id, c.result)
            state = RESULT_STATE[c.result.state]
            out.append(
                ToolResultEndEvent(reply_id=reply.id, tool_call_id=c.call.id, state=state, metadata=c.result.meta or {})
            )
    return out


def output_events(reply_id: str, result: Result) -> list[AgentEvent]:
    """The words and data of a result."""
    if isinstance(result.output, str):
        parts: tuple[Text | Data, ...] = (Text(id="", text=result.output),) if result.output else ()
    else:
        parts = result.output
    return [output_event(reply_id, result.call_id, p) for p in parts]


def output_event(reply_id: str, call_id: str, part: Text | Data) -> AgentEvent:
    """One piece of a result."""
    if isinstance(part, Text):
        return ToolResultTextDeltaEvent(reply_id=reply_id, tool_call_id=call_id, delta=part.text)
    return ToolResultDataDeltaEvent(
        reply_id=reply_id, tool_call_id=call_id, media_type=part.media_type, data=part.base64, url=part.url
    )


def _model_events(reply_id: str, fact: ModelReplied) -> list[AgentEvent]:
    out: list[AgentEvent] = [ModelCallStartEvent(reply_id=reply_id, model_name=fact.model)]
    for part in fact.parts:
        out += part_events(reply_id, part)
    u = fact.usage
    out.append(
        ModelCallEndEvent(
            reply_id=reply_id,
            input_tokens=u[0],
            output_tokens=u[1],
            cache_input_tokens=u[2],
            cache_creation_input_tokens=u[3],
        )
    )
    return out


def part_events(reply_id: str, part: Part) -> list[AgentEvent]:
    """A finished part of the model's answer, as a watcher sees it who missed the deltas."""
    match part:
        case Text():
            return [
                TextBlockStartEvent(reply_id=reply_id, block_id=part.id),
                TextBlockDeltaEvent(reply_id=reply_id, block_id=part.id, delta=part.text),
                TextBlockEndEvent(reply_id=reply_id, block_id=part.id),
            ]
        case Thinking():
            return [
                ThinkingBlockStartEvent(reply_id=reply_id, block_id=part.id),
                ThinkingBlockDeltaEvent(reply_id=reply_id, block_id=part.id, delta=part.text),
                ThinkingBlockEndEvent(reply_id=reply_id, block_id=part.id),
            ]
        case Data():
            kind, block = part.media_type, part.id
            return [
                DataBlockStartEvent(reply_id=reply_id, block_id=block, media_type=kind, name=part.name),
                DataBlockDeltaEvent(reply_id=reply_id, block_id=block, media_type=kind, data=part.base64, url=part.url),
                DataBlockEndEvent(reply_id=reply_id, block_id=block),
            ]
        case Call():
            return [
                ToolCallStartEvent(reply_id=reply_id, tool_call_id=part.id, tool_call_name=part.tool),
                ToolCallDeltaEvent(reply_id=reply_id, tool_call_id=part.id, delta=part.input),
                ToolCallEndEvent(reply_id=reply_id, tool_call_id=part.id),
            ]
        case _:
            return []


def request_events(session: Session, call_ids: frozenset[str] | None = None) -> list[AgentEvent]:
    """What a parked reply asks for: all of it, or what these calls ask. At most one event of each kind."""
    reply = session.reply
    if reply is None or reply.ended is not None:
        return []
    calls = [c for c in reply.calls if c.asked is not None and (call_ids is None or c.call.id in call_ids)]
    out: list[AgentEvent] = []
    if asked := [c for c in calls if c.at is At.ASKED]:
        out.append(_confirm(reply.id, asked, in_doubt=False))
    if doubtful := [c for c in calls if c.at is At.IN_DOUBT]:
        out.append(_confirm(reply.id, doubtful, in_doubt=True))
    if outside := [c for c in calls if c.at is At.SUBMITTED]:
        blocks = [as_call_block(c) for c in outside]
        out.append(RequireExternalExecutionEvent(reply_id=reply.id, tool_calls=blocks))
    return out


def _confirm(reply_id: str, calls: list[CallAt], *, in_doubt: bool) -> AgentEvent:
    reasons = {c.call.id: c.asked.why for c in calls if c.asked}
    previews = {
        c.call.id: {"kind": c.asked.shown.kind, "text": c.asked.shown.text, "cwd": c.asked.shown.cwd}
        for c in calls
        if c.asked and c.asked.shown
    }
    metadata: dict[str, object] = {"reasons": reasons, "previews": previews}
    if in_doubt:
        metadata["in_doubt"] = True
    return RequireUserConfirmEvent(reply_id=reply_id, tool_calls=[as_call_block(c) for c in calls], metadata=metadata)

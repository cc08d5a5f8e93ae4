"""The one translation between the log's language and the published one. Pure; nothing else knows both.

Parts become blocks and back, a session becomes messages, and a fact becomes the events that watchers see.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from sayso.message import (
    Base64Source,
    ContentBlock,
    DataBlock,
    ErrorInfo,
    HintBlock,
    Msg,
    ReplyFinishedReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    Usage,
)
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.reply.part import Call, Data, Hint, Part, Result, Rule, Said, Text, Thinking
from sayso.reply.said import said_of
from sayso.reply.state import At, CallAt, Reply, Session

__all__ = [
    "RESULT_STATE",
    "as_block",
    "as_call_block",
    "as_output",
    "as_part",
    "as_result",
    "as_result_block",
    "as_rule",
    "as_said",
    "as_usage",
    "message_of",
    "messages_of",
    "open_message",
    "permission_rule",
]

_CALL_STATE = {
    At.PROPOSED: ToolCallState.PENDING,
    At.ASKED: ToolCallState.ASKING,
    At.READY: ToolCallState.ALLOWED,
    At.RUNNING: ToolCallState.ALLOWED,
    At.SUBMITTED: ToolCallState.SUBMITTED,
    At.IN_DOUBT: ToolCallState.ASKING,
    At.DONE: ToolCallState.FINISHED,
}

RESULT_STATE = {state.value: state for state in ToolResultState}  # a look-up: calling the enum costs ten times more
_FINAL: dict[ToolResultState, Literal["success", "error", "denied", "interrupted"]] = {
    ToolResultState.SUCCESS: "success",
    ToolResultState.ERROR: "error",
    ToolResultState.DENIED: "denied",
    ToolResultState.INTERRUPTED: "interrupted",
    ToolResultState.RUNNING: "interrupted",
}


def permission_rule(rule: Rule) -> PermissionRule:
    """A session's rule in the published language."""
    return PermissionRule(
        tool_name=rule.tool,
        rule_content=rule.content,
        behavior=PermissionBehavior(rule.behavior),
        source=rule.source,
        expires_at=rule.expires_at,
    )


def as_rule(rule: PermissionRule, source: str | None = None) -> Rule:
    """A published rule in the log's language."""
    return Rule(
        tool=rule.tool_name,
        content=rule.rule_content,
        behavior=rule.behavior.value,
        source=source or rule.source,
        expires_at=rule.expires_at,
    )


def as_part(block: ContentBlock) -> Part:
    """A block in the log's language."""
    match block:
        case TextBlock():
            return Text(id=block.id, text=block.text, at=block.created_at)
        case ThinkingBlock():
            return Thinking(id=block.id, text=block.thinking, meta=block.metadata or None, at=block.created_at)
        case HintBlock():
            text = block.hint if isinstance(block.hint, str) else "\n".join(_words(block.hint))
            return Hint(id=block.id, text=text, source=block.source, at=block.created_at)
        case DataBlock():
            return _as_data(block)
        case ToolCallBlock():
            meta = block.metadata or None
            return Call(id=block.id, tool=block.name, input=block.input, meta=meta, at=block.created_at)
        case ToolResultBlock():
            return as_result(block)


def _words(blocks: Iterable[TextBlock | DataBlock]) -> list[str]:
    return [b.text if isinstance(b, TextBlock) else f"[{b.source.media_type}]" for b in blocks]


def _as_data(block: DataBlock) -> Data:
    source = block.source
    return Data(
        id=block.id,
        media_type=source.media_type,
        base64=source.data if isinstance(source, Base64Source) else None,
        url=source.url if isinstance(source, URLSource) else None,
        name=block.name,
        at=block.created_at,
    )


def as_output(output: str | Sequence[TextBlock | DataBlock]) -> str | tuple[Text | Data, ...]:
    """What a tool gave back, in the log's language; one piece of words is kept as bare text."""
    if isinstance(output, str):
        return output
    if len(output) == 1 and isinstance(output[0], TextBlock):
        return output[0].text
    return tuple(
        Text(id=b.id, text=b.text, at=b.created_at) if isinstance(b, TextBlock) else _as_data(b) for b in output
    )


def as_result(block: ToolResultBlock) -> Result:
    """A result in the log's language. One that never became final counts as interrupted."""
    return Result(
        call_id=block.id,
        tool=block.name,
        state=_FINAL[block.state],
        output=as_output(block.output),
        meta=block.metadata or None,
        at=block.finished_at or block.created_at,
    )


def as_usage(usage: Usage) -> tuple[int, int, int, int]:
    """Tokens in the log's language."""
    return (usage.input_tokens, usage.output_tokens, usage.cache_input_tokens, usage.cache_creation_input_tokens)


def as_said(message: Msg) -> Said:
    """A whole message in the log's language."""
    usage, error = message.usage, message.error
    return Said(
        id=message.id,
        name=message.name,
        role=message.role,
        parts=tuple(as_part(b) for b in message.content),
        at=message.created_at,
        ended_at=message.finished_at,
        ended=message.finished_reason.value if message.finished_reason else None,
        usage=None if usage is None else as_usage(usage),
        error=None if error is None else (error.type, error.message),
        meta=message.metadata or None,
    )


def as_block(part: Part) -> ContentBlock:
    """A part in the published language; a call that is not under way is finished."""
    match part:
        case Text():
            return TextBlock(id=part.id, text=part.text, created_at=part.at)
        case Thinking():
            return ThinkingBlock(id=part.id, thinking=part.text, metadata=part.meta or {}, created_at=part.at)
        case Hint():
            return HintBlock(id=part.id, hint=part.text, source=part.source, created_at=part.at)
        case Data():
            return _data_block(part)
        case Call():
            return ToolCallBlock(
                id=part.id,
                name=part.tool,
                input=part.input,
                state=ToolCallState.FINISHED,
                metadata=part.meta or {},
                created_at=part.at,
            )
        case Result():
            return as_result_block(part)


def _data_block(part: Data) -> DataBlock:
    source: Base64Source | URLSource
    if part.url is not None:
        source = URLSource(url=part.url, media_type=part.media_type)
    else:
        source = Base64Source(data=part.base64 or "", media_type=part.media_type)
    return DataBlock(id=part.id, source=source, name=part.name, created_at=part.at)


def as_result_block(part: Result) -> ToolResultBlock:
    """A result in the published language."""
    output: str | list[TextBlock | DataBlock]
    if isinstance(part.output, str):
        output = part.output
    else:
        output = [
            TextBlock(id=p.id, text=p.text, created_at=p.at) if isinstance(p, Text) else _data_block(p)
            for p in part.output
        ]
    return ToolResultBlock(
        id=part.call_id,
        name=part.tool,
        output=output,
        state=RESULT_STATE[part.state],
        metadata=part.meta or {},
        created_at=part.at,
        finished_at=part.at,
    )


def as_call_block(c: CallAt) -> ToolCallBlock:
    """A call under way, with where it stands and the rules offered with its question.

    `metadata["digest"]` names the question, so that an answer which carries the block back answers this one only.
    """
    metadata = dict(c.call.meta or {})
    rules: list[PermissionRule] = []
    if c.asked is not None and c.at in (At.ASKED, At.SUBMITTED, At.IN_DOUBT):
        metadata["digest"] = c.asked.digest
        rules = [permission_rule(o.rule) for o in c.asked.offers]
    return ToolCallBlock(
        id=c.call.id,
        name=c.call.tool,
        input=c.call.input,
        state=_CALL_STATE[c.at],
        suggested_rules=rules,
        metadata=metadata,
        created_at=c.call.at,
        finished_at=c.result.at if c.result else None,
    )


def message_of(said: Said) -> Msg:
    """A whole message in the published language."""
    return Msg(
        id=said.id,
        name=said.name,
        role=said.role,
        content=[as_block(p) for p in said.parts],
        created_at=said.at,
        finished_at=said.ended_at,
        finished_reason=ReplyFinishedReason(said.ended) if said.ended else None,
        usage=_usage(said.usage),
        error=said.error and ErrorInfo(type=said.error[0], message=said.error[1]),
        metadata=said.meta or {},
    )


def _usage(tokens: tuple[int, int, int, int] | None) -> Usage | None:
    if tokens is None:
        return None
    return Usage(
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cache_input_tokens=tokens[2],
        cache_creation_input_tokens=tokens[3],
    )


def open_message(reply: Reply) -> Msg:
    """The message of a reply under way: its calls show where they stand."""
    said = said_of(reply)
    now = {c.call.id: c for c in reply.calls}
    content = [as_call_block(now[p.id]) if isinstance(p, Call) and p.id in now else as_block(p) for p in said.parts]
    return Msg(
        id=said.id,
        name=said.name,
        role=said.role,
        content=content,
        created_at=said.at,
        finished_at=said.ended_at,
        finished_reason=ReplyFinishedReason(said.ended) if said.ended else None,
        usage=_usage(said.usage),
        error=said.error and ErrorInfo(type=said.error[0], message=said.error[1]),
    )


def messages_of(session: Session) -> list[Msg]:
    """The whole conversation, oldest first, the reply under way last."""
    out = [message_of(s) for s in session.history]
    if session.reply is not None and session.reply.ended is None:
        out.append(open_message(session.reply))
    return out

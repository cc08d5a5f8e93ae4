"""Our events and messages in AG-UI's language. Pure: state goes in, events come out.

Text streams as it comes; calls, thoughts and results are given whole, from the log. See https://docs.ag-ui.com.
"""

from collections.abc import Iterator, Sequence

from ag_ui.core import (
    AssistantMessage,
    BaseEvent,
    FunctionCall,
    Interrupt,
    Message,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    SystemMessage,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCall,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    ToolMessage,
    UserMessage,
)

from sayso.event import (
    AgentEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ToolCallDeltaEvent,
    ToolResultEndEvent,
    ToolResultTextDeltaEvent,
)
from sayso.event import (
    ToolCallEndEvent as CallEnd,
)
from sayso.event import (
    ToolCallStartEvent as CallStart,
)
from sayso.host import Seen
from sayso.message import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from sayso.request import Request

__all__ = ["Translation", "interrupt_of", "messages_of"]


class Translation:
    """The events of one run. Keeps what was streamed, so that a finished block does not come twice."""

    def __init__(self) -> None:
        self._streamed: dict[str, str] = {}  # text blocks that were begun as they came, and what was sent of them
        self._open: set[str] = set()
        self._parts: dict[str, str] = {}
        self.names: dict[str, str] = {}  # of calls, by their id

    def events(self, seen: Seen) -> Iterator[BaseEvent]:
        """What a client sees of it."""
        self._parts = {}
        for event in seen.events:
            yield from self._live(event) if seen.seq is None else self._whole(event)

    def end(self) -> Iterator[BaseEvent]:
        """Close what is open: a run may not end in the middle of a message."""
        for block_id in sorted(self._open):
            yield TextMessageEndEvent(message_id=block_id)
        self._open.clear()

    def _live(self, event: AgentEvent) -> Iterator[BaseEvent]:
        match event:
            case TextBlockDeltaEvent(block_id=block_id, delta=delta) if delta:
                yield from self._begin(block_id)
                self._streamed[block_id] += delta
                yield TextMessageContentEvent(message_id=block_id, delta=delta)
            case _:
                return

    def _begin(self, block_id: str) -> Iterator[BaseEvent]:
        if block_id not in self._streamed:
            self._streamed[block_id] = ""
            self._open.add(block_id)
            yield TextMessageStartEvent(message_id=block_id, role="assistant")

    def _whole(self, event: AgentEvent) -> Iterator[BaseEvent]:
        match event:
            case TextBlockStartEvent() | CallStart():
                return
            case TextBlockDeltaEvent(block_id=key) | ThinkingBlockDeltaEvent(block_id=key):
                self._parts[key] = self._parts.get(key, "") + event.delta
            case ToolCallDeltaEvent(tool_call_id=key) | ToolResultTextDeltaEvent(tool_call_id=key):
                self._parts[key] = self._parts.get(key, "") + event.delta
            case TextBlockEndEvent(block_id=block_id):
                yield from self._text(block_id, self._parts.pop(block_id, ""))
            case ThinkingBlockEndEvent(block_id=block_id):
                yield from _thoughts(block_id, self._parts.pop(block_id, ""))
            case CallEnd():
                yield from self._call(event)
            case ToolResultEndEvent(tool_call_id=call_id):
                yield ToolCallResultEvent(
                    message_id=f"{call_id}-result",
                    tool_call_id=call_id,
                    content=self._parts.pop(call_id, ""),
                    role="tool",
                )
            case _:
                return

    def _text(self, block_id: str, text: str) -> Iterator[BaseEvent]:
        if not text:
            return
        yield from self._begin(block_id)
        rest = text.removeprefix(self._streamed[block_id])
        if rest:  # the whole of it, or what a slow reader missed at its end
            yield TextMessageContentEvent(message_id=block_id, delta=rest)
        self._open.discard(block_id)
        yield TextMessageEndEvent(message_id=block_id)

    def _call(self, event: CallEnd) -> Iterator[BaseEvent]:
        call_id = event.tool_call_id
        yield ToolCallStartEvent(tool_call_id=call_id, tool_call_name=self.names.get(call_id, "tool"))
        yield ToolCallArgsEvent(tool_call_id=call_id, delta=self._parts.pop(call_id, "") or "{}")
        yield ToolCallEndEvent(tool_call_id=call_id)


def _thoughts(block_id: str, text: str) -> Iterator[BaseEvent]:
    if not text:
        return
    yield ReasoningStartEvent(message_id=block_id)
    yield ReasoningMessageStartEvent(message_id=block_id, role="reasoning")
    yield ReasoningMessageContentEvent(message_id=block_id, delta=text)
    yield ReasoningMessageEndEvent(message_id=block_id)
    yield ReasoningEndEvent(message_id=block_id)


def messages_of(context: Sequence[Msg]) -> list[Message]:
    """A conversation as AG-UI's messages: each text, each group of calls and each result is one."""
    out: list[Message] = []
    for msg in context:
        if msg.role == "user":
            out.append(UserMessage(id=msg.id, content=msg.get_text_content() or ""))
        elif msg.role == "system":
            out.append(SystemMessage(id=msg.id, content=msg.get_text_content() or ""))
        else:
            out += _assistant(msg)
    return out


def _assistant(msg: Msg) -> Iterator[Message]:
    for block in msg.content:
        if isinstance(block, TextBlock):
            yield AssistantMessage(id=block.id, content=block.text)
        elif isinstance(block, ToolCallBlock):
            call = ToolCall(id=block.id, function=FunctionCall(name=block.name, arguments=block.input))
            yield AssistantMessage(id=f"{block.id}-call", tool_calls=[call])
        elif isinstance(block, ToolResultBlock) and block.finished_at is not None:
            yield ToolMessage(id=f"{block.id}-result", tool_call_id=block.id, content=block.text())


def interrupt_of(request: Request) -> Interrupt:
    """A request as an interrupt; what AG-UI has no field for is in its metadata."""
    metadata = {
        "kind": request.kind,
        "tool": request.tool,
        "input": request.input,
        "digest": request.digest,
        "inDoubt": request.in_doubt,
        "suggestedRules": [{"id": o.id, "matches": o.matches} for o in request.suggested_rules],
    }
    if request.preview is not None:
        metadata["preview"] = request.preview.model_dump(exclude_none=True)
    more = {"expires_at": request.expires_at} if request.expires_at else {}
    return Interrupt(
        id=request.id,
        reason="input_required" if request.kind == "ask" else "tool_call",
        message=request.why or f"{request.tool} waits for an answer.",
        tool_call_id=request.call_id,
        response_schema=_schema(request),
        metadata=metadata,
        **more,
    )


def _schema(request: Request) -> dict[str, object]:
    if request.kind != "confirm":
        return request.response_schema
    properties = {
        "approved": {"type": "boolean"},
        "editedArgs": request.response_schema.get("properties", {}).get("edited_input", {"type": "object"}),
        "rules": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
    }
    return {"type": "object", "properties": properties, "required": ["approved"]}

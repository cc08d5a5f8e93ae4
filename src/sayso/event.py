"""What a watcher sees: one class per event of a reply. Pydantic models that round-trip through JSON."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sayso.ids import new_id, now
from sayso.message import (
    DataBlock,
    ErrorInfo,
    ReplyFinishedReason,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from sayso.permission.rule import PermissionRule

__all__ = [
    "AgentEvent",
    "ConfirmResult",
    "CustomEvent",
    "DataBlockDeltaEvent",
    "DataBlockEndEvent",
    "DataBlockStartEvent",
    "EventBase",
    "EventType",
    "ExternalExecutionResultEvent",
    "HintBlockEvent",
    "ModelCallEndEvent",
    "ModelCallStartEvent",
    "ReplyEndEvent",
    "ReplyFinishedReason",
    "ReplyStartEvent",
    "RequireExternalExecutionEvent",
    "RequireUserConfirmEvent",
    "TextBlockDeltaEvent",
    "TextBlockEndEvent",
    "TextBlockStartEvent",
    "ThinkingBlockDeltaEvent",
    "ThinkingBlockEndEvent",
    "ThinkingBlockStartEvent",
    "ToolCallDeltaEvent",
    "ToolCallEndEvent",
    "ToolCallStartEvent",
    "ToolResultDataDeltaEvent",
    "ToolResultEndEvent",
    "ToolResultStartEvent",
    "ToolResultTextDeltaEvent",
    "UserConfirmResultEvent",
    "UserInterruptEvent",
]


class EventType(StrEnum):
    """The `type` of every event."""

    REPLY_START = "REPLY_START"
    REPLY_END = "REPLY_END"
    MODEL_CALL_START = "MODEL_CALL_START"
    MODEL_CALL_END = "MODEL_CALL_END"
    TEXT_BLOCK_START = "TEXT_BLOCK_START"
    TEXT_BLOCK_DELTA = "TEXT_BLOCK_DELTA"
    TEXT_BLOCK_END = "TEXT_BLOCK_END"
    THINKING_BLOCK_START = "THINKING_BLOCK_START"
    THINKING_BLOCK_DELTA = "THINKING_BLOCK_DELTA"
    THINKING_BLOCK_END = "THINKING_BLOCK_END"
    DATA_BLOCK_START = "DATA_BLOCK_START"
    DATA_BLOCK_DELTA = "DATA_BLOCK_DELTA"
    DATA_BLOCK_END = "DATA_BLOCK_END"
    HINT_BLOCK = "HINT_BLOCK"
    TOOL_CALL_START = "TOOL_CALL_START"
    TOOL_CALL_DELTA = "TOOL_CALL_DELTA"
    TOOL_CALL_END = "TOOL_CALL_END"
    TOOL_RESULT_START = "TOOL_RESULT_START"
    TOOL_RESULT_TEXT_DELTA = "TOOL_RESULT_TEXT_DELTA"
    TOOL_RESULT_DATA_DELTA = "TOOL_RESULT_DATA_DELTA"
    TOOL_RESULT_END = "TOOL_RESULT_END"
    REQUIRE_USER_CONFIRM = "REQUIRE_USER_CONFIRM"
    REQUIRE_EXTERNAL_EXECUTION = "REQUIRE_EXTERNAL_EXECUTION"
    USER_CONFIRM_RESULT = "USER_CONFIRM_RESULT"
    EXTERNAL_EXECUTION_RESULT = "EXTERNAL_EXECUTION_RESULT"
    USER_INTERRUPT = "USER_INTERRUPT"
    CUSTOM = "CUSTOM"


class EventBase(BaseModel):
    """What every event has."""

    model_config = ConfigDict(defer_build=True)

    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=now)
    metadata: dict[str, Any] = Field(default_factory=dict)


class ConfirmResult(BaseModel):
    """One person's answer about one call.

    tool_call: the call as it came, or with its `input` edited; its name cannot be changed.
    rules: suggested rules that the person accepts for the future, or None.
    reason: text for the model when refused.
    """

    model_config = ConfigDict(defer_build=True)

    confirmed: bool
    tool_call: ToolCallBlock
    rules: list[PermissionRule] | None = None
    reason: str | None = None


class ReplyStartEvent(EventBase):
    """A reply begins."""

    type: Literal[EventType.REPLY_START] = EventType.REPLY_START
    session_id: str
    reply_id: str
    name: str
    role: Literal["user", "assistant", "system"] = "assistant"


class ReplyEndEvent(EventBase):
    """A reply ended. A parked reply has not: its stream ends without this event."""

    type: Literal[EventType.REPLY_END] = EventType.REPLY_END
    session_id: str
    reply_id: str
    finished_reason: ReplyFinishedReason = ReplyFinishedReason.COMPLETED
    error: ErrorInfo | None = None


class ModelCallStartEvent(EventBase):
    """The model is asked."""

    type: Literal[EventType.MODEL_CALL_START] = EventType.MODEL_CALL_START
    reply_id: str
    model_name: str


class ModelCallEndEvent(EventBase):
    """The model answered. finished_reason: `completed`, or `error` where this attempt failed."""

    type: Literal[EventType.MODEL_CALL_END] = EventType.MODEL_CALL_END
    reply_id: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    finished_reason: str = "completed"


class TextBlockStartEvent(EventBase):
    """A block of the model's words begins."""

    type: Literal[EventType.TEXT_BLOCK_START] = EventType.TEXT_BLOCK_START
    reply_id: str
    block_id: str


class TextBlockDeltaEvent(EventBase):
    """More of the model's words."""

    type: Literal[EventType.TEXT_BLOCK_DELTA] = EventType.TEXT_BLOCK_DELTA
    reply_id: str
    block_id: str
    delta: str


class TextBlockEndEvent(EventBase):
    """A block of the model's words is complete."""

    type: Literal[EventType.TEXT_BLOCK_END] = EventType.TEXT_BLOCK_END
    reply_id: str
    block_id: str


class ThinkingBlockStartEvent(EventBase):
    """A block of the model's reasoning begins."""

    type: Literal[EventType.THINKING_BLOCK_START] = EventType.THINKING_BLOCK_START
    reply_id: str
    block_id: str


class ThinkingBlockDeltaEvent(EventBase):
    """More of the model's reasoning."""

    type: Literal[EventType.THINKING_BLOCK_DELTA] = EventType.THINKING_BLOCK_DELTA
    reply_id: str
    block_id: str
    delta: str


class ThinkingBlockEndEvent(EventBase):
    """A block of the model's reasoning is complete."""

    type: Literal[EventType.THINKING_BLOCK_END] = EventType.THINKING_BLOCK_END
    reply_id: str
    block_id: str


class DataBlockStartEvent(EventBase):
    """A block of the model's data begins."""

    type: Literal[EventType.DATA_BLOCK_START] = EventType.DATA_BLOCK_START
    reply_id: str
    block_id: str
    media_type: str
    name: str | None = None


class DataBlockDeltaEvent(EventBase):
    """More of the model's data."""

    type: Literal[EventType.DATA_BLOCK_DELTA] = EventType.DATA_BLOCK_DELTA
    reply_id: str
    block_id: str
    media_type: str
    data: str | None = None
    url: str | None = None


class DataBlockEndEvent(EventBase):
    """A block of the model's data is complete."""

    type: Literal[EventType.DATA_BLOCK_END] = EventType.DATA_BLOCK_END
    reply_id: str
    block_id: str


class HintBlockEvent(EventBase):
    """The runtime tells the model something."""

    type: Literal[EventType.HINT_BLOCK] = EventType.HINT_BLOCK
    reply_id: str
    block_id: str
    source: str | None = None
    hint: str | list[TextBlock | DataBlock]


class ToolCallStartEvent(EventBase):
    """The model starts to write a call."""

    type: Literal[EventType.TOOL_CALL_START] = EventType.TOOL_CALL_START
    reply_id: str
    tool_call_id: str
    tool_call_name: str


class ToolCallDeltaEvent(EventBase):
    """A fragment of the call's JSON input."""

    type: Literal[EventType.TOOL_CALL_DELTA] = EventType.TOOL_CALL_DELTA
    reply_id: str
    tool_call_id: str
    delta: str


class ToolCallEndEvent(EventBase):
    """The call is written."""

    type: Literal[EventType.TOOL_CALL_END] = EventType.TOOL_CALL_END
    reply_id: str
    tool_call_id: str


class ToolResultStartEvent(EventBase):
    """A result begins."""

    type: Literal[EventType.TOOL_RESULT_START] = EventType.TOOL_RESULT_START
    reply_id: str
    tool_call_id: str
    tool_call_name: str


class ToolResultTextDeltaEvent(EventBase):
    """Words of a result."""

    type: Literal[EventType.TOOL_RESULT_TEXT_DELTA] = EventType.TOOL_RESULT_TEXT_DELTA
    reply_id: str
    tool_call_id: str
    delta: str


class ToolResultDataDeltaEvent(EventBase):
    """Data of a result: base64 text or a URL."""

    type: Literal[EventType.TOOL_RESULT_DATA_DELTA] = EventType.TOOL_RESULT_DATA_DELTA
    reply_id: str
    tool_call_id: str
    media_type: str
    data: str | None = None
    url: str | None = None


class ToolResultEndEvent(EventBase):
    """A result is complete. `metadata` is the result's."""

    type: Literal[EventType.TOOL_RESULT_END] = EventType.TOOL_RESULT_END
    reply_id: str
    tool_call_id: str
    state: ToolResultState


class RequireUserConfirmEvent(EventBase):
    """These calls wait for a person's yes or no; each carries its suggested_rules.

    metadata: `reasons` and `previews` by call id; `in_doubt` is true if these calls may have run already.
    """

    type: Literal[EventType.REQUIRE_USER_CONFIRM] = EventType.REQUIRE_USER_CONFIRM
    reply_id: str
    tool_calls: list[ToolCallBlock]


class RequireExternalExecutionEvent(EventBase):
    """These calls wait for a result from outside."""

    type: Literal[EventType.REQUIRE_EXTERNAL_EXECUTION] = EventType.REQUIRE_EXTERNAL_EXECUTION
    reply_id: str
    tool_calls: list[ToolCallBlock]


class UserConfirmResultEvent(EventBase):
    """An input: a person's answers."""

    type: Literal[EventType.USER_CONFIRM_RESULT] = EventType.USER_CONFIRM_RESULT
    reply_id: str
    confirm_results: list[ConfirmResult]


class ExternalExecutionResultEvent(EventBase):
    """An input: results from outside."""

    type: Literal[EventType.EXTERNAL_EXECUTION_RESULT] = EventType.EXTERNAL_EXECUTION_RESULT
    reply_id: str
    execution_results: list[ToolResultBlock]


class UserInterruptEvent(EventBase):
    """An input: stop this reply."""

    type: Literal[EventType.USER_INTERRUPT] = EventType.USER_INTERRUPT
    reply_id: str


class CustomEvent(EventBase):
    """Anything a program adds to the stream; the runtime sends none that a client must know."""

    type: Literal[EventType.CUSTOM] = EventType.CUSTOM
    name: str
    value: Any = None


AgentEvent = Annotated[
    ReplyStartEvent
    | ReplyEndEvent
    | ModelCallStartEvent
    | ModelCallEndEvent
    | TextBlockStartEvent
    | TextBlockDeltaEvent
    | TextBlockEndEvent
    | ThinkingBlockStartEvent
    | ThinkingBlockDeltaEvent
    | ThinkingBlockEndEvent
    | DataBlockStartEvent
    | DataBlockDeltaEvent
    | DataBlockEndEvent
    | HintBlockEvent
    | ToolCallStartEvent
    | ToolCallDeltaEvent
    | ToolCallEndEvent
    | ToolResultStartEvent
    | ToolResultTextDeltaEvent
    | ToolResultDataDeltaEvent
    | ToolResultEndEvent
    | RequireUserConfirmEvent
    | RequireExternalExecutionEvent
    | UserConfirmResultEvent
    | ExternalExecutionResultEvent
    | UserInterruptEvent
    | CustomEvent,
    Field(discriminator="type"),
]
"""Any event; validate unknown JSON with `pydantic.TypeAdapter(AgentEvent)`."""

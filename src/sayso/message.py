"""What is said: messages and the blocks they are made of. The published language of Sayso.

Pydantic models; `model_dump_json` and `model_validate_json` round-trip. Times are ISO 8601 with UTC offset.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from sayso.ids import new_id, now
from sayso.permission.rule import PermissionRule

__all__ = [
    "AssistantMsg",
    "Base64Source",
    "ContentBlock",
    "DataBlock",
    "ErrorInfo",
    "HintBlock",
    "Msg",
    "ReplyFinishedReason",
    "SystemMsg",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolCallState",
    "ToolResultBlock",
    "ToolResultState",
    "URLSource",
    "Usage",
    "UserMsg",
]

_CONFIG = ConfigDict(defer_build=True)


class ToolCallState(StrEnum):
    """Where a call stands, as a front end shows it."""

    PENDING = "pending"
    ASKING = "asking"
    ALLOWED = "allowed"
    SUBMITTED = "submitted"
    FINISHED = "finished"


class ToolResultState(StrEnum):
    """How a call ended; `running` while it has not."""

    SUCCESS = "success"
    ERROR = "error"
    DENIED = "denied"
    INTERRUPTED = "interrupted"
    RUNNING = "running"


class ReplyFinishedReason(StrEnum):
    """Why a reply ended. A parked reply has not ended and has none."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    EXCEED_MAX_ITERS = "exceed_max_iters"
    ERROR = "error"


class ErrorInfo(BaseModel):
    """What went wrong: `type` is a class of error, such as `rate_limited`; `message` is for people."""

    model_config = _CONFIG

    type: str
    message: str


class Usage(BaseModel):
    """Tokens of one model call, or of a reply."""

    model_config = _CONFIG

    input_tokens: int = 0
    output_tokens: int = 0
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class TextBlock(BaseModel):
    """Words."""

    model_config = _CONFIG

    type: Literal["text"] = "text"
    text: str
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class ThinkingBlock(BaseModel):
    """A model's reasoning. `metadata` is the provider's (a signature, redacted data), sent back as it came."""

    model_config = _CONFIG

    type: Literal["thinking"] = "thinking"
    thinking: str
    id: str = Field(default_factory=new_id)
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class Base64Source(BaseModel):
    """Bytes in place, base64 text."""

    model_config = _CONFIG

    type: Literal["base64"] = "base64"
    data: str
    media_type: str


class URLSource(BaseModel):
    """Bytes elsewhere."""

    model_config = _CONFIG

    type: Literal["url"] = "url"
    url: str
    media_type: str


class DataBlock(BaseModel):
    """An image, a sound, a file."""

    model_config = _CONFIG

    type: Literal["data"] = "data"
    source: Annotated[Base64Source | URLSource, Field(discriminator="type")]
    name: str | None = None
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class HintBlock(BaseModel):
    """Something the runtime tells the model: that a person edited a call, that a result may be incomplete."""

    model_config = _CONFIG

    type: Literal["hint"] = "hint"
    hint: str | list[TextBlock | DataBlock]
    source: str | None = None
    id: str = Field(default_factory=new_id)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class ToolCallBlock(BaseModel):
    """The model asks for a tool. `input` is JSON text, exactly as it will be parsed.

    metadata: the provider's, sent back as it came.
    """

    model_config = _CONFIG

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: str
    state: ToolCallState = ToolCallState.PENDING
    suggested_rules: list[PermissionRule] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class ToolResultBlock(BaseModel):
    """What came back for one call, whoever produced it. `id` is the call's."""

    model_config = _CONFIG

    type: Literal["tool_result"] = "tool_result"
    id: str
    name: str
    output: str | list[TextBlock | DataBlock] = ""
    state: ToolResultState = ToolResultState.RUNNING
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None

    def text(self) -> str:
        """The output's words, without its data."""
        if isinstance(self.output, str):
            return self.output
        return "\n".join(b.text for b in self.output if isinstance(b, TextBlock))


ContentBlock = Annotated[
    TextBlock | ThinkingBlock | HintBlock | DataBlock | ToolCallBlock | ToolResultBlock,
    Field(discriminator="type"),
]

_Block = TypeVar("_Block", bound=BaseModel)


class Msg(BaseModel):
    """One turn of one speaker. `content` given as text becomes one TextBlock.

    An assistant's message holds its whole reply: words, calls and their results, in order.
    finished_reason: None while the reply is parked or running.
    """

    model_config = _CONFIG

    name: str
    content: list[ContentBlock]
    role: Literal["user", "assistant", "system"]
    id: str = Field(default_factory=new_id)
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: str = Field(default_factory=now)
    usage: Usage | None = None
    finished_at: str | None = None
    finished_reason: ReplyFinishedReason | None = None
    error: ErrorInfo | None = None

    def __init__(self, **data: Any) -> None:
        if isinstance(data.get("content"), str):
            data["content"] = [TextBlock(text=data["content"])]
        super().__init__(**data)

    def get_text_content(self, separator: str = "\n") -> str:
        """The words of the message, without calls, results, thoughts and data."""
        return separator.join(b.text for b in self.content if isinstance(b, TextBlock))

    def get_content_blocks(self, kind: type[_Block]) -> list[_Block]:
        """The blocks of one class, in order."""
        return [b for b in self.content if isinstance(b, kind)]


def UserMsg(name: str = "user", content: str | Sequence[TextBlock | DataBlock] = "", **fields: Any) -> Msg:
    """A message of a person."""
    return Msg(name=name, content=content if isinstance(content, str) else list(content), role="user", **fields)


def AssistantMsg(name: str = "assistant", content: str | Sequence[Any] = "", **fields: Any) -> Msg:
    """A message of the agent."""
    return Msg(name=name, content=content if isinstance(content, str) else list(content), role="assistant", **fields)


def SystemMsg(name: str = "system", content: str | Sequence[TextBlock] = "", **fields: Any) -> Msg:
    """Instructions."""
    return Msg(name=name, content=content if isinstance(content, str) else list(content), role="system", **fields)

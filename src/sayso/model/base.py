"""What a model is to the runtime: messages in, a stream of pieces out, the whole answer last.

Adapters live beside this file, each over one well-kept client library. This file knows none of them.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from sayso.message import DataBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock, Usage

__all__ = [
    "CallDelta",
    "ChatModel",
    "ModelResponse",
    "ModelStream",
    "TextDelta",
    "ThinkingDelta",
    "ToolSchema",
]


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """What the model is told of a tool. `input_schema` is JSON schema of an object."""

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(slots=True)
class TextDelta:
    """Words of block `block` (an id unique in this answer)."""

    block: str
    text: str


@dataclass(slots=True)
class ThinkingDelta:
    """Reasoning of block `block`."""

    block: str
    text: str


@dataclass(slots=True)
class CallDelta:
    """A fragment of a call's JSON input. The first one of an id announces the call; `fragment` may be empty."""

    id: str
    name: str
    fragment: str


@dataclass(slots=True)
class ModelResponse:
    """The whole answer; the last thing a stream yields, and the only thing tools are run from.

    content: blocks in order. A call's `input` is the text the model wrote, complete or not: it is parsed later.
    finish_reason: the provider's word, such as `stop`, `tool_call`, `length`, or None.
    """

    content: list[TextBlock | ThinkingBlock | DataBlock | ToolCallBlock]
    usage: Usage = field(default_factory=Usage)
    model_name: str = ""
    finish_reason: str | None = None


ModelStream = AsyncIterator[TextDelta | ThinkingDelta | CallDelta | ModelResponse]


@runtime_checkable
class ChatModel(Protocol):
    """A chat model.

    respond: yields deltas while they arrive, then exactly one ModelResponse, and ends. Raises `ModelError`,
    classified; it does not retry: the agent does, within its budget. Closing the stream stops the request.
    """

    @property
    def model_name(self) -> str: ...

    def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream: ...

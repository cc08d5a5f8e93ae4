"""Models: one protocol, one adapter over a model client library, and a model that follows a script.

No provider library loads before a model is first used.
"""

from sayso.model.base import (
    CallDelta,
    ChatModel,
    ModelResponse,
    ModelStream,
    TextDelta,
    ThinkingDelta,
    ToolSchema,
)
from sayso.model.catalog import connect
from sayso.model.failure import Retry, classify
from sayso.model.provider import ProviderModel
from sayso.model.scripted import ScriptedModel

__all__ = [
    "CallDelta",
    "ChatModel",
    "ModelResponse",
    "ModelStream",
    "ProviderModel",
    "Retry",
    "ScriptedModel",
    "TextDelta",
    "ThinkingDelta",
    "ToolSchema",
    "classify",
    "connect",
]

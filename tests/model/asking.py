"""Asking a model from a test: one request on an event loop of its own, everything it yields kept."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from model.wire import WireServer
from sayso.errors import ModelError
from sayso.message import Msg, UserMsg
from sayso.model import ModelResponse, ToolSchema, connect

__all__ = ["LOOK", "Pieces", "answer_of", "ask", "failure_of"]

Pieces = list[Any]

LOOK = ToolSchema(
    "look",
    "Look something up.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)


def ask(
    server: WireServer,
    messages: Sequence[Msg] | str = "hello",
    *,
    spec: str = "openai:fake",
    tools: Sequence[ToolSchema] = (LOOK,),
    profile: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Pieces:
    """All that the model yields for one request to the server."""
    path = "" if spec.startswith("anthropic") else "/v1"
    model = connect(spec, base_url=server.address + path, profile=profile, settings=settings)
    said = [UserMsg(content=messages)] if isinstance(messages, str) else messages

    async def go() -> Pieces:
        return [piece async for piece in model.respond(said, tools)]

    return asyncio.run(go())


def answer_of(pieces: Pieces) -> ModelResponse:
    """The whole answer, which is the last piece and the only one of its kind."""
    wholes = [p for p in pieces if isinstance(p, ModelResponse)]
    assert wholes == pieces[-1:]
    return wholes[0]


def failure_of(server: WireServer, messages: Sequence[Msg] | str = "hello", *, spec: str = "openai:fake") -> ModelError:
    """The error that one request to the server ends in."""
    try:
        ask(server, messages, spec=spec)
    except ModelError as error:
        return error
    raise AssertionError("the request did not fail")

"""The one adapter over pydantic-ai's model layer: a request out, its stream back in our words.

Owns the life of the connection and the reading of the stream. It knows no provider by name (see `catalog`) and keeps
nothing of a conversation. pydantic-ai and the provider's library load at the first request, in a thread, because
that takes seconds; `open` does it ahead of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sayso.errors import ModelError, SaysoError
from sayso.ids import new_id
from sayso.message import Msg, ToolCallBlock
from sayso.model.base import CallDelta, ModelResponse, TextDelta, ThinkingDelta, ToolSchema
from sayso.model.failure import classify

if TYPE_CHECKING:
    from pydantic_ai import messages as wire
    from pydantic_ai.models import Model

__all__ = ["ProviderModel"]

Delta = TextDelta | ThinkingDelta | CallDelta


class ProviderModel:
    """A model of a provider. Made by `connect`.

    name: as the provider calls it. build: makes the pydantic-ai model; called in a thread, once for each event loop.
    settings: pydantic-ai's `ModelSettings`, such as `max_tokens`, `temperature`, `thinking`, `timeout` (seconds).
    The provider library's own retries are off: the agent tries again, within its budget.
    """

    def __init__(self, name: str, build: Callable[[], Model], settings: Mapping[str, Any] | None = None) -> None:
        self._name = name
        self._build = build
        # An agent sends the same beginning again with every round; `cache` lets the provider charge for it once.
        self._settings = {"cache": True, **(settings or {}), "max_retries": 0}
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connection] = WeakKeyDictionary()

    @property
    def model_name(self) -> str:
        return self._name

    async def open(self) -> None:
        """Load the libraries and make the client now, not with the first request. Raises ModelError."""
        await self._connected()

    async def aclose(self) -> None:
        """Close the connections of this event loop; the next request opens new ones. Also done as the loop ends."""
        connection = self._open.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection.close()

    async def respond(
        self, messages: Sequence[Msg], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Delta | ModelResponse]:
        """Deltas as they arrive, then the whole answer. Raises ModelError. Closing it closes the HTTP stream."""
        model = await self._connected()
        from pydantic_ai.direct import model_request_stream

        from sayso.model.convert import as_history, as_parameters, as_response

        reading = _Reading(messages)
        history = as_history(messages)
        strict = model.profile.get("openai_supports_strict_tool_definition", True)
        parameters = as_parameters(messages, tools, strict=bool(strict))
        try:
            async with model_request_stream(
                model,
                history,
                model_settings=self._settings,  # type: ignore[arg-type]  # a TypedDict of known keys
                model_request_parameters=parameters,
            ) as stream:
                async for event in stream:
                    piece = reading.piece(event)
                    if piece is not None:
                        yield piece
                answer = stream.get()
        except Exception as error:  # whatever a library makes of bytes it did not expect; raised again, classified
            # Not `from error`: a provider's exception can hold headers and an echo of the key.
            raise classify(error) from None
        _refuse_unless_whole(answer)
        response = as_response(answer, reading.words, reading.calls, self._name)
        for piece in reading.unsaid(response):
            yield piece
        yield response

    async def _connected(self) -> Model:
        connection = self._open.setdefault(asyncio.get_running_loop(), _Connection(self._build))
        try:
            return await connection.model()
        except SaysoError:
            raise
        except Exception as error:  # of a library that does not load, or refuses its settings; raised again
            raise classify(error) from None


class _Connection:
    """A client and its pool, on one event loop: pools cannot be shared between loops."""

    def __init__(self, build: Callable[[], Model]) -> None:
        self._build = build
        self._making = asyncio.Lock()
        self._model: Model | None = None
        self._life: AsyncGenerator[Model, None] | None = None

    async def model(self) -> Model:
        if self._model is None:
            async with self._making:
                if self._model is None:
                    life = self._live()
                    self._model, self._life = await anext(life), life
        return self._model

    async def close(self) -> None:
        if self._life is not None:
            await self._life.aclose()

    async def _live(self) -> AsyncGenerator[Model, None]:
        # A generator, because an event loop closes those it still has as it ends: nothing leaks where nobody
        # calls `aclose`.
        try:
            async with await asyncio.to_thread(_load, self._build) as model:
                yield model
        finally:
            self._model = self._life = None


def _load(build: Callable[[], Model]) -> Model:
    import pydantic_ai.direct  # noqa: F401  # with all it imports; `respond` then finds it there

    return build()


class _Reading:
    """One stream as it is read: which part is which of our blocks."""

    def __init__(self, messages: Sequence[Msg]) -> None:
        from pydantic_ai import messages as wire

        self._wire = wire
        self.words: dict[int, str] = {}
        self.calls: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._silent: set[str] = set()  # calls of which no fragment came yet
        # Small servers number the calls of each answer from zero; an id must name one call of the conversation.
        self._taken = {b.id for m in messages for b in m.content if isinstance(b, ToolCallBlock)}

    def piece(self, event: object) -> Delta | None:
        """What the event says to us, if anything. Events and parts of later versions say nothing."""
        kind = type(event)
        if kind is self._wire.PartDeltaEvent:
            return self._delta(event)  # type: ignore[arg-type]  # compared, not isinstance: this runs for each delta
        if kind is self._wire.PartStartEvent:
            return self._start(event.index, event.part)  # type: ignore[attr-defined]
        return None

    def _delta(self, event: wire.PartDeltaEvent) -> Delta | None:
        index, delta = event.index, event.delta
        kind = type(delta)
        if kind is self._wire.TextPartDelta:
            text, make = delta.content_delta, TextDelta  # type: ignore[union-attr]
        elif kind is self._wire.ThinkingPartDelta:
            text, make = delta.content_delta, ThinkingDelta  # type: ignore[union-attr, assignment]
        elif kind is self._wire.ToolCallPartDelta and index in self.calls:
            text = delta.args_delta  # type: ignore[union-attr]
            return self._fragment(index, text) if isinstance(text, str) and text else None
        else:
            return None
        return make(self._block(index), text) if text else None

    def _start(self, index: int, part: wire.ModelResponsePart) -> Delta | None:
        if index in self.words or index in self.calls:
            return None  # a part that is sent again, whole
        if isinstance(part, self._wire.TextPart):
            block = self._block(index)
            return TextDelta(block, part.content) if part.content else None
        if isinstance(part, self._wire.ThinkingPart):
            block = self._block(index)
            return ThinkingDelta(block, part.content) if part.content else None
        if isinstance(part, self._wire.ToolCallPart):
            call_id = part.tool_call_id
            if not call_id or call_id in self._taken:
                call_id = new_id()
            self._taken.add(call_id)
            self._silent.add(call_id)
            self.calls[index], self._names[index] = call_id, part.tool_name
            return self._fragment(index, part.args if isinstance(part.args, str) else "")
        return None

    def unsaid(self, response: ModelResponse) -> list[CallDelta]:
        """The inputs that came as an object and not as text, or not at all: each in one piece."""
        calls = [b for b in response.content if isinstance(b, ToolCallBlock) and b.id in self._silent]
        return [CallDelta(c.id, c.name, c.input) for c in calls if c.input]

    def _fragment(self, index: int, text: str) -> CallDelta:
        call_id = self.calls[index]
        if text:
            self._silent.discard(call_id)
        return CallDelta(call_id, self._names[index], text)

    def _block(self, index: int) -> str:
        block = self.words.get(index)
        if block is None:
            block = self.words[index] = new_id()
        return block


def _refuse_unless_whole(answer: wire.ModelResponse) -> None:
    """Raise for an answer that is not one: it stopped short, was filtered, or the provider says it failed."""
    details = answer.provider_details or {}
    reason = answer.finish_reason
    if reason == "content_filter":
        said = str(details.get("refusal") or details.get("explanation") or "").strip()[:300]
        raise ModelError(f"The provider withheld the answer{': ' + said if said else '.'}", kind="content_filter")
    if reason == "error":
        said = str(details.get("finish_reason") or "no reason given")[:300]
        raise ModelError(f"The provider gave up on the answer: {said}", kind="server")
    if answer.state != "complete" or not (reason or details.get("finish_reason")):
        raise ModelError("The provider's stream ended before the answer did.", kind="broken_stream")

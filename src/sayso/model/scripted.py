"""A model that says what it was told to: for tests, demonstrations and benchmarks. No network, no surprises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from sayso.errors import ModelError
from sayso.ids import new_id
from sayso.message import DataBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock
from sayso.model.base import CallDelta, ModelResponse, TextDelta, ThinkingDelta, ToolSchema

__all__ = ["ModelRequest", "ScriptedModel", "Turn"]

Block = TextBlock | ThinkingBlock | DataBlock | ToolCallBlock
Turn = str | Sequence[Block] | ModelResponse | BaseException
"""What the model says once: words, blocks, a whole answer (to give its usage), or an exception to raise."""


@dataclass(slots=True)
class ModelRequest:
    """What a model was asked."""

    messages: list[Msg]
    tools: list[ToolSchema]


class ScriptedModel:
    """Answers with `turns`, one for each request, in order.

    turns: each a `Turn`, or a function of the messages that gives one.
    chunk: characters of a delta; None streams each block in one piece.
    requests: what it was asked, in order. A request beyond the last turn raises ModelError `invalid_request`.
    """

    def __init__(
        self,
        turns: Iterable[Turn | Callable[[Sequence[Msg]], Turn]] = (),
        *,
        chunk: int | None = None,
        model_name: str = "scripted",
    ) -> None:
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk must be at least 1 character, not {chunk}")
        self._turns = list(turns)
        self._chunk = chunk
        self._name = model_name
        self.requests: list[ModelRequest] = []

    @property
    def model_name(self) -> str:
        return self._name

    async def respond(
        self, messages: Sequence[Msg], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[TextDelta | ThinkingDelta | CallDelta | ModelResponse]:
        """The next turn, streamed."""
        turn = self._next(messages, tools)
        if isinstance(turn, BaseException):
            raise turn
        response = turn if isinstance(turn, ModelResponse) else self._response(turn)
        chunk = self._chunk
        for block in response.content:
            if isinstance(block, TextBlock):
                for text in _pieces(block.text, chunk):
                    yield TextDelta(block.id, text)
            elif isinstance(block, ThinkingBlock):
                for text in _pieces(block.thinking, chunk):
                    yield ThinkingDelta(block.id, text)
            elif isinstance(block, ToolCallBlock):
                for text in _pieces(block.input, chunk) or ("",):
                    yield CallDelta(block.id, block.name, text)
        yield response

    def _next(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> Turn:
        number = len(self.requests)
        self.requests.append(ModelRequest(list(messages), list(tools)))
        if number >= len(self._turns):
            raise ModelError(
                f"The scripted model has {len(self._turns)} turns and was asked {number + 1} times: write another.",
                kind="invalid_request",
            )
        turn = self._turns[number]
        return turn(messages) if callable(turn) else turn

    def _response(self, turn: str | Sequence[Block]) -> ModelResponse:
        content: list[Block] = [TextBlock(text=turn, id=new_id())] if isinstance(turn, str) else list(turn)
        calls = any(isinstance(b, ToolCallBlock) for b in content)
        return ModelResponse(content=content, model_name=self._name, finish_reason="tool_call" if calls else "stop")


def _pieces(text: str, chunk: int | None) -> Sequence[str]:
    if chunk is None or len(text) <= chunk:
        return (text,) if text else ()
    return [text[i : i + chunk] for i in range(0, len(text), chunk)]

"""One iteration's model call: the stream becomes events as it comes, a failure is tried again within the budget.

Tools are run from the final response only. What a failed attempt had said is not history: its blocks are closed for
the watchers and the next attempt begins new ones.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from sayso.errors import ModelError
from sayso.event import (
    AgentEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from sayso.ids import new_id, now
from sayso.message import Msg
from sayso.model.base import CallDelta, ChatModel, ModelResponse, TextDelta, ThinkingDelta, ToolSchema
from sayso.model.failure import Retry, classify
from sayso.reply.fact import ModelReplied
from sayso.reply.part import Call, Part, Text, Thinking
from sayso.reply.transcript import as_part, as_usage
from sayso.reply.watch import part_events

__all__ = ["ask_model"]

Emit = Callable[[AgentEvent], None]


async def ask_model(
    model: ChatModel,
    messages: Sequence[Msg],
    tools: Sequence[ToolSchema],
    *,
    reply_id: str,
    taken: frozenset[str],
    is_safe: Callable[[str], bool],
    retry: Retry,
    emit: Emit | None,
) -> ModelReplied:
    """Ask until the model answers. Raises ModelError when the budget is spent or trying again cannot help.

    taken: call ids this reply has already; a model that uses one again gets a new id for it.
    """
    ids = _Ids(taken)
    attempt, until = 0, time.monotonic() + retry.budget
    while True:
        attempt += 1
        try:
            response = await _attempt(model, messages, tools, reply_id, ids, emit)
            break
        except Exception as exc:
            error = classify(exc)
            delay = retry.delay(attempt, error, random=random.random())  # noqa: S311 - jitter, no secret
            if not error.transient or delay is None or time.monotonic() + delay > until:
                raise error from (None if error is exc else exc)
            await asyncio.sleep(delay)
    return ModelReplied(
        at=now(),
        reply_id=reply_id,
        parts=_parts(response, ids, is_safe),
        model=response.model_name or model.model_name,
        usage=as_usage(response.usage),
        finish=response.finish_reason,
    )


class _Ids:
    """The ids of this answer's calls: the model's own, or a new one where the reply has had that id already."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = taken
        self._new: dict[str, str] = {}

    def of(self, call_id: str) -> str:
        if call_id and call_id not in self._taken:
            return call_id
        return self._new.setdefault(call_id, new_id())


def _parts(response: ModelResponse, ids: _Ids, is_safe: Callable[[str], bool]) -> tuple[Part, ...]:
    parts: list[Part] = []
    used: set[str] = set()
    for block in response.content:
        part = as_part(block)
        if isinstance(part, Call):
            call_id = ids.of(part.id)
            if call_id in used:
                call_id = new_id()
            used.add(call_id)
            part = replace(part, id=call_id, safe=is_safe(part.tool))
        parts.append(part)
    return tuple(parts)


async def _attempt(
    model: ChatModel,
    messages: Sequence[Msg],
    tools: Sequence[ToolSchema],
    reply_id: str,
    ids: _Ids,
    emit: Emit | None,
) -> ModelResponse:
    response: ModelResponse | None = None
    if emit is None:
        async for piece in model.respond(messages, tools):
            if type(piece) is ModelResponse:
                response = piece
        return _whole(response)
    emit(ModelCallStartEvent(reply_id=reply_id, model_name=model.model_name))
    shown = _Shown(reply_id, ids, emit)
    stream = model.respond(messages, tools)
    try:
        async for piece in stream:
            kind = type(piece)
            if kind is TextDelta:
                shown.text(piece)  # type: ignore[arg-type]  # the class was compared, which is cheaper here
            elif kind is ModelResponse:
                response = piece  # type: ignore[assignment]
            elif kind is ThinkingDelta:
                shown.thinking(piece)  # type: ignore[arg-type]
            elif kind is CallDelta:
                shown.call(piece)  # type: ignore[arg-type]
        whole = _whole(response)
    except BaseException:
        shown.close()
        emit(ModelCallEndEvent(reply_id=reply_id, finished_reason="error"))
        raise
    shown.rest(_parts(whole, ids, bool))
    u = whole.usage
    emit(
        ModelCallEndEvent(
            reply_id=reply_id,
            input_tokens=u.input_tokens,
            output_tokens=u.output_tokens,
            cache_input_tokens=u.cache_input_tokens,
            cache_creation_input_tokens=u.cache_creation_input_tokens,
        )
    )
    return whole


def _whole(response: ModelResponse | None) -> ModelResponse:
    if response is None:
        raise ModelError("the model's stream ended without an answer", kind="broken_stream")
    return response


class _Shown:
    """What the watchers have seen of one attempt: which blocks are begun, which is open."""

    def __init__(self, reply_id: str, ids: _Ids, emit: Emit) -> None:
        self._reply_id = reply_id
        self._ids = ids
        self._emit = emit
        self._words: str | None = None  # the open block of text or reasoning
        self._thinks = False
        self._calls: dict[str, None] = {}
        self._begun: set[str] = set()

    def text(self, delta: TextDelta) -> None:
        block = delta.block
        if block != self._words:
            self._open(block, thinks=False)
        self._emit(TextBlockDeltaEvent(reply_id=self._reply_id, block_id=block, delta=delta.text))

    def thinking(self, delta: ThinkingDelta) -> None:
        block = delta.block
        if block != self._words:
            self._open(block, thinks=True)
        self._emit(ThinkingBlockDeltaEvent(reply_id=self._reply_id, block_id=block, delta=delta.text))

    def _open(self, block: str, *, thinks: bool) -> None:
        self._end_words()
        self._words, self._thinks = block, thinks
        self._begun.add(block)
        start = ThinkingBlockStartEvent if thinks else TextBlockStartEvent
        self._emit(start(reply_id=self._reply_id, block_id=block))

    def _end_words(self) -> None:
        if self._words is not None:
            end = ThinkingBlockEndEvent if self._thinks else TextBlockEndEvent
            self._emit(end(reply_id=self._reply_id, block_id=self._words))
            self._words = None

    def call(self, delta: CallDelta) -> None:
        call_id = self._ids.of(delta.id)
        if call_id not in self._calls:
            self._end_words()
            self._calls[call_id] = None
            self._emit(ToolCallStartEvent(reply_id=self._reply_id, tool_call_id=call_id, tool_call_name=delta.name))
        if delta.fragment:
            self._emit(ToolCallDeltaEvent(reply_id=self._reply_id, tool_call_id=call_id, delta=delta.fragment))

    def close(self) -> None:
        """End what is open."""
        self._end_words()
        for call_id in self._calls:
            self._emit(ToolCallEndEvent(reply_id=self._reply_id, tool_call_id=call_id))

    def rest(self, parts: Sequence[Part]) -> None:
        """End what is open, and show the parts that came with the final response only."""
        self.close()
        for part in parts:
            begun = part.id in self._calls if isinstance(part, Call) else self._seen(part)
            if not begun:
                for event in part_events(self._reply_id, part):
                    self._emit(event)

    def _seen(self, part: Part) -> bool:
        return isinstance(part, Text | Thinking) and part.id in self._begun

"""Our messages and blocks in the words of pydantic-ai, and its answers in ours. No I/O.

A `Msg` of the agent holds its whole reply, several rounds of it; the wire wants each round as the model's answer
followed by a request with its results. What a provider needs back (signatures, ids, encrypted reasoning) travels in
the `metadata` of thinking and call blocks:

    part      what belongs to this block: id, signature, provider_name, provider_details
    response  on the first such block of a round, what belongs to the round: provider_name, provider_url,
              canonical_system, and `texts`, the same for its text parts in order
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import ModelError
from sayso.ids import new_id
from sayso.message import (
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    Usage,
)
from sayso.model.base import ModelResponse, ToolSchema

if TYPE_CHECKING:
    from pydantic_ai import messages as wire
    from pydantic_ai.models import ModelRequestParameters

__all__ = ["as_history", "as_parameters", "as_response"]

_PART: Final = ("id", "signature", "provider_name", "provider_details")
_RESPONSE: Final = ("provider_name", "provider_url", "canonical_system")

# How a result that is not a success reads to the model. An error needs no mark here: pydantic-ai sends it as the
# provider's own kind of error result where there is one, and as {"error": ...} elsewhere.
_MARKS: Final = {
    ToolResultState.DENIED: "[denied] ",
    ToolResultState.INTERRUPTED: "[interrupted] ",
    ToolResultState.RUNNING: "[not finished] ",
}
_OUTCOMES: Final = {
    ToolResultState.ERROR: "failed",
    ToolResultState.DENIED: "denied",
    ToolResultState.INTERRUPTED: "interrupted",
    ToolResultState.RUNNING: "interrupted",
}


def as_parameters(messages: Sequence[Msg], tools: Sequence[ToolSchema], *, strict: bool) -> ModelRequestParameters:
    """The tools, and the system messages at the head, as the parameters of a request.

    strict: schemas that fit the provider's strict mode may be sent in it; otherwise they go as they are.
    """
    from pydantic_ai.messages import InstructionPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    heads = [m.get_text_content() for m in messages[: _heads(messages)]]
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=t.name,
                description=t.description,
                parameters_json_schema=t.input_schema,
                strict=None if strict else False,
            )
            for t in tools
        ],
        instruction_parts=[InstructionPart(content=text) for text in heads if text] or None,
    )


def as_history(messages: Sequence[Msg]) -> list[wire.ModelMessage]:
    """What was said, without the system messages at its head, as requests and answers in turn.

    Raises ModelError `invalid_request` where a call has no result, or a result no call: what is sent is complete.
    """
    turns = _Turns()
    for message in messages[_heads(messages) :]:
        if message.role == "assistant":
            for block in message.content:
                turns.add(block)
        else:
            turns.ask(message)
    return turns.ended()


def as_response(
    response: wire.ModelResponse, words: Mapping[int, str], calls: Mapping[int, str], model_name: str
) -> ModelResponse:
    """The whole answer in our blocks.

    words, calls: the block id or call id under which the part at an index was streamed.
    """
    from pydantic_ai import messages as wire

    content: list[TextBlock | ThinkingBlock | DataBlock | ToolCallBlock] = []
    cut = response.finish_reason == "length"
    for index, part in enumerate(response.parts):
        block_id = words.get(index) or new_id()
        if isinstance(part, wire.TextPart):
            if part.content:
                content.append(TextBlock(text=part.content, id=block_id))
        elif isinstance(part, wire.ThinkingPart):
            content.append(ThinkingBlock(thinking=part.content, metadata=_part_metadata(part), id=block_id))
        elif isinstance(part, wire.ToolCallPart):
            content.append(
                ToolCallBlock(
                    id=calls.get(index, part.tool_call_id),
                    name=part.tool_name,
                    input=_input(part.args, cut),
                    metadata=_part_metadata(part),
                )
            )
        elif isinstance(part, wire.FilePart):
            source = Base64Source(data=part.content.base64, media_type=part.content.media_type)
            content.append(DataBlock(source=source))
        # Anything else is a provider's own tool or a part of a later version: nothing of ours.
    _keep_round(response, content)
    return ModelResponse(
        content=content,
        usage=_usage(response),
        model_name=response.model_name or model_name,
        finish_reason=response.finish_reason,
    )


# -- out: blocks to parts ------------------------------------------------------------------------


def _heads(messages: Sequence[Msg]) -> int:
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


class _Turns:
    """The conversation so far, as the wire has it: an answer being collected, then a request being collected."""

    def __init__(self) -> None:
        from pydantic_ai import messages

        self._wire = messages
        self._done: list[wire.ModelMessage] = []
        self._said: list[wire.ModelResponsePart] = []
        self._asked: list[wire.ModelRequestPart] = []
        self._hints: list[wire.ModelRequestPart] = []  # behind the results: providers want those first
        self._open: dict[str, str] = {}  # calls without a result yet, and their tools
        self._round: dict[str, Any] = {}

    def ask(self, message: Msg) -> None:
        """A message of a person, or a system message that is not at the head."""
        blocks = list(message.content)
        results = [b for b in blocks if isinstance(b, ToolResultBlock)]
        for block in results:
            self.add(block)
        content = self._content(b for b in blocks if isinstance(b, TextBlock | DataBlock | HintBlock))
        if not content:
            return
        if message.role == "system":
            content = ["[system] ", *content]
        self._end_answer()
        self._asked += [*self._hints, self._prompt(content)]
        self._hints = []

    def add(self, block: object) -> None:
        """The next block of the agent's own message."""
        if isinstance(block, ToolResultBlock):
            self._add_result(block)
        elif isinstance(block, HintBlock):
            mark = f"[hint from {block.source}] " if block.source else "[hint] "
            inside = [TextBlock(text=block.hint)] if isinstance(block.hint, str) else block.hint
            self._hints.append(self._prompt([mark, *self._content(inside)]))
        elif isinstance(block, TextBlock | ThinkingBlock | DataBlock | ToolCallBlock) and not _is_empty(block):
            self._end_request()
            self._said.append(self._part(block))

    def ended(self) -> list[wire.ModelMessage]:
        """All of it. The last is what the model is to answer."""
        self._end_answer()
        self._end_request()
        return self._done

    def _add_result(self, block: ToolResultBlock) -> None:
        if block.id not in self._open:
            raise _broken(f"the result for call {block.id!r} of tool {block.name!r} answers no open call")
        name = self._open.pop(block.id)
        self._flush_answer()
        mark = _MARKS.get(block.state, "")
        output = [TextBlock(text=block.output)] if isinstance(block.output, str) else block.output
        content = self._content(output)
        bare = all(isinstance(c, str) for c in content)
        self._asked.append(
            self._wire.ToolReturnPart(
                tool_name=name,
                content=mark + "\n".join(str(c) for c in content) if bare else [mark, *content] if mark else content,
                tool_call_id=block.id,
                outcome=_OUTCOMES.get(block.state, "success"),  # type: ignore[arg-type]  # its own literals
            )
        )

    def _part(self, block: TextBlock | ThinkingBlock | DataBlock | ToolCallBlock) -> wire.ModelResponsePart:
        if isinstance(block, TextBlock):
            return self._wire.TextPart(content=block.text)
        if isinstance(block, DataBlock):
            content = self._data(block)
            if isinstance(content, self._wire.BinaryContent):
                return self._wire.FilePart(content=content)
            return self._wire.TextPart(content=f"[{block.source.media_type}]")
        kept = block.metadata.get("part")
        kept = {k: kept[k] for k in _PART if k in kept} if isinstance(kept, dict) else {}
        if not self._round and isinstance(block.metadata.get("response"), dict):
            self._round = block.metadata["response"]
        if isinstance(block, ThinkingBlock):
            return self._wire.ThinkingPart(content=block.thinking, **kept)
        kept.pop("signature", None)
        if block.id in self._open:
            raise _broken(f"two calls in one answer have the id {block.id!r}")
        self._open[block.id] = block.name
        return self._wire.ToolCallPart(tool_name=block.name, args=_sendable(block.input), tool_call_id=block.id, **kept)

    def _end_answer(self) -> None:
        """Close the answer: from here on a call without a result would never get one."""
        if self._open:
            call_id, name = next(iter(self._open.items()))
            raise _broken(f"call {call_id!r} of tool {name!r} has no result")
        self._flush_answer()

    def _flush_answer(self) -> None:
        if self._said:
            self._done.append(self._answer(self._said))
            self._said, self._round = [], {}

    def _end_request(self) -> None:
        """Close the request, if one is being collected; an answer follows, or nothing."""
        if not self._asked and not self._hints:
            return
        self._end_answer()
        self._done.append(self._wire.ModelRequest(parts=[*self._asked, *self._hints]))
        self._asked, self._hints = [], []

    def _answer(self, parts: list[wire.ModelResponsePart]) -> wire.ModelResponse:
        kept = self._round
        texts = [p for p in parts if isinstance(p, self._wire.TextPart)]
        infos = kept.get("texts")
        if isinstance(infos, list) and len(infos) == len(texts):
            for part, info in zip(texts, infos, strict=True):
                part.id, part.provider_name = info.get("id"), info.get("provider_name")
                part.provider_details = info.get("provider_details")
        return self._wire.ModelResponse(parts=parts, **{k: kept[k] for k in _RESPONSE if k in kept})

    def _prompt(self, content: list[Any]) -> wire.UserPromptPart:
        bare = all(isinstance(c, str) for c in content)
        return self._wire.UserPromptPart(content="".join(content) if bare else content)

    def _content(self, blocks: Iterable[TextBlock | DataBlock | HintBlock]) -> list[Any]:
        """Words as text, one item for neighbours; data as the wire has it."""
        items: list[Any] = []
        for block in blocks:
            if isinstance(block, DataBlock):
                items.append(self._data(block))
                continue
            if isinstance(block, HintBlock):
                inside = [block.hint] if isinstance(block.hint, str) else self._content(block.hint)
            else:
                inside = [block.text]
            for item in inside:
                if isinstance(item, str) and items and isinstance(items[-1], str):
                    items[-1] += "\n" + item
                elif item:
                    items.append(item)
        return items

    def _data(self, block: DataBlock) -> Any:
        source, name = block.source, block.name
        if isinstance(source, Base64Source):
            try:
                data = base64.b64decode(source.data, validate=True)
            except binascii.Error as error:
                raise _broken(f"data block {name or block.id!r} is not base64: {error}") from None
            return self._wire.BinaryContent(data=data, media_type=source.media_type)
        kinds: dict[str, Any] = {
            "image": self._wire.ImageUrl,
            "audio": self._wire.AudioUrl,
            "video": self._wire.VideoUrl,
        }
        kind = kinds.get(source.media_type.partition("/")[0], self._wire.DocumentUrl)
        return kind(url=source.url, media_type=source.media_type)


def _is_empty(block: TextBlock | ThinkingBlock | DataBlock | ToolCallBlock) -> bool:
    """Providers refuse empty text; thinking without words still counts where its signature is all there is."""
    if isinstance(block, TextBlock):
        return not block.text
    return isinstance(block, ThinkingBlock) and not block.thinking and "part" not in block.metadata


def _sendable(text: str) -> str | dict[str, Any]:
    """A call's input for the wire: as it was written, unless it is not an object.

    Servers parse the arguments of past calls (llama.cpp and vLLM answer 500 to a cut one), so what cannot be parsed
    goes as a value, under the name that pydantic-ai gives it for providers that want objects.
    """
    if not text.strip():
        return "{}"
    try:
        whole = isinstance(json.loads(text), dict)
    except ValueError:
        whole = False
    return text if whole else {"INVALID_JSON": text}


def _broken(what: str) -> ModelError:
    return ModelError(f"The history cannot be sent: {what}.", kind="invalid_request")


# -- in: parts to blocks -------------------------------------------------------------------------


def _input(args: str | Mapping[str, Any] | None, cut: bool) -> str:
    """The text the model wrote. No arguments at all is an empty object, unless the answer was cut off."""
    if isinstance(args, str) and args.strip():
        return args
    if isinstance(args, Mapping) and args:
        return json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    return "" if cut else "{}"


def _part_metadata(part: Any) -> dict[str, Any]:
    kept = _plain({k: getattr(part, k, None) for k in _PART})
    return {"part": kept} if kept else {}


def _keep_round(response: wire.ModelResponse, content: list[Any]) -> None:
    """Note what belongs to the round on its first block that can carry it."""
    from pydantic_ai import messages as wire

    bearer = next((b for b in content if isinstance(b, ThinkingBlock | ToolCallBlock)), None)
    if bearer is None:
        return
    kept = _plain({k: getattr(response, k, None) for k in _RESPONSE})
    texts = [p for p in response.parts if isinstance(p, wire.TextPart) and p.content]
    infos = [_plain({k: getattr(p, k, None) for k in _PART}) for p in texts]
    if any(infos):
        kept["texts"] = infos
    if kept:
        bearer.metadata["response"] = kept


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Only what is there, as JSON has it: it goes into the log."""
    from pydantic_core import to_jsonable_python

    return {k: to_jsonable_python(v, bytes_mode="base64") for k, v in values.items() if v}


def _usage(response: wire.ModelResponse) -> Usage:
    used = response.usage
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_input_tokens=used.cache_read_tokens,
        cache_creation_input_tokens=used.cache_write_tokens,
    )

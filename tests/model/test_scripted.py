"""The model that follows a script: the streams it makes, and what it keeps for a test to look at."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from model.asking import LOOK, answer_of
from sayso.errors import ModelError
from sayso.message import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    Usage,
    UserMsg,
)
from sayso.model import CallDelta, ChatModel, ModelResponse, ScriptedModel, TextDelta, ThinkingDelta


def heard(model: ScriptedModel, words: str = "hello") -> list[Any]:
    async def go() -> list[Any]:
        return [piece async for piece in model.respond([UserMsg(content=words)], [LOOK])]

    return asyncio.run(go())


def test_it_is_a_chat_model() -> None:
    assert isinstance(ScriptedModel(), ChatModel)


def test_text_is_a_turn() -> None:
    pieces = heard(ScriptedModel(["Hi"]))
    whole = answer_of(pieces)
    assert pieces[0] == TextDelta(whole.content[0].id, "Hi")
    assert (whole.model_name, whole.finish_reason) == ("scripted", "stop")


def test_blocks_are_streamed_in_order_and_come_whole_at_the_end() -> None:
    blocks: list[Any] = [
        ThinkingBlock(thinking="hm"),
        TextBlock(text="Hi"),
        DataBlock(source=Base64Source(data="aGk=", media_type="image/png")),
        ToolCallBlock(id="a", name="look", input='{"word":"sun"}'),
    ]
    pieces = heard(ScriptedModel([blocks]))
    assert [type(p) for p in pieces] == [ThinkingDelta, TextDelta, CallDelta, ModelResponse]
    whole = answer_of(pieces)
    assert (whole.content, whole.finish_reason) == (blocks, "tool_call")


def test_chunks_make_deltas_of_that_many_characters() -> None:
    call = ToolCallBlock(id="a", name="look", input="{}")
    pieces = heard(ScriptedModel([[TextBlock(text="abcde"), call]], chunk=2))
    assert [p.text for p in pieces if isinstance(p, TextDelta)] == ["ab", "cd", "e"]
    assert [p.fragment for p in pieces if isinstance(p, CallDelta)] == ["{}"]


def test_a_call_without_input_is_announced_all_the_same() -> None:
    pieces = heard(ScriptedModel([[ToolCallBlock(id="a", name="look", input="")]]))
    assert pieces[0] == CallDelta("a", "look", "")


def test_a_whole_response_keeps_its_usage() -> None:
    said = ModelResponse([TextBlock(text="x")], usage=Usage(input_tokens=7), finish_reason="length")
    assert answer_of(heard(ScriptedModel([said]))) is said


def test_an_exception_is_raised_and_the_next_turn_follows() -> None:
    model = ScriptedModel([ConnectionError("gone"), "back"])
    with pytest.raises(ConnectionError):
        heard(model)
    assert answer_of(heard(model)).content[0].type == "text"


def test_a_function_makes_its_turn_from_the_messages() -> None:
    def echo(messages: Sequence[Msg]) -> str:
        return messages[-1].get_text_content().upper()

    pieces = heard(ScriptedModel([echo]), "hi")
    assert isinstance(pieces[0], TextDelta)
    assert pieces[0].text == "HI"


def test_requests_are_kept() -> None:
    model = ScriptedModel(["a", "b"])
    heard(model, "one")
    heard(model, "two")
    assert [r.messages[0].get_text_content() for r in model.requests] == ["one", "two"]
    assert model.requests[0].tools == [LOOK]


def test_running_out_of_turns_says_so() -> None:
    model = ScriptedModel(["only"])
    heard(model)
    with pytest.raises(ModelError, match="has 1 turns and was asked 2 times") as caught:
        heard(model)
    assert caught.value.kind == "invalid_request"


def test_a_chunk_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ScriptedModel(chunk=0)

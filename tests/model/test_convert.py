"""A conversation in the order that providers want it: each round's answer, then a request with its results."""

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import messages as wire

from sayso.errors import ModelError
from sayso.message import (
    AssistantMsg,
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
)
from sayso.model.convert import as_history, as_parameters


def asks(call_id: str) -> ToolCallBlock:
    return ToolCallBlock(id=call_id, name="look", input="{}")


def gets(call_id: str, output: str = "ok", state: ToolResultState = ToolResultState.SUCCESS) -> ToolResultBlock:
    return ToolResultBlock(id=call_id, name="look", output=output, state=state)


def outline(messages: Sequence[Msg]) -> list[str]:
    """Each message as its side and the short forms of its parts: `says: hi, call a`, `hears: result a`."""
    lines = []
    for message in as_history(messages):
        words: list[str] = []
        for part in message.parts:
            match part:
                case wire.ToolCallPart():
                    words.append(f"call {part.tool_call_id}")
                case wire.ToolReturnPart():
                    words.append(f"result {part.tool_call_id}")
                case wire.TextPart() | wire.UserPromptPart():
                    words.append(str(part.content))
        lines.append(("says: " if isinstance(message, wire.ModelResponse) else "hears: ") + ", ".join(words))
    return lines


def test_several_rounds_in_one_message_become_answers_and_requests_in_turn() -> None:
    reply = [
        TextBlock(text="one"),
        asks("a"),
        asks("b"),
        gets("a"),
        gets("b"),
        asks("c"),
        gets("c"),
        TextBlock(text="end"),
    ]
    assert outline([UserMsg(content="hi"), AssistantMsg(content=reply), UserMsg(content="more")]) == [
        "hears: hi",
        "says: one, call a, call b",
        "hears: result a, result b",
        "says: call c",
        "hears: result c",
        "says: end",
        "hears: more",
    ]


def test_results_and_the_next_message_go_in_one_request() -> None:
    reply = [asks("a"), gets("a", state=ToolResultState.INTERRUPTED)]
    assert outline([UserMsg(content="hi"), AssistantMsg(content=reply), UserMsg(content="go on")])[-1] == (
        "hears: result a, go on"
    )


def test_a_hint_is_heard_after_the_results_of_its_round() -> None:
    reply = [asks("a"), HintBlock(hint="edited", source="person"), gets("a"), TextBlock(text="fine")]
    assert outline([UserMsg(content="hi"), AssistantMsg(content=reply)]) == [
        "hears: hi",
        "says: call a",
        "hears: result a, [hint from person] edited",
        "says: fine",
    ]


def test_a_hint_at_the_end_of_a_reply_is_heard_before_the_next_message() -> None:
    reply = [TextBlock(text="fine"), HintBlock(hint="late")]
    said = [UserMsg(content="hi"), AssistantMsg(content=reply), UserMsg(content="more")]
    assert outline(said)[2:] == ["hears: [hint] late, more"]


def test_the_same_call_id_may_be_used_again_in_a_later_round() -> None:
    reply = [asks("call_0"), gets("call_0"), asks("call_0"), gets("call_0")]
    assert len(outline([UserMsg(content="hi"), AssistantMsg(content=reply)])) == 5


@pytest.mark.parametrize(
    "reply",
    [
        [asks("a")],
        [asks("a"), asks("b"), gets("a")],
        [asks("a"), asks("b"), gets("a"), TextBlock(text="x"), gets("b")],
        [gets("a")],
        [asks("a"), gets("a"), gets("a")],
        [asks("a"), asks("a"), gets("a")],
        [asks("a"), gets("b")],
    ],
    ids=["open", "one open", "late", "unasked", "twice", "same id", "other id"],
)
def test_what_is_not_complete_is_not_sent(reply: list[Any]) -> None:
    with pytest.raises(ModelError) as caught:
        as_history([UserMsg(content="hi"), AssistantMsg(content=reply), UserMsg(content="more")])
    assert caught.value.kind == "invalid_request"


@pytest.mark.parametrize(
    ("state", "outcome", "content"),
    [
        (ToolResultState.SUCCESS, "success", "text"),
        (ToolResultState.ERROR, "failed", "text"),
        (ToolResultState.DENIED, "denied", "[denied] text"),
        (ToolResultState.INTERRUPTED, "interrupted", "[interrupted] text"),
        (ToolResultState.RUNNING, "interrupted", "[not finished] text"),
    ],
)
def test_the_model_sees_how_a_call_ended(state: ToolResultState, outcome: str, content: str) -> None:
    history = as_history([UserMsg(content="hi"), AssistantMsg(content=[asks("a"), gets("a", "text", state)])])
    part = history[-1].parts[0]
    assert isinstance(part, wire.ToolReturnPart)
    assert (part.outcome, part.content) == (outcome, content)


def test_a_result_of_several_texts_is_one_text() -> None:
    result = gets("a")
    result.output = [TextBlock(text="one"), TextBlock(text="two")]
    part = as_history([UserMsg(content="hi"), AssistantMsg(content=[asks("a"), result])])[-1].parts[0]
    assert isinstance(part, wire.ToolReturnPart)
    assert part.content == "one\ntwo"


def test_system_messages_at_the_head_are_instructions_and_later_ones_are_said_in_place() -> None:
    said = [SystemMsg(content="a"), SystemMsg(content="b"), UserMsg(content="hi"), SystemMsg(content="c")]
    parts = as_parameters(said, [], strict=True).instruction_parts
    assert parts is not None
    assert [p.content for p in parts] == ["a", "b"]
    assert outline(said) == ["hears: hi, [system] c"]


def test_blocks_without_words_are_left_out() -> None:
    assert outline([UserMsg(content="hi"), AssistantMsg(content=[TextBlock(text=""), asks("a"), gets("a")])]) == [
        "hears: hi",
        "says: call a",
        "hears: result a",
    ]


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("image/png", wire.ImageUrl),
        ("audio/mpeg", wire.AudioUrl),
        ("video/mp4", wire.VideoUrl),
        ("application/pdf", wire.DocumentUrl),
    ],
)
def test_an_address_keeps_its_media_type(media_type: str, kind: type) -> None:
    block = DataBlock(source=URLSource(url="https://example.org/x", media_type=media_type))
    part = as_history([UserMsg(content=[block])])[0].parts[0]
    assert isinstance(part, wire.UserPromptPart)
    assert [(type(c), getattr(c, "media_type", None)) for c in part.content] == [(kind, media_type)]

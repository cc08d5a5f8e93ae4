"""Chat Completions, as OpenAI-compatible servers speak it: what is read from the stream, and what is sent."""

import base64
import json
from typing import Any

from model.asking import LOOK, answer_of, ask
from model.fake_openai import DONE, answer, call, chunk, data, say, scripted, serve, think
from model.wire import Reply
from sayso.message import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
)
from sayso.model import CallDelta, TextDelta, ThinkingDelta, ToolSchema


def test_words_arrive_as_they_come_and_the_whole_answer_comes_last() -> None:
    with serve([answer(say("Hel", "lo ", "there"))]) as server:
        pieces = ask(server)
    deltas = [p for p in pieces if isinstance(p, TextDelta)]
    whole = answer_of(pieces)
    assert [d.text for d in deltas] == ["Hel", "lo ", "there"]
    assert [b.text for b in whole.content if isinstance(b, TextBlock)] == ["Hello there"]
    assert {d.block for d in deltas} == {whole.content[0].id}
    assert (whole.finish_reason, whole.model_name) == ("stop", "fake-1")


def test_usage_counts_what_came_from_the_cache() -> None:
    with serve([answer(say("x"))]) as server:
        usage = answer_of(ask(server)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_input_tokens) == (120, 30, 100)


def test_reasoning_is_a_block_of_its_own() -> None:
    with serve([answer(think("I ", "see"), say("Yes"))]) as server:
        pieces = ask(server)
    assert [p.text for p in pieces if isinstance(p, ThinkingDelta)] == ["I ", "see"]
    assert [type(b) for b in answer_of(pieces).content] == [ThinkingBlock, TextBlock]


def test_interleaved_calls_each_get_their_own_fragments() -> None:
    one, two = call(0, "a", "look", '{"word"', ': "sun"}'), call(1, "b", "look", '{"word": ', '"moon"}')
    mixed = [one[0], two[0], two[1], one[1], two[2], one[2]]
    with serve([answer(mixed)]) as server:
        pieces = ask(server)
    fragments: dict[str, str] = {}
    for piece in pieces:
        if isinstance(piece, CallDelta):
            fragments[piece.id] = fragments.get(piece.id, "") + piece.fragment
    calls = [b for b in answer_of(pieces).content if isinstance(b, ToolCallBlock)]
    assert {c.id: c.input for c in calls} == fragments == {"a": '{"word": "sun"}', "b": '{"word": "moon"}'}


def test_arguments_that_were_cut_off_come_through_as_they_are() -> None:
    with serve([answer(call(0, "a", "look", '{"word": "su'), finish="length")]) as server:
        whole = answer_of(ask(server))
    assert isinstance(whole.content[0], ToolCallBlock)
    assert (whole.content[0].input, whole.finish_reason) == ('{"word": "su', "length")


def test_a_call_without_arguments_is_an_empty_object_unless_it_was_cut_off() -> None:
    inputs = []
    for finish in ("tool_calls", "length"):
        with serve([answer(call(0, "a", "look"), finish=finish)]) as server:
            block = answer_of(ask(server)).content[0]
            assert isinstance(block, ToolCallBlock)
            inputs.append(block.input)
    assert inputs == ["{}", ""]


def test_the_fragments_of_a_call_make_its_input_even_where_none_came() -> None:
    with serve([answer(call(0, "a", "look"))]) as server:
        pieces = ask(server)
    assert [p.fragment for p in pieces if isinstance(p, CallDelta)] == ["", "{}"]


def test_a_call_id_that_the_conversation_has_already_becomes_a_new_one() -> None:
    earlier = [ToolCallBlock(id="call_0", name="look", input="{}"), ToolResultBlock(id="call_0", name="look")]
    twice = [*call(0, "call_0", "look", "{}"), *call(1, "call_0", "look", "{}")]
    with serve([answer(twice)]) as server:
        pieces = ask(server, [UserMsg(content="x"), AssistantMsg(content=earlier)])
    ids = [b.id for b in answer_of(pieces).content]
    assert len({*ids, "call_0"}) == 3
    assert [p.id for p in pieces if isinstance(p, CallDelta) and not p.fragment] == ids


def test_fields_and_events_that_nobody_knows_are_passed_over() -> None:
    strange = [
        b": a comment\n\n",
        b"event: weather\ndata: {}\n\n",
        chunk({"content": "Hi", "mood": {"x": 1}}, novelty=[1]),
        data({"object": "chat.completion.rumour", "choices": []}),
        chunk({}, "stop"),
        DONE,
    ]
    with serve([Reply(strange)]) as server:
        assert answer_of(ask(server)).content[0].type == "text"


def test_a_generic_server_is_sent_neither_strict_nor_max_completion_tokens() -> None:
    with serve([answer(say("x"))]) as server:
        ask(server, settings={"max_tokens": 77})
        sent = server.requests[0].body
    assert sent["max_tokens"] == 77
    assert "max_completion_tokens" not in sent
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": LOOK.description, "parameters": LOOK.input_schema},
        }
    ]


def test_a_profile_override_sends_them_after_all() -> None:
    profile = {"openai_supports_strict_tool_definition": True, "openai_chat_supports_max_completion_tokens": True}
    with serve([answer(say("x"))]) as server:
        ask(server, settings={"max_tokens": 77}, profile=profile)
        sent = server.requests[0].body
    assert sent["max_completion_tokens"] == 77
    assert sent["tools"][0]["function"]["strict"] is True


def test_without_tools_nothing_is_said_of_tools() -> None:
    with serve([answer(say("x"))]) as server:
        ask(server, tools=())
        assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(server.requests[0].body)


def test_images_go_in_as_data_and_as_addresses() -> None:
    pixel = base64.b64encode(b"\x89PNG\r\n").decode()
    content: list[TextBlock | DataBlock] = [
        TextBlock(text="what is it?"),
        DataBlock(source=Base64Source(data=pixel, media_type="image/png")),
        DataBlock(source=URLSource(url="https://example.org/cat.jpg", media_type="image/jpeg")),
    ]
    with serve([answer(say("a cat"))]) as server:
        ask(server, [UserMsg(content=content)])
        parts = server.requests[0].body["messages"][0]["content"]
    assert parts[0] == {"type": "text", "text": "what is it?"}
    assert [p["image_url"]["url"] for p in parts[1:]] == [
        f"data:image/png;base64,{pixel}",
        "https://example.org/cat.jpg",
    ]


def test_a_whole_reply_goes_back_as_its_rounds() -> None:
    with serve([answer(think("hm"), say("First"), call(0, "a", "look", '{"word":"sun"}')), answer(say("Bye"))]) as s:
        first = answer_of(ask(s))
        result = ToolResultBlock(id="a", name="look", output="a star", state=ToolResultState.SUCCESS)
        reply = AssistantMsg(content=[*first.content, result])
        ask(s, [SystemMsg(content="Be brief."), UserMsg(content="hello"), reply])
        sent = s.requests[1].body["messages"]
    asked = {"name": "look", "arguments": '{"word":"sun"}'}
    assert sent == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "reasoning_content": "hm",
            "content": "First",
            "tool_calls": [{"id": "a", "type": "function", "function": asked}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "a star"},
    ]


def test_what_a_provider_hangs_on_a_call_comes_back_with_it() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    with serve([answer(call(0, "a", "look", "{}", **signed)), answer(say("x"))]) as server:
        first = answer_of(ask(server))
        result = ToolResultBlock(id="a", name="look", output="y", state=ToolResultState.SUCCESS)
        ask(server, [UserMsg(content="hello"), AssistantMsg(content=[*first.content, result])])
        assert server.requests[1].body["messages"][1]["tool_calls"][0]["extra_content"] == signed["extra_content"]


def test_a_cut_call_goes_back_as_an_object_that_any_server_can_parse() -> None:
    cut = ToolCallBlock(id="a", name="look", input='{"word": "su')
    result = ToolResultBlock(id="a", name="look", output="bad JSON", state=ToolResultState.ERROR)
    with serve([answer(say("x"))]) as server:
        ask(server, [UserMsg(content="hello"), AssistantMsg(content=[cut, result])])
        sent = server.requests[0].body["messages"]
    assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"INVALID_JSON": '{"word": "su'}
    assert json.loads(sent[2]["content"]) == {"error": "bad JSON"}


def test_an_image_in_a_result_reaches_the_model() -> None:
    pixel = base64.b64encode(b"\x89PNG\r\n").decode()
    image = DataBlock(source=Base64Source(data=pixel, media_type="image/png"))
    output: list[TextBlock | DataBlock] = [TextBlock(text="here"), image]
    blocks = [
        ToolCallBlock(id="a", name="look", input="{}"),
        ToolResultBlock(id="a", name="look", output=output, state=ToolResultState.SUCCESS),
    ]
    with serve([answer(say("x"))]) as server:
        ask(server, [UserMsg(content="hello"), AssistantMsg(content=blocks)])
        sent = server.requests[0].body["messages"]
    assert "here" in sent[2]["content"]
    assert f"data:image/png;base64,{pixel}" in json.dumps(sent[3])


def test_tool_schemas_arrive_as_they_are() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 3, "minimum": 1}, "who": {"$ref": "#/$defs/Who"}},
        "$defs": {"Who": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }
    with serve([answer(say("x"))]) as server:
        ask(server, tools=[ToolSchema("count", "Count.", schema)])
        assert server.requests[0].body["tools"][0]["function"]["parameters"] == schema


def test_a_script_is_served_turn_by_turn() -> None:
    turns: list[dict[str, Any]] = [{"text": "你好, world"}, {"calls": [{"name": "look", "arguments": {"word": "日"}}]}]
    with serve(scripted(turns, size=3)) as server:
        first, second = answer_of(ask(server)), answer_of(ask(server))
    assert isinstance(first.content[0], TextBlock)
    assert isinstance(second.content[0], ToolCallBlock)
    assert (first.content[0].text, json.loads(second.content[0].input)) == ("你好, world", {"word": "日"})

"""The Messages API, as Anthropic speaks it: what is read from the stream, and what is sent."""

import base64

from model.asking import answer_of, ask
from model.fake_anthropic import answer, call, event, redacted, say, start, stop, think
from model.wire import Reply, WireServer
from sayso.message import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    HintBlock,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from sayso.model import CallDelta, TextDelta, ThinkingDelta

CLAUDE = "anthropic:fake-claude"


def test_thinking_words_and_calls_arrive_as_they_come() -> None:
    blocks = [think(0, "hm", "m", signature="c2ln"), say(1, "Hi ", "you"), call(2, "t1", "look", '{"word":', '"sun"}')]
    with WireServer([answer(*blocks, reason="tool_use")]) as server:
        pieces = ask(server, spec=CLAUDE)
    assert [p.text for p in pieces if isinstance(p, ThinkingDelta)] == ["hm", "m"]
    assert [p.text for p in pieces if isinstance(p, TextDelta)] == ["Hi ", "you"]
    assert [(p.name, p.fragment) for p in pieces if isinstance(p, CallDelta)] == [
        ("look", ""),
        ("look", '{"word":'),
        ("look", '"sun"}'),
    ]
    assert answer_of(pieces).finish_reason == "tool_call"


def test_usage_counts_what_the_cache_gave_and_what_it_took() -> None:
    with WireServer([answer(say(0, "x"))]) as server:
        usage = answer_of(ask(server, spec=CLAUDE)).usage
    assert (usage.cache_input_tokens, usage.cache_creation_input_tokens) == (100, 7)
    assert (usage.input_tokens, usage.output_tokens) == (127, 30)


def test_signatures_and_redacted_thinking_go_back_as_they_came() -> None:
    blocks = [think(0, "hm", signature="c2ln"), redacted(1, "eHh4"), call(2, "t1", "look", '{"word":"sun"}')]
    with WireServer([answer(*blocks, reason="tool_use"), answer(say(0, "x"))]) as server:
        first = answer_of(ask(server, spec=CLAUDE))
        stored = AssistantMsg(content=[*first.content, ToolResultBlock(id="t1", name="look", output="a star")])
        reread = type(stored).model_validate_json(stored.model_dump_json())
        ask(server, [UserMsg(content="hello"), reread], spec=CLAUDE)
        sent = server.requests[1].body["messages"]
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHh4"},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"word": "sun"}},
    ]


def test_the_signature_of_another_provider_is_not_sent() -> None:
    foreign = ThinkingBlock(thinking="hm", metadata={"part": {"signature": "c2ln", "provider_name": "elsewhere"}})
    with WireServer([answer(say(0, "x"))]) as server:
        said = [UserMsg(content="a"), AssistantMsg(content=[foreign, TextBlock(text="b")]), UserMsg(content="c")]
        ask(server, said, spec=CLAUDE)
        assert "c2ln" not in str(server.requests[0].body)


def test_results_come_first_in_the_answer_to_calls_and_hints_after_them() -> None:
    reply = [
        ToolCallBlock(id="t1", name="look", input='{"word":"sun"}'),
        ToolCallBlock(id="t2", name="look", input='{"word":"moon"}'),
        HintBlock(hint="A person changed it.", source="person"),
        ToolResultBlock(id="t1", name="look", output="no such word", state=ToolResultState.ERROR),
        ToolResultBlock(id="t2", name="look", output="Not now.", state=ToolResultState.DENIED),
    ]
    with WireServer([answer(say(0, "x"))]) as server:
        ask(server, [UserMsg(content="a"), AssistantMsg(content=reply)], spec=CLAUDE)
        parts = server.requests[0].body["messages"][2]["content"]
    assert [p["type"] for p in parts] == ["tool_result", "tool_result", "text"]
    assert [(p["is_error"], p["content"][0]["text"]) for p in parts[:2]] == [
        (True, "no such word"),
        (False, "[denied] Not now."),
    ]
    assert parts[2]["text"] == "[hint from person] A person changed it."


def test_instructions_tools_and_conversation_are_marked_for_the_cache() -> None:
    with WireServer([answer(say(0, "x")), answer(say(0, "x"))]) as server:
        said = [SystemMsg(content="Be brief."), UserMsg(content="a")]
        ask(server, said, spec=CLAUDE)
        ask(server, said, spec=CLAUDE, settings={"cache": False})
        marked, plain = (r.body for r in server.requests)
    assert "cache_control" in marked["system"][0]
    assert "cache_control" in marked["tools"][-1]
    assert "cache_control" not in str(plain)


def test_an_image_goes_in_as_data() -> None:
    pixel = base64.b64encode(b"\x89PNG\r\n").decode()
    image = DataBlock(source=Base64Source(data=pixel, media_type="image/png"))
    content: list[TextBlock | DataBlock] = [TextBlock(text="?"), image]
    with WireServer([answer(say(0, "x"))]) as server:
        ask(server, [UserMsg(content=content)], spec=CLAUDE)
        sent = server.requests[0].body["messages"][0]["content"][1]
    assert sent["source"]["data"] == pixel
    assert sent["source"]["media_type"] == "image/png"


def test_arguments_that_were_cut_off_come_through_and_go_back() -> None:
    cut = [answer(call(0, "t1", "look", '{"word": "su'), reason="max_tokens"), answer(say(0, "x"))]
    with WireServer(cut) as server:
        first = answer_of(ask(server, spec=CLAUDE))
        block = first.content[0]
        assert isinstance(block, ToolCallBlock)
        assert (block.input, first.finish_reason) == ('{"word": "su', "length")
        bad = ToolResultBlock(id="t1", name="look", output="not JSON", state=ToolResultState.ERROR)
        ask(server, [UserMsg(content="a"), AssistantMsg(content=[block, bad])], spec=CLAUDE)
        assert server.requests[1].body["messages"][1]["content"][0]["input"] == {"INVALID_JSON": '{"word": "su'}


def test_a_call_without_arguments_is_an_empty_object() -> None:
    with WireServer([answer(call(0, "t1", "look", ""), reason="tool_use")]) as server:
        block = answer_of(ask(server, spec=CLAUDE)).content[0]
    assert isinstance(block, ToolCallBlock)
    assert block.input == "{}"


def test_events_that_nobody_knows_are_passed_over() -> None:
    strange = [
        start(),
        event({"type": "weather", "mood": 1}),
        *say(0, "Hi")[:2],
        event({"type": "content_block_delta", "index": 0, "delta": {"type": "rumour_delta", "rumour": "?"}}),
        event({"type": "content_block_stop", "index": 0}),
        event({"type": "content_block_start", "index": 1, "content_block": {"type": "hologram", "x": 1}}),
        event({"type": "content_block_stop", "index": 1}),
        *stop("end_turn"),
    ]
    with WireServer([Reply(strange)]) as server:
        content = answer_of(ask(server, spec=CLAUDE)).content
    assert [b.text for b in content if isinstance(b, TextBlock)] == ["Hi"]
    assert len(content) == 1

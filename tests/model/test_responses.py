"""The Responses API, as OpenAI itself speaks it: what is read from the stream, and what is sent."""

import json

from model.asking import answer_of, ask, failure_of
from model.fake_responses import answer, call, reason, say
from model.wire import WireServer
from sayso.message import (
    AssistantMsg,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from sayso.model import CallDelta, TextDelta, ThinkingDelta

GPT = "openai-responses:gpt-5-fake"
ROUND = (
    reason("rs_1", "hm", "ZW5j"),
    say("msg_1", "Let me ", "look."),
    call("fc_1", "c1", "look", '{"word":', '"sun"}'),
)


def test_reasoning_words_and_calls_arrive_as_they_come() -> None:
    with WireServer([answer(*ROUND)]) as server:
        pieces = ask(server, spec=GPT)
    assert "".join(p.text for p in pieces if isinstance(p, ThinkingDelta)) == "hm"
    assert [p.text for p in pieces if isinstance(p, TextDelta)] == ["Let me ", "look."]
    assert "".join(p.fragment for p in pieces if isinstance(p, CallDelta)) == '{"word":"sun"}'
    whole = answer_of(pieces)
    assert [type(b) for b in whole.content] == [ThinkingBlock, TextBlock, ToolCallBlock]
    assert (whole.usage.input_tokens, whole.usage.cache_input_tokens) == (120, 100)


def test_encrypted_reasoning_goes_back_with_the_items_that_followed_it() -> None:
    with WireServer([answer(*ROUND), answer(say("msg_2", "x"))]) as server:
        first = answer_of(ask(server, spec=GPT))
        result = ToolResultBlock(id="c1", name="look", output="a star", state=ToolResultState.SUCCESS)
        reply = Msg.model_validate_json(AssistantMsg(content=[*first.content, result]).model_dump_json())
        ask(server, [SystemMsg(content="Be brief."), UserMsg(content="hello"), reply], spec=GPT)
        sent = server.requests[1].body
    assert sent["instructions"] == "Be brief."
    items = [{k: v for k, v in i.items() if k in ("type", "id", "encrypted_content", "call_id")} for i in sent["input"]]
    assert items[1:] == [
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "ZW5j"},
        {"type": "message", "id": "msg_1"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1"},
    ]


def test_an_answer_cut_by_the_token_limit_says_so() -> None:
    with WireServer([answer(say("msg_1", "Once upon"), end="incomplete")]) as server:
        assert answer_of(ask(server, spec=GPT)).finish_reason == "length"


def test_a_stream_without_its_last_event_is_broken_and_never_an_answer() -> None:
    with WireServer([answer(*ROUND, end=None)]) as server:
        assert failure_of(server, spec=GPT).kind == "broken_stream"


def test_an_answer_that_the_provider_gave_up_is_an_error() -> None:
    with WireServer([answer(say("msg_1", "On"), end="failed")]) as server:
        error = failure_of(server, spec=GPT)
    assert error.transient, json.dumps(error.args)

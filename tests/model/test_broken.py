"""What goes wrong between us and a provider, and the `ModelError` that it becomes."""

import pytest

from model import fake_anthropic as anthropic
from model import fake_openai as openai
from model.asking import ask, failure_of
from model.wire import Reply, WireServer
from sayso.errors import ModelError
from sayso.message import AssistantMsg, Base64Source, DataBlock, ToolCallBlock, UserMsg

CLAUDE = "anthropic:fake-claude"
HEAD = [openai.chunk({"role": "assistant", "content": "Hel"})]
CLAUDE_HEAD = [anthropic.start(), *anthropic.say(0, "Hel")[:2]]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (openai.error(429, "slow down", "rate_limit_exceeded"), "rate_limited"),
        (openai.error(429, "pay first", "insufficient_quota"), "invalid_request"),
        (openai.error(500, "oops"), "server"),
        (openai.error(503, "The engine is overloaded"), "overloaded"),
        (openai.error(504, "gateway timed out"), "timeout"),
        (openai.error(401, "bad key", "invalid_api_key"), "authentication"),
        (openai.error(404, "no such model", "model_not_found"), "not_found"),
        (openai.error(400, "too long", "context_length_exceeded"), "context_length"),
        (openai.error(400, "the request exceeds the available context size", None), "context_length"),
        (openai.error(400, "flagged", "content_filter", "content_policy_violation"), "content_filter"),
        (openai.error(422, "tools: wrong"), "invalid_request"),
        (openai.error(418, "teapot"), "invalid_request"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.status),
)
def test_an_error_of_an_openai_server_is_classified(reply: Reply, kind: str) -> None:
    with openai.serve([reply]) as server:
        error = failure_of(server)
        assert len(server.requests) == 1, "it was tried again behind our back"
    assert (error.kind, error.status) == (kind, reply.status)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (anthropic.error(429, "rate_limit_error", "slow down"), "rate_limited"),
        (anthropic.error(529, "overloaded_error", "Overloaded"), "overloaded"),
        (anthropic.error(500, "api_error", "oops"), "server"),
        (anthropic.error(401, "authentication_error", "invalid x-api-key"), "authentication"),
        (anthropic.error(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), "context_length"),
        (anthropic.error(413, "request_too_large", "too large"), "context_length"),
        (anthropic.error(404, "not_found_error", "model: fake"), "not_found"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.status),
)
def test_an_error_of_anthropic_is_classified(reply: Reply, kind: str) -> None:
    with WireServer([reply]) as server:
        error = failure_of(server, spec=CLAUDE)
        assert len(server.requests) == 1, "it was tried again behind our back"
    assert (error.kind, error.status) == (kind, reply.status)


def test_the_wait_that_a_provider_asks_for_is_kept() -> None:
    with openai.serve([openai.error(429, "slow down", retry_after="7")]) as server:
        assert failure_of(server).retry_after == 7
    with WireServer([anthropic.error(529, "overloaded_error", "x", retry_after_ms="1500")]) as server:
        assert failure_of(server, spec=CLAUDE).retry_after == 1.5


def test_an_error_inside_an_open_stream_is_classified_like_one_before_it() -> None:
    overloaded = anthropic.event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    limited = openai.data({"error": {"message": "slow down", "type": "x", "code": "rate_limit_exceeded"}})
    with WireServer([Reply([*CLAUDE_HEAD, overloaded])]) as server:
        assert failure_of(server, spec=CLAUDE).kind == "overloaded"
    with openai.serve([Reply([*HEAD, limited])]) as server:
        assert failure_of(server).kind == "rate_limited"


@pytest.mark.parametrize(
    ("chunks", "cut"),
    [(HEAD, False), ([*HEAD, openai.DONE], False), (HEAD, True), ([*HEAD, HEAD[0][:20]], True), ([], False)],
    ids=["no finish", "done without finish", "cut", "cut in a chunk", "nothing"],
)
def test_an_openai_stream_that_stops_short_is_broken_and_never_an_answer(chunks: list[bytes], cut: bool) -> None:
    with openai.serve([Reply(chunks, cut=cut)]) as server:
        error = failure_of(server)
    assert (error.kind, error.transient) == ("broken_stream", True)


@pytest.mark.parametrize(
    ("chunks", "cut"),
    [(CLAUDE_HEAD, False), (CLAUDE_HEAD, True), ([*CLAUDE_HEAD, b"event: content_bl"], True), ([], False)],
    ids=["no stop", "cut", "cut in an event", "nothing"],
)
def test_an_anthropic_stream_that_stops_short_is_broken_and_never_an_answer(chunks: list[bytes], cut: bool) -> None:
    with WireServer([Reply(chunks, cut=cut)]) as server:
        error = failure_of(server, spec=CLAUDE)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_a_cut_after_a_call_without_a_finish_is_no_answer_either() -> None:
    whole_call = [openai.chunk(d) for d in openai.call(0, "a", "look", '{"word":"sun"}')]
    with openai.serve([Reply(whole_call, cut=True)]) as server:
        assert failure_of(server).kind == "broken_stream"


@pytest.mark.parametrize("line", [b"data: {not json\n\n", b"data: [1, 2]\n\n", b"data: null\n\n", b"data: 7\n\n"])
def test_a_line_that_is_not_of_the_format_breaks_the_stream(line: bytes) -> None:
    with openai.serve([Reply([*HEAD, line, openai.chunk({}, "stop"), openai.DONE])]) as server:
        assert failure_of(server).transient


def test_a_web_page_instead_of_a_stream_is_an_error() -> None:
    page = Reply([b"<html>It works!</html>"], content_type="text/html")
    with openai.serve([page]) as server:
        assert failure_of(server).kind == "broken_stream"


def test_an_answer_that_the_provider_withholds_is_an_error() -> None:
    refusal = [openai.chunk({"refusal": "I will not."}), openai.chunk({}, "stop"), openai.DONE]
    with openai.serve([Reply(refusal)]) as server:
        error = failure_of(server)
    assert (error.kind, error.transient) == ("content_filter", False)
    assert "I will not." in str(error)
    with WireServer([anthropic.answer(anthropic.say(0, "I"), reason="refusal")]) as server:
        assert failure_of(server, spec=CLAUDE).kind == "content_filter"


def test_a_server_that_is_not_there_is_a_network_error() -> None:
    with openai.serve([]) as server:
        pass
    assert failure_of(server).kind == "network"


def test_a_server_that_says_nothing_in_time_is_a_timeout() -> None:
    with openai.serve([Reply([], endless=b": wait\n\n")]) as server, pytest.raises(ModelError) as caught:
        ask(server, settings={"request_timeout": 0.2})
    assert caught.value.kind == "timeout"


def test_a_key_that_the_provider_echoes_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-abcdefgh12345678")
    with openai.serve([openai.error(401, "Incorrect API key provided: sk-proj-abcdefgh12345678.")]) as server:
        error = failure_of(server)
    assert "abcdefgh" not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_a_long_error_is_shortened() -> None:
    with openai.serve([openai.error(500, "x" * 100_000)]) as server:
        assert len(str(failure_of(server))) < 600


def test_a_call_without_a_result_is_never_sent() -> None:
    said = [UserMsg(content="a"), AssistantMsg(content=[ToolCallBlock(id="c1", name="look", input="{}")])]
    with openai.serve([openai.answer(openai.say("x"))]) as server:
        error = failure_of(server, said)
        assert server.requests == []
    assert (error.kind, "c1" in str(error)) == ("invalid_request", True)


def test_data_that_is_not_base64_is_never_sent() -> None:
    bad = DataBlock(source=Base64Source(data="%%%", media_type="image/png"), name="cat.png")
    with openai.serve([openai.answer(openai.say("x"))]) as server:
        error = failure_of(server, [UserMsg(content=[bad])])
        assert server.requests == []
    assert (error.kind, "cat.png" in str(error)) == ("invalid_request", True)

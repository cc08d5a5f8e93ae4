"""What a name such as `openai:gpt-5` means, and what is said where it means nothing."""

import asyncio
import sys
from pathlib import Path

import pytest

from model import fake_anthropic, fake_responses
from model.asking import answer_of, ask
from model.fake_openai import answer, say, serve
from model.wire import WireServer
from sayso.errors import MissingExtra, ModelError
from sayso.message import UserMsg
from sayso.model import ChatModel, connect

KEYS = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*KEYS, "OLLAMA_BASE_URL", "OLLAMA_API_KEY", "DEEPSEEK_API_KEY"]:
        monkeypatch.delenv(name, raising=False)


async def spoken(model: ChatModel) -> str:
    pieces = [p async for p in model.respond([UserMsg(content="hi")], [])]
    return "".join(b.text for b in answer_of(pieces).content if b.type == "text")


@pytest.mark.parametrize("spec", ["", "gpt-5", "openai:", ":x"])
def test_a_name_without_a_provider_says_how_to_write_it(spec: str) -> None:
    with pytest.raises(ValueError, match=r"write PROVIDER:NAME|nobody knows"):
        connect(spec)


def test_an_unknown_provider_is_told_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"nobody knows 'opnai'; use openai, .*anthropic, .*ollama"):
        connect("opnai:gpt-5")


@pytest.mark.parametrize(
    ("spec", "variable"),
    [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY"), ("openai-chat:x", "OPENAI_API_KEY")],
)
def test_a_missing_key_names_the_variable_to_set(spec: str, variable: str) -> None:
    with pytest.raises(ModelError, match=variable) as caught:
        connect(spec)
    assert caught.value.kind == "authentication"


def test_a_missing_key_of_a_provider_that_only_the_library_knows_is_told_at_the_first_use() -> None:
    model = connect("deepseek:deepseek-chat")
    with pytest.raises(ModelError, match="DEEPSEEK_API_KEY") as caught:
        asyncio.run(spoken(model))
    assert caught.value.kind == "authentication"


def test_a_provider_whose_package_is_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(MissingExtra, match=r"sayso\[google\]"):
        connect("google-gla:gemini-2.5-pro", api_key="k")


def test_the_address_and_the_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve([answer(say("from there"))]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address + "/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        assert asyncio.run(spoken(connect("openai:fake"))) == "from there"
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == "Bearer sk-test"


def test_the_same_for_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer([fake_anthropic.answer(fake_anthropic.say(0, "from there"))]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
        assert asyncio.run(spoken(connect("anthropic:fake-claude"))) == "from there"
    assert server.requests[0].path.startswith("/v1/messages")
    headers = server.requests[0].headers
    assert "sk-ant-test" in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))


def test_what_is_passed_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    with serve([answer(say("x"))]) as server:
        asyncio.run(spoken(connect("openai:fake", base_url=server.address + "/v1", api_key="sk-passed")))
    assert server.requests[0].headers["authorization"] == "Bearer sk-passed"


def test_a_server_on_this_machine_needs_no_key() -> None:
    with serve([answer(say("x"))]) as server:
        ask(server)
        ask(server, spec="ollama:qwen3")
        assert [r.path for r in server.requests] == ["/v1/chat/completions"] * 2


def test_the_wire_can_be_chosen_by_name() -> None:
    with WireServer([fake_responses.answer(fake_responses.say("msg_1", "x"))]) as server:
        ask(server, spec="openai-responses:gpt-5-fake")
        assert server.requests[0].path == "/v1/responses"


def test_settings_go_with_every_request() -> None:
    with serve([answer(say("x"))]) as server:
        ask(server, settings={"temperature": 0.25, "max_tokens": 9})
        assert (server.requests[0].body["temperature"], server.requests[0].body["max_tokens"]) == (0.25, 9)


@pytest.mark.parametrize("rest", ["?n_ctx=0", "?n_ctx=many", "?colour=red", "?template=none.jinja"])
def test_local_options_that_mean_nothing_are_refused(tmp_path: Path, rest: str) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(ValueError, match="local:"):
        connect(f"local:{file}{rest}")


def test_local_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        connect(f"local:{tmp_path / 'none.gguf'}")


def test_local_weights_without_the_library_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"sayso\[local\]"):
        connect(f"local:{file}")

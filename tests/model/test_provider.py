"""The life of a connection: when libraries load, when sockets close, and that nothing outlives its event loop."""

import asyncio
import subprocess
import sys
import threading
from contextlib import aclosing

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from model import fake_anthropic
from model.asking import ask
from model.fake_openai import answer, chunk, say, serve
from model.wire import Reply, WireServer
from sayso.errors import ModelError
from sayso.message import UserMsg
from sayso.model import ProviderModel, TextDelta, connect

HELLO = [UserMsg(content="hello")]


def model_at(server: WireServer, spec: str = "openai:fake") -> ProviderModel:
    path = "" if spec.startswith("anthropic") else "/v1"
    model = connect(spec, base_url=server.address + path)
    assert isinstance(model, ProviderModel)
    return model


def test_no_provider_library_loads_before_a_model_is_used() -> None:
    program = (
        "import sys, sayso.model as m; m.connect('anthropic:x', api_key='k'); m.connect('openai:x', api_key='k');"
        "print([n for n in ('pydantic_ai', 'openai', 'anthropic', 'httpx', 'httpx2', 'xllamacpp') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("spec", ["openai:fake", "anthropic:fake-claude"])
def test_closing_the_stream_closes_the_http_stream(spec: str) -> None:
    if spec.startswith("openai"):
        reply = Reply([chunk({"content": "a"})], endless=chunk({"content": "b"}))
    else:
        more = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}}
        reply = Reply([fake_anthropic.start(), *fake_anthropic.say(0, "a")[:2]], endless=fake_anthropic.event(more))

    async def go(server: WireServer) -> None:
        async with aclosing(model_at(server, spec).respond(HELLO, [])) as stream:  # type: ignore[type-var]
            async for piece in stream:
                assert isinstance(piece, TextDelta)
                break
        assert await asyncio.to_thread(server.gone.wait, 10)

    with WireServer([reply]) as server:
        asyncio.run(go(server))


def test_cancelling_the_task_closes_the_http_stream() -> None:
    async def go(server: WireServer) -> None:
        first = asyncio.Event()

        async def read() -> None:
            async for _ in model_at(server).respond(HELLO, []):
                first.set()

        task = asyncio.create_task(read())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.gone.wait, 10)

    with serve([Reply([chunk({"content": "a"})], endless=chunk({"content": "b"}))]) as server:
        asyncio.run(go(server))


def test_a_server_that_takes_its_time_is_waited_for() -> None:
    ready = threading.Event()

    async def go(server: WireServer) -> list[object]:
        pieces: list[object] = []
        task = asyncio.create_task(_read(model_at(server), pieces))
        assert await asyncio.to_thread(server.asked.wait, 10)
        assert pieces == []
        ready.set()
        await task
        return pieces

    slow = answer(say("at last"))
    slow.waits = ready
    with serve([slow]) as server:
        assert asyncio.run(go(server))


async def _read(model: ProviderModel, pieces: list[object]) -> None:
    async for piece in model.respond(HELLO, []):
        pieces.append(piece)


def test_requests_on_one_event_loop_share_a_connection() -> None:
    async def go(server: WireServer) -> None:
        model = model_at(server)
        for _ in range(3):
            await _read(model, [])
        await model.aclose()

    with serve([answer(say("x"))]) as server:
        asyncio.run(go(server))
        assert len(server.connections) == 1


def test_one_model_works_on_one_event_loop_after_another_and_leaves_nothing_open() -> None:
    with serve([answer(say("x"))]) as server:
        model = model_at(server)
        for _ in range(3):
            asyncio.run(_read(model, []))
        assert len(server.requests) == 3


def test_two_requests_at_once_do_not_mix() -> None:
    async def go(server: WireServer) -> list[list[object]]:
        model, one, two = model_at(server), list[object](), list[object]()
        await asyncio.gather(_read(model, one), _read(model, two))
        return [one, two]

    with serve([answer(say("x", "y", "z"))]) as server:
        for pieces in asyncio.run(go(server)):
            assert [p.text for p in pieces if isinstance(p, TextDelta)] == ["x", "y", "z"]


def test_a_closed_model_opens_again() -> None:
    async def go(server: WireServer) -> None:
        model = model_at(server)
        await model.open()
        await model.aclose()
        await model.aclose()
        await _read(model, [])

    with serve([answer(say("x"))]) as server:
        asyncio.run(go(server))
        assert len(server.requests) == 1


def test_a_request_cancelled_while_the_libraries_load_does_not_spoil_the_others() -> None:
    loading, go_on = threading.Event(), threading.Event()

    async def go(server: WireServer) -> None:
        def build() -> OpenAIChatModel:
            loading.set()
            assert go_on.wait(10)
            return OpenAIChatModel("fake", provider=OpenAICompatibleProvider("here", base_url=server.address + "/v1"))

        model = ProviderModel("fake", build)
        first, second = (asyncio.create_task(_read(model, [])) for _ in range(2))
        assert await asyncio.to_thread(loading.wait, 10)
        first.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        await second

    with serve([answer(say("x"))]) as server:
        asyncio.run(go(server))


def test_a_failed_request_does_not_spoil_the_next() -> None:
    with serve([Reply([chunk({"content": "a"})], cut=True), answer(say("b"))]) as server:

        async def go() -> None:
            model = model_at(server)
            with pytest.raises(ModelError):
                await _read(model, [])
            await _read(model, [])

        asyncio.run(go())


def test_the_provider_name_of_the_model_is_its_own() -> None:
    with serve([answer(say("x"))]) as server:
        assert model_at(server).model_name == "fake"
        assert ask(server)[-1].model_name == "fake-1"

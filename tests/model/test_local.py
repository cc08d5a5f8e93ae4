"""A GGUF file as a model. A stand-in for xllamacpp serves the OpenAI wire; the real one is for `make e2e`."""

import asyncio
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from model.asking import LOOK
from model.fake_openai import answer, say, serve
from model.wire import WireServer
from sayso.errors import ModelError
from sayso.message import UserMsg
from sayso.model import TextDelta, connect


class Llama(ModuleType):
    """Serves each file that begins with GGUF, as the real library does."""

    def __init__(self) -> None:
        super().__init__("xllamacpp")
        self.__spec__ = ModuleSpec("xllamacpp", None)
        self.started: list[tuple[Any, WireServer]] = []

    def CommonParams(self) -> SimpleNamespace:
        threads = SimpleNamespace(n_threads=-1)
        return SimpleNamespace(model=SimpleNamespace(), cpuparams=threads, cpuparams_batch=threads, chat_template="")

    def Server(self, params: Any) -> SimpleNamespace:
        if not Path(params.model.path).read_bytes().startswith(b"GGUF"):
            raise RuntimeError("Failed to init server.")
        server = serve([answer(say("a real model, nearly"))]).__enter__()
        self.started.append((params, server))
        return SimpleNamespace(listening_address=server.address)


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Llama]:
    stand_in = Llama()
    monkeypatch.setitem(sys.modules, "xllamacpp", stand_in)
    yield stand_in
    for _, server in stand_in.started:
        server.__exit__(None, None, None)


async def words(spec: str) -> str:
    stream = connect(spec).respond([UserMsg(content="hi")], [LOOK])
    return "".join([p.text async for p in stream if isinstance(p, TextDelta)])


def weights_in(folder: Path, content: bytes = b"GGUF...") -> Path:
    file = folder / "small.gguf"
    file.write_bytes(content)
    return file


def test_a_file_is_served_at_its_first_use_on_loopback_behind_a_key(llama: Llama, tmp_path: Path) -> None:
    spec = f"local:{weights_in(tmp_path)}"
    assert connect(spec).model_name == "small.gguf"
    assert llama.started == []
    assert asyncio.run(words(spec)) == "a real model, nearly"
    params, server = llama.started[0]
    assert (params.hostnames, params.port, params.n_ctx, params.cors_origins) == (["127.0.0.1"], 0, 8192, "")
    assert server.requests[0].headers["authorization"] == f"Bearer {params.api_keys[0]}"
    assert len(params.api_keys[0]) > 20


def test_one_server_serves_a_file_however_often_it_is_named(llama: Llama, tmp_path: Path) -> None:
    spec = f"local:{weights_in(tmp_path)}"

    async def together() -> None:
        await asyncio.gather(words(spec), words(spec))

    asyncio.run(together())
    asyncio.run(words(spec))
    assert len(llama.started) == 1


def test_options_reach_the_server(llama: Llama, tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages }}")
    asyncio.run(words(f"local:{weights_in(tmp_path)}?n_ctx=1024&threads=1&template={template}"))
    params = llama.started[0][0]
    assert (params.n_ctx, params.cpuparams.n_threads, params.chat_template) == (1024, 1, "{{ messages }}")


def test_a_file_that_cannot_be_loaded_is_named_and_not_tried_again(llama: Llama, tmp_path: Path) -> None:
    file = weights_in(tmp_path, b"<html>")
    with pytest.raises(ModelError, match=r"cannot load .*small\.gguf") as caught:
        asyncio.run(words(f"local:{file}"))
    assert not caught.value.transient

"""A GGUF file as a model, on this machine: xllamacpp (llama.cpp, prebuilt) serves it on loopback. Extra `local`.

Owns the server: one for each file and options, started at the first use, ended with the process. It does not speak to
it: that is the OpenAI wire of `provider`.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from sayso.errors import MissingExtra, ModelError

__all__ = ["Weights", "weights"]

_OPTIONS: Final = ("n_ctx", "template", "threads")
_CONTEXT: Final = 8192  # tokens; a small model on a small machine


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file and how to serve it.

    n_ctx: tokens of context. template: a Jinja chat template to use instead of the file's own, where that does not
    make the model's tool calls into tool calls. threads: None leaves it to llama.cpp.
    """

    file: Path
    n_ctx: int = _CONTEXT
    template: Path | None = None
    threads: int | None = None

    @property
    def name(self) -> str:
        return self.file.name

    def serve(self) -> tuple[str, str]:
        """Start the server unless it runs. Blocks for seconds. Returns the base URL of its API, and its key.

        Raises ModelError `invalid_request` for a file that llama.cpp cannot load.
        """
        with _starting:
            if self not in _running:
                _running[self] = self._start()
            server, key = _running[self]
            return f"{server.listening_address}/v1", key

    def _start(self) -> tuple[Any, str]:
        # Idle threads of OpenMP spin by default, and take the processor from the agent and its tools. It is read
        # when the library loads.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        xllamacpp = import_module("xllamacpp")  # untyped, and often not there
        params = xllamacpp.CommonParams()
        params.model.path = str(self.file)
        params.n_ctx, params.n_parallel = self.n_ctx, 1
        params.use_jinja, params.warmup, params.ui = True, False, False
        params.verbosity = 0
        params.hostnames, params.port = ["127.0.0.1"], 0
        # Loopback is open to every user and every web page of this machine.
        key = secrets.token_urlsafe(24)
        params.api_keys, params.cors_origins = [key], ""
        if self.threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.threads
        if self.template is not None:
            params.chat_template = self.template.read_text(encoding="utf-8")
        try:
            return xllamacpp.Server(params), key
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp cannot load {self.file}: {error} It may be cut off, not a GGUF file, or too big for "
                "this machine's memory.",
                kind="invalid_request",
            ) from None


_starting = threading.Lock()
_running: dict[Weights, tuple[Any, str]] = {}
atexit.register(_running.clear)  # before the interpreter takes apart what the server's threads still use


def weights(spec: str) -> Weights:
    """Read `FILE.gguf[?n_ctx=8192&template=FILE.jinja&threads=2]`.

    Raises ValueError for options it does not know and files that are not there, MissingExtra without xllamacpp.
    """
    path, _, query = spec.partition("?")
    options = {name: value for name, _, value in (o.partition("=") for o in query.split("&") if o)}
    unknown = [o for o in options if o not in _OPTIONS]
    if unknown:
        raise ValueError(f"local:{spec}: no option {unknown[0]!r}; there are {', '.join(_OPTIONS)}")
    template = options.get("template")
    found = Weights(
        file=_file(spec, path),
        n_ctx=_number(spec, "n_ctx", options.get("n_ctx")) or _CONTEXT,
        template=_file(spec, template) if template else None,
        threads=_number(spec, "threads", options.get("threads")),
    )
    if find_spec("xllamacpp") is None:
        raise MissingExtra("A local: model", "local")
    return found


def _file(spec: str, path: str) -> Path:
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise ValueError(f"local:{spec}: there is no file {file}")
    return file


def _number(spec: str, option: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ValueError(f"local:{spec}: {option} must be a whole number above zero, not {text!r}")
    return int(text)

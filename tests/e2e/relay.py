"""A relay on loopback between the program and a model's server: passes everything on, and keeps what the model reads.

Speaks for any server of OpenAI's Chat Completions API. Knows no scene and changes nothing.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import httpx

__all__ = ["Relay"]

_PATIENCE = 600.0  # seconds without a byte from a model on a small machine


class Relay:
    """Passes on to `upstream`, the base URL of an API. url: the base URL to use instead."""

    def __init__(self, upstream: str) -> None:
        self.read: list[dict[str, Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(upstream.rstrip("/"), self.read))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def results_read(self) -> list[str]:
        """The results of calls that a model was given to read, in its last input."""
        messages = self.read[-1].get("messages", []) if self.read else []
        return [_text(message["content"]) for message in messages if message["role"] == "tool"]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _handler(upstream: str, read: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            read.append(json.loads(body))
            passed = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
            headers = {**passed, "Accept-Encoding": "identity"}
            try:
                with httpx.stream(
                    "POST", upstream + self.path, content=body, headers=headers, timeout=_PATIENCE
                ) as answer:
                    self.send_response(answer.status_code)
                    self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
                    self.end_headers()
                    for chunk in answer.iter_raw():
                        self.wfile.write(chunk)
                        self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                return  # the program stopped listening, as it does when a person interrupts a reply

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the scenes are what is printed."""

    return Handler

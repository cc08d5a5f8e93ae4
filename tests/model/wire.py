"""An HTTP server on loopback that says exactly what a test tells it to, byte by byte, and keeps what it was sent.

It knows no provider's format: see `fake_openai`, `fake_responses` and `fake_anthropic`, which write the bytes.
"""

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

__all__ = ["Reply", "Sent", "WireServer"]


@dataclass
class Sent:
    """One request, as it came. Header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Reply:
    """What to answer.

    chunks: written and flushed one by one. cut: the connection is closed without the end of the body.
    endless: written again and again after the chunks, until the client goes away.
    waits: awaited before anything is written.
    """

    chunks: Sequence[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    cut: bool = False
    endless: bytes | None = None
    waits: threading.Event | None = None


class WireServer:
    """Answers each POST with the next reply, and the last one again when they run out.

    requests: what came. asked: set with the first. gone: set once a client went away in the middle of an answer.
    """

    def __init__(self, replies: Iterable[Reply], port: int = 0) -> None:
        self.replies = list(replies)
        self.requests: list[Sent] = []
        self.connections: set[tuple[str, int]] = set()
        self.asked = threading.Event()
        self.gone = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.connections.add(self.client_address)
            reply = server.replies[min(len(server.requests), len(server.replies) - 1)]
            server.requests.append(Sent(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            server.asked.set()
            try:
                self._answer(reply)
            except OSError:
                server.gone.set()
                self.close_connection = True

        def _answer(self, reply: Reply) -> None:
            if reply.waits is not None and not reply.waits.wait(10):
                raise AssertionError("nobody let this reply go on")
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("transfer-encoding", "chunked")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for chunk in reply.chunks:
                self._chunk(chunk)
            while reply.endless is not None:
                self._chunk(reply.endless)
            if reply.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing on the terminal."""

    return Handler

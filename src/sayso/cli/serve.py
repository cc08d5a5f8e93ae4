"""`sayso serve`: a host behind HTTP and the web inbox. Owns how it starts, what it prints and how it ends."""

import argparse
import asyncio
import os
import secrets
import signal
import socket
import sys
from pathlib import Path

from sayso.cli import Exit
from sayso.cli.app import host_of, queue_of
from sayso.cli.choice import NoModel
from sayso.cli.driver import whoami
from sayso.cli.home import state_home
from sayso.errors import MissingExtra, SaysoError
from sayso.visible import visible

__all__ = ["serve"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(options: argparse.Namespace) -> int:
    """Run `sayso serve` until it is told to stop; gives the exit code."""
    try:
        return asyncio.run(_serve(options))
    except (NoModel, ValueError) as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.USAGE
    except (SaysoError, OSError) as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.ERROR


async def _serve(options: argparse.Namespace) -> int:
    try:
        import uvicorn

        from sayso.server.access import Access
        from sayso.server.app import LOCAL, create_app
    except ImportError as exc:
        raise MissingExtra("sayso serve", "server") from exc
    token = "" if options.users else _token(options.host)
    access = Access.from_file(Path(options.users)) if options.users else Access.single(token, whoami() or "admin")
    sock = _socket(options.host, options.port)
    port = sock.getsockname()[1]
    host = host_of(options, begins=True)
    names = {*LOCAL, f"[{options.host}]" if ":" in options.host else options.host, *(options.allow_host or ())}
    app = create_app(host, access, hosts=names, origins=options.allow_origin or ())
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=10, lifespan="on", server_header=False)

    class Server(uvicorn.Server):
        """Ends the streams before it waits for its connections: a stream would not end by itself."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await app.state.streams.close()
            await super().shutdown(sockets)

    server = Server(config)
    shown = "127.0.0.1" if options.host in ("0.0.0.0", "::") else options.host  # noqa: S104 - compared, not bound
    url = f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
    # The server raises the signal that ended it once more when it has ended; what comes after it must be done too.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        async with queue_of(host, options.drive) as queue:
            print(f"Sayso serves {', '.join(host.agents)} at {url}{'#token=' + token if token else ''}", flush=True)
            print("Ctrl-C ends it; what waits stays in the store.", flush=True)
            if queue is not None and not await queue.workers():
                said = "Sessions are driven by `sayso worker`, and none is running yet. To drive them here: --drive."
                print(said, file=sys.stderr, flush=True)
            await server.serve(sockets=[sock])
    finally:
        if not options.app:
            await host.store.close()
    if not server.started:
        return Exit.ERROR
    return Exit.DONE


def _socket(host: str, port: int) -> socket.socket:
    """A bound socket. Raises OSError saying which address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol asyncio knows that it must not hold small packets back: without it every answer takes 40 ms more.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as exc:
        sock.close()
        raise OSError(f"{host}:{port} cannot be used: {exc.strerror}; choose another with --port") from exc
    sock.listen(1024)
    return sock


def _token(host: str) -> str:
    """The secret of a server for one person. Raises ValueError where others could reach it and none was given."""
    token = os.environ.get("SAYSO_TOKEN") or ("" if host not in _LOOPBACK else _kept_token())
    if not token:
        raise ValueError(f"--host {host} can be reached by others: give --users FILE, or a secret in SAYSO_TOKEN")
    return token


def _kept_token() -> str:
    """The token of this person's own server: the same after a restart, so that an open page stays signed in."""
    path = state_home() / "token"
    try:
        kept = path.read_text("utf-8").strip()
        if not kept:
            raise ValueError(f"{path} holds no token: delete it, and a new one is made")
        return kept
    except FileNotFoundError:
        token = secrets.token_urlsafe(32)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(token)
        return token

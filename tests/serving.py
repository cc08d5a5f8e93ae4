"""Small worlds for tests of the server: a host behind HTTP, in this process or on a real port."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from hosting import says
from sayso.host import Host
from sayso.server.access import Access, Person
from sayso.server.app import create_app
from sayso.store.base import Store
from worlds import Bank, call

TOKENS = {"ann": "ann-has-a-long-secret", "vic": "vic-has-a-long-secret", "adm": "adm-has-a-long-secret"}


def people() -> Access:
    import hashlib

    roles = {"ann": "approver", "vic": "viewer", "adm": "admin"}
    return Access(
        {hashlib.sha256(TOKENS[n].encode()).hexdigest(): Person(n, role) for n, role in roles.items()}  # type: ignore[arg-type]
    )


@dataclass
class Served:
    """A server in this process. bank: what was really paid."""

    host: Host
    app: Starlette
    http: httpx.AsyncClient
    bank: Bank

    async def get(self, path: str, *, by: str = "ann", **options: Any) -> httpx.Response:
        return await self.http.get(path, headers={"Authorization": f"Bearer {TOKENS[by]}"}, **options)

    async def post(self, path: str, body: Any = None, *, by: str = "ann") -> httpx.Response:
        return await self.http.post(path, json=body or {}, headers={"Authorization": f"Bearer {TOKENS[by]}"})

    async def asked(self, message: str = "pay") -> dict[str, Any]:
        """Begin a session that asks, and give its request."""
        begun = await self.post("/sessions", {"message": message})
        assert begun.status_code == 201, begun.text
        await self.host.settled()
        found = (await self.get(f"/requests?session_id={begun.json()['session_id']}")).json()["requests"]
        (request,) = found
        return dict(request)


@contextlib.asynccontextmanager
async def served(store: Store, *turns: Any, tools: Any = None, **options: Any) -> AsyncIterator[Served]:
    """A host over HTTP without a network."""
    bank = Bank()
    turns = turns or ([call("c1", to="ann")], "done")
    host = Host(store, {"ops": says(*turns, tools=tools if tools is not None else [bank.tool()], **options)})
    async with over(host, bank=bank) as s:
        yield s


@contextlib.asynccontextmanager
async def over(
    host: Host, *, bank: Bank | None = None, more: Sequence[BaseRoute] = (), quiet: bool = False
) -> AsyncIterator[Served]:
    """A host of the test's own over HTTP. quiet: what fails in the server is an answer, as it is for a client."""
    app = create_app(host, people(), hosts=["testserver"], more=more)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=not quiet)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://testserver") as http,
    ):
        yield Served(host, app, http, bank or Bank())


@contextlib.asynccontextmanager
async def listening(app: Starlette, port: int = 0) -> AsyncIterator[str]:
    """The same on a real port of this machine; its URL."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    try:
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.01)
        address = server.servers[0].sockets[0].getsockname()
        yield f"http://127.0.0.1:{address[1]}"
    finally:
        await app.state.streams.close()
        server.should_exit = True
        await task


def digest_answer(request: dict[str, Any], decision: str = "approve", **fields: Any) -> dict[str, Any]:
    """The body of an answer to a request."""
    return {"digest": request["digest"], "decision": decision, **fields}


def sent(text: str) -> list[tuple[str, str | None, Any]]:
    """The messages of an event stream: kind, id, data."""
    out = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "data" in fields:
            out.append((fields.get("event", ""), fields.get("id"), json.loads(fields["data"])))
    return out

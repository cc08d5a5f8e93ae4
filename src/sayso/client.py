"""A host somewhere else, over HTTP: the same verbs as `sayso.host.Host`, the same errors. Needs the extra `client`.

async with Client("http://127.0.0.1:8700", token) as host:
    for request in await host.pending(): ...
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Self
from urllib.parse import quote

from pydantic import TypeAdapter

from sayso.errors import MissingExtra, Outside
from sayso.event import AgentEvent
from sayso.host.watch import Seen
from sayso.problem import error_of
from sayso.request import Answer, Decided, Request
from sayso.state import AgentState

try:
    import httpx
except ImportError as exc:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtra("sayso.client", "server") from exc

__all__ = ["Client"]

_events: TypeAdapter[list[AgentEvent]] = TypeAdapter(list[AgentEvent])
_AGAIN = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before each attempt to come back to a stream
_SILENCE = 45.0  # seconds without even a ping after which a connection counts as dead


class Client:
    """The host behind `url`. token: who asks. http: an httpx client to use instead of one of its own.

    Every method raises what the host's does; `Outside` where the server cannot be reached.
    """

    def __init__(self, url: str, token: str, *, http: "httpx.AsyncClient | None" = None) -> None:
        timeout = httpx.Timeout(30.0, read=_SILENCE)
        # Servers let go of idle connections after some seconds; one that is let go of while it is used fails a request.
        limits = httpx.Limits(max_connections=None, keepalive_expiry=2)
        self._http = http or httpx.AsyncClient(base_url=url, timeout=timeout, limits=limits, trust_env=False)
        self._headers = {"Authorization": f"Bearer {token}"}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    # -- sessions --------------------------------------------------------------------------------------

    async def submit(self, session_id: str | None, message: str, *, agent: str | None = None) -> str:
        """Give a session a message, or begin one; its id."""
        if session_id is None:
            body = {"message": message} | ({"agent": agent} if agent else {})
            return str((await self._call("POST", "/sessions", body))["session_id"])
        await self._call("POST", f"/sessions/{quote(session_id, safe='')}/messages", {"message": message})
        return session_id

    async def session(self, session_id: str) -> AgentState:
        """A session as a value, without what only its own host needs to go on with it."""
        value = await self._call("GET", f"/sessions/{quote(session_id, safe='')}")
        value.pop("row", None)
        return AgentState.model_validate(value)

    async def interrupt(self, session_id: str) -> None:
        """Stop the reply under way."""
        await self._call("POST", f"/sessions/{quote(session_id, safe='')}/interrupt", {})

    async def row(self, session_id: str) -> dict[str, Any]:
        """A session as a list shows it: its state, its length, when it changed."""
        row: dict[str, Any] = (await self._call("GET", f"/sessions/{quote(session_id, safe='')}"))["row"]
        return row

    async def send(self, session_id: str, event: AgentEvent) -> None:
        """Give a session a result event of the published language."""
        await self._call("POST", f"/sessions/{quote(session_id, safe='')}/events", event.model_dump(mode="json"))

    async def set_mode(self, session_id: str, mode: str) -> None:
        """Change a session's permission mode."""
        await self._call("POST", f"/sessions/{quote(session_id, safe='')}/mode", {"mode": mode})

    # -- requests --------------------------------------------------------------------------------------

    async def pending(self, **filters: Any) -> list[Request]:
        """What waits. filters: session_id, kind, tool, after, limit; newest_first=True."""
        if filters.pop("newest_first", False):
            filters["order"] = "newest"
        page = await self._call("GET", "/requests", params=filters)
        return [Request.model_validate(r) for r in page["requests"]]

    async def request(self, request_id: str) -> Request:
        """One request."""
        return Request.model_validate(await self._call("GET", f"/requests/{quote(request_id, safe='')}"))

    async def answer(self, answer: Answer) -> None:
        """Answer a request. Who answers is who the token belongs to."""
        body = answer.model_dump(exclude={"request_id"}, exclude_none=True)
        await self._call("POST", f"/requests/{quote(answer.request_id, safe='')}/answer", body)

    async def history(self, **filters: Any) -> list[Decided]:
        """What waits no more. filters: session_id, tool, how, by, since, after, limit."""
        page = await self._call("GET", "/history", params=filters)
        return [Decided.model_validate(d) for d in page["decided"]]

    # -- streams ---------------------------------------------------------------------------------------

    async def watch(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Seen, None]:
        """The events of a session from entry `after` of its log on, for ever, each once.

        A connection that breaks is made again from where it was; one that cannot be made for a while raises Outside.
        """
        path, failures = f"/sessions/{quote(session_id, safe='')}/events", 0
        while True:
            try:
                async for seen in self._stream(path, after):
                    failures = 0
                    if seen.seq is not None:
                        after = seen.seq
                    yield seen
            except httpx.HTTPError as exc:
                if failures == len(_AGAIN):
                    raise Outside(f"the server at {self._http.base_url} cannot be reached: {_name(exc)}") from exc
            await asyncio.sleep(_AGAIN[min(failures, len(_AGAIN) - 1)])
            failures += 1

    async def _stream(self, path: str, after: int) -> AsyncGenerator[Seen, None]:
        headers = {**self._headers, "Last-Event-ID": str(after)}
        async with self._http.stream("GET", path, headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
                raise error_of(response.status_code, _body(response))
            async for kind, data in _messages(response.aiter_bytes()):
                yield _seen(kind, data)

    async def _call(
        self, method: str, path: str, body: Any = None, *, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            response = await self._http.request(method, path, json=body, params=params, headers=self._headers)
        except httpx.HTTPError as exc:
            raise Outside(f"the server at {self._http.base_url} cannot be reached: {_name(exc)}") from exc
        if response.status_code >= 400:
            raise error_of(response.status_code, _body(response))
        value: dict[str, Any] = response.json()
        return value


def _name(exc: Exception) -> str:
    return str(exc) or type(exc).__name__


def _body(response: "httpx.Response") -> Any:
    try:
        return response.json()
    except ValueError:
        return None


async def _messages(chunks: AsyncIterator[bytes]) -> AsyncGenerator[tuple[str, str], None]:
    """The messages of a stream: their kind and data. A message that was cut off is left out: it comes again.

    Only LF ends a line here: text may hold other characters that Python counts as line ends, such as U+2028.
    """
    kind, data, rest = "message", list[bytes](), b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if not line:
                if data:
                    yield kind, b"\n".join(data).decode()
                kind, data = "message", []
            elif line.startswith(b"event:"):
                kind = line[6:].strip().decode()
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))


def _seen(kind: str, data: str) -> Seen:
    value = json.loads(data)
    if kind == "caught_up":
        return Seen(value["session_id"], value["seq"], ())
    return Seen(value["session_id"], value["seq"], tuple(_events.validate_python(value["events"])), value["at"])

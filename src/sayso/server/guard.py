"""What every request passes before a route sees it: the right host, the right origin, a known person, a sane body.

An ASGI middleware, so that no route can forget it. See https://owasp.org/www-community/attacks/csrf and, for servers on
loopback, DNS rebinding: a page of another site must be able to read and do nothing here.
"""

from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.problem import Problem
from sayso.server.access import COOKIE, Access, Person

__all__ = ["BODY_LIMIT", "Guard", "origin_of", "problem_response"]

BODY_LIMIT = 1 << 20  # bytes; an answer or a message is some kB
# Anyone may ask for these: they show nothing of anybody's, and a browser needs them to sign in.
_OPEN = ("/", "/login", "/healthz", "/favicon.ico")
_OPEN_UNDER = ("/static/",)
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """hosts: names that the Host header may carry, without the port. origins: other sites whose pages may call."""

    def __init__(self, app: ASGIApp, *, access: Access, hosts: Collection[str], origins: Collection[str] = ()) -> None:
        self._app = app
        self._access = access
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.lower().rstrip("/") for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._admit(scope)
            await self._app(scope, _bounded(receive), _guarded(scope["path"], send))
        except Problem as exc:
            await problem_response(exc)(scope, receive, _guarded(scope["path"], send))

    def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if _host_name(headers.get("host", "")) not in self._hosts:
            raise Problem(421, "WrongHost", "this server does not answer to that host name")
        if "token=" in scope["query_string"].decode("latin-1").lower():
            raise Problem(400, "TokenInQuery", "a token in a URL ends in logs: send it as Authorization: Bearer")
        reads = scope["method"] in ("GET", "HEAD")
        person, by_cookie = self._person(headers)
        origin = headers.get("origin")
        if origin is not None and not self._same(origin, headers) and origin.lower() not in self._origins:
            raise Problem(403, "ForeignOrigin", f"pages of {origin[:100]} may not use this server")
        if not reads:
            if by_cookie and origin is None and headers.get("sec-fetch-site") != "same-origin":
                raise Problem(403, "NoOrigin", "a browser must say which page sends this")
            self._check_body(headers)
        if person is None and not (scope["path"] in _OPEN or scope["path"].startswith(_OPEN_UNDER)):
            raise Problem(401, "NotSignedIn", "send Authorization: Bearer TOKEN, or open the URL the server printed")
        scope.setdefault("state", {})["person"] = person

    def _person(self, headers: Headers) -> tuple[Person | None, bool]:
        authorization = headers.get("authorization")
        if authorization is not None:
            scheme, _, token = authorization.partition(" ")
            found = self._access.of_token(token.strip()) if scheme.lower() == "bearer" else None
            if found is None:
                raise Problem(401, "NotSignedIn", "that token is not known here")
            return found, False
        cookie = _cookie(headers.get("cookie", ""))
        return (self._access.of_cookie(cookie) if cookie else None), bool(cookie)

    def _same(self, origin: str, headers: Headers) -> bool:
        return origin_of(origin) == headers.get("host", "").lower()

    def _check_body(self, headers: Headers) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Problem(415, "NotJson", "send JSON, with Content-Type: application/json")
        length = headers.get("content-length")
        if length is not None and (not length.isdecimal() or len(length) > 9 or int(length) > BODY_LIMIT):
            raise _too_big()


def problem_response(exc: Problem) -> JSONResponse:
    """A problem as the answer. It carries the headers itself: what fails unforeseen is answered outside the guard."""
    headers = {**_HEADERS, "cache-control": "no-store"}
    return JSONResponse(exc.body(), exc.status, headers, media_type="application/problem+json")


def origin_of(origin: str) -> str:
    """host:port of an origin, or "" where it is none of http's."""
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in ("http", "https") else ""


def _host_name(host: str) -> str:
    name, _, port = host.lower().rpartition(":")
    return name if name and (port.isdecimal() or not port) and not host.endswith("]") else host.lower()


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _too_big() -> Problem:
    return Problem(413, "TooBig", f"a body may have {BODY_LIMIT:,} bytes")


def _bounded(receive: Receive) -> Receive:
    """The same, but a body that is longer than its limit is refused while it comes."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise _too_big()
        return message

    return limited


def _guarded(path: str, send: Send) -> Send:
    """The same, with the headers that every answer carries."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-cache" if path.startswith("/static/") else "no-store")
        await send(message)

    return with_headers

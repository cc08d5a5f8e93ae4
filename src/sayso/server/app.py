"""The server's application: the guard, the routes, the streams, over one host. Starts and ends with them."""

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from sayso.errors import SaysoError
from sayso.host import Host
from sayso.problem import Problem, problem
from sayso.server.access import Access
from sayso.server.agui import agui_routes
from sayso.server.api import Api
from sayso.server.guard import Guard, problem_response
from sayso.server.page import page_routes
from sayso.server.stream import Streams

__all__ = ["create_app"]

LOCAL = ("127.0.0.1", "localhost", "[::1]")


def create_app(
    host: Host,
    access: Access,
    *,
    hosts: Collection[str] = LOCAL,
    origins: Collection[str] = (),
    secure_cookie: bool = False,
    more: Sequence[BaseRoute] = (),
) -> Starlette:
    """An ASGI application over `host`, which it starts and closes.

    hosts: names that the Host header may carry. origins: other sites whose pages may call. secure_cookie: it is served
    over https. more: further routes, behind the same guard.
    """
    streams = Streams(host)
    api = Api(host, access, streams, secure_cookie)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with host:
            yield
            await streams.close()

    app = Starlette(
        routes=[*api.routes(), *page_routes(api), *agui_routes(api), *more],
        middleware=[Middleware(Guard, access=access, hosts=hosts, origins=origins)],
        exception_handlers={
            Problem: _said,
            SaysoError: _said,
            404: _not_found,
            405: _not_allowed,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    app.state.streams, app.state.api = streams, api
    return app


async def _said(request: Request, exc: Exception) -> JSONResponse:
    if isinstance(exc, SaysoError):
        exc = problem(exc)
    if isinstance(exc, Problem):
        return problem_response(exc)
    raise exc


async def _not_found(request: Request, exc: Exception) -> JSONResponse:
    return problem_response(Problem(404, "NotFound", "there is nothing there; /openapi.json lists what there is"))


async def _broken(request: Request, exc: Exception) -> JSONResponse:
    return problem_response(Problem(500, "Broken", "something failed in the server; its own output says what"))


async def _not_allowed(request: Request, exc: Exception) -> JSONResponse:
    return problem_response(Problem(405, "MethodNotAllowed", "that address does not take that method"))

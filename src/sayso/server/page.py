"""The web inbox: one page and its own modules and styles, from the package. Shows nothing before somebody signs in."""

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.problem import Problem
from sayso.server.api import Api, person_of
from sayso.server.overview import overview

__all__ = ["page_routes"]

_KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_KINDS[".js"] = "text/javascript; charset=utf-8"


def page_routes(api: Api) -> list[Route]:
    """The page, its files, and the overview, over the API's host."""
    folder = files("sayso.server") / "static"
    # Read once: what is served is what is in this list, so no path can lead anywhere else.
    known = {item.name: item.read_bytes() for item in folder.iterdir() if item.is_file()}

    async def page(request: Request) -> Response:
        return _file(request, "index.html", known["index.html"])

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known:
            raise Problem(404, "NotFound", "there is no such file")
        return _file(request, name, known[name])

    async def shown(request: Request) -> Response:
        person_of(request)
        return Response(await overview(api.host), media_type="text/html; charset=utf-8")

    return [Route("/", page), Route("/static/{name}", static), Route("/overview", shown)]


def _file(request: Request, name: str, content: bytes) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    kind = next(kind for end, kind in _KINDS.items() if name.endswith(end))
    return Response(content, media_type=kind, headers={"etag": tag})

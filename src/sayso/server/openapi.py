"""The OpenAPI 3.1 document of the HTTP API, made from the shapes that the routes use."""

from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from sayso.event import AgentEvent
from sayso.request import Request
from sayso.server import body as shape

__all__ = ["document"]

_REF = "#/components/schemas/{model}"
_PROBLEM = {
    "type": "object",
    "required": ["code", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "code": {"type": "string", "description": "stable, for programs"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "for people"},
        "how": {"type": "string"},
        "by": {"type": "string"},
        "via": {"type": "string"},
        "at": {"type": "string"},
    },
}

Operation = tuple[str, str, str, type[BaseModel] | None, int, type[BaseModel] | None, tuple[str, ...]]
# path, method, summary, body, status, result, query
_OPERATIONS: tuple[Operation, ...] = (
    ("/healthz", "get", "Whether the server is up", None, 200, None, ()),
    ("/me", "get", "Who asks", None, 200, None, ()),
    ("/sessions", "get", "A page of sessions", None, 200, shape.Sessions, ("state", "after", "limit")),
    ("/sessions", "post", "Begin a session with a message", shape.Begin, 201, shape.Ref, ()),
    ("/sessions/{session_id}", "get", "A session with its messages", None, 200, None, ()),
    ("/sessions/{session_id}/messages", "post", "Give it a message", shape.Message, 202, shape.Ref, ()),
    ("/sessions/{session_id}/interrupt", "post", "Stop the reply under way", None, 200, shape.Ref, ()),
    ("/sessions/{session_id}/mode", "post", "Change its permission mode", shape.ModeBody, 200, shape.Ref, ()),
    ("/sessions/{session_id}/log", "get", "Entries of its log", None, 200, shape.LogPage, ("after", "limit")),
    ("/requests", "get", "What waits", None, 200, shape.Page,
     ("session_id", "kind", "tool", "after", "limit", "order")),
    ("/requests/{request_id}", "get", "One request", None, 200, Request, ()),
    ("/requests/{request_id}/answer", "post", "Answer it", shape.AnswerBody, 200, None, ()),
    ("/history", "get", "What waits no more, and how it ended", None, 200, shape.History,
     ("session_id", "tool", "how", "by", "since", "after", "limit")),
)  # fmt: skip


def document() -> dict[str, Any]:
    """The document."""
    models = {m for o in _OPERATIONS for m in (o[3], o[5]) if m is not None}
    ordered = sorted(models, key=lambda m: m.__name__)
    _, schemas = models_json_schema([(m, "validation") for m in ordered], ref_template=_REF)
    event = TypeAdapter(AgentEvent).json_schema(ref_template=_REF)
    components = {**schemas["$defs"], **event.pop("$defs", {}), "AgentEvent": event, "Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation[0], {})[operation[1]] = _operation(operation)
    event_ref = {"$ref": "#/components/schemas/AgentEvent"}
    paths["/sessions/{session_id}/events"] = {
        "get": _stream("The events of a session: resume with Last-Event-ID or ?after=", ("after",)),
        "post": {
            "summary": "A result event or an interrupt of the published language",
            "parameters": _parameters("/sessions/{session_id}/events", ()),
            "requestBody": {"required": True, "content": {"application/json": {"schema": event_ref}}},
            "responses": _responses(202, shape.Ref),
        },
    }
    paths["/events"] = {"get": _stream("What changes in all sessions", ())}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sayso", "version": version("sayso")},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _operation(operation: Operation) -> dict[str, Any]:
    path, _, summary, body, status, result, query = operation
    out: dict[str, Any] = {
        "summary": summary,
        "parameters": _parameters(path, query),
        "responses": _responses(status, result),
    }
    if body is not None:
        schema = {"$ref": f"#/components/schemas/{body.__name__}"}
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return out


def _parameters(path: str, query: tuple[str, ...]) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    inside = [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in names]
    number = {"type": "integer", "minimum": 0}
    return inside + [
        {"name": n, "in": "query", "schema": number if n == "limit" else {"type": "string"}} for n in query
    ]


def _responses(status: int, result: type[BaseModel] | None) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{result.__name__}"} if result is not None else {"type": "object"}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        str(status): {"description": "done", "content": {"application/json": {"schema": schema}}},
        "4XX": {"description": "refused; nothing changed", "content": problem},
        "503": {"description": "the store or a model cannot be reached", "content": problem},
    }


def _stream(summary: str, query: tuple[str, ...]) -> dict[str, Any]:
    path = "/sessions/{session_id}/events" if query else "/events"
    return {
        "summary": summary,
        "parameters": _parameters(path, query),
        "responses": {"200": {"description": "server-sent events", "content": {"text/event-stream": {}}}},
    }

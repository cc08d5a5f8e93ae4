"""The requests of a session: what waits for somebody, derived from the fold and never kept twice. Pure."""

from collections.abc import Callable
from typing import Any

from sayso.reply.part import Asked
from sayso.reply.state import At, CallAt, Reply, Session
from sayso.reply.transcript import permission_rule
from sayso.request import OfferedRule, Preview, Request

__all__ = ["requests_of"]


def requests_of(session: Session, schema_of: Callable[[str], dict[str, Any] | None]) -> list[Request]:
    """What waits now, in the order of the calls.

    schema_of(tool): the tool's input schema, or None where the tool is gone.
    """
    reply = session.reply
    if reply is None or reply.ended is not None:
        return []
    waiting = (At.ASKED, At.SUBMITTED, At.IN_DOUBT)
    return [
        _request(session, reply, c, c.asked, schema_of(c.call.tool))
        for c in reply.calls
        if c.at in waiting and c.asked is not None
    ]


def _request(session: Session, reply: Reply, c: CallAt, asked: Asked, schema: dict[str, Any] | None) -> Request:
    shown = asked.shown
    return Request(
        id=asked.request_id,
        session_id=session.id,
        reply_id=reply.id,
        call_id=c.call.id,
        path=[reply.name],
        kind=asked.kind,
        tool=c.call.tool,
        input=c.call.input,
        why=asked.why,
        in_doubt=c.at is At.IN_DOUBT,
        safety=asked.safety,
        preview=None if shown is None else Preview(kind=shown.kind, text=shown.text, cwd=shown.cwd),
        suggested_rules=[OfferedRule(id=o.id, rule=permission_rule(o.rule), matches=o.matches) for o in asked.offers],
        response_schema=_response_schema(asked.kind, schema),
        created_at=asked.at,
        expires_at=asked.expires_at,
        digest=asked.digest,
    )


def _response_schema(kind: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    reason = {"type": "string", "description": "for the model, when refused"}
    if kind == "confirm":
        return {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "edited_input": schema or {"type": "object"},
                "rule_ids": {"type": "array", "items": {"type": "string"}},
                "reason": reason,
            },
            "required": ["approved"],
        }
    if kind == "ask":
        answer = {
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "selected": {"type": "array", "items": {"type": "string"}},
                "other": {"type": ["string", "null"]},
            },
            "required": ["question"],
        }
        return {
            "type": "object",
            "properties": {"answers": {"type": "array", "items": answer, "minItems": 1}},
            "required": ["answers"],
        }
    return {
        "type": "object",
        "properties": {
            "output": {"type": "string"},
            "state": {"enum": ["success", "error"]},
            "metadata": {"type": "object"},
        },
        "required": ["output"],
    }

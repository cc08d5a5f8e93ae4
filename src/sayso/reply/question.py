"""The requests of a session: what waits for somebody, derived from the fold and never kept twice. Pure."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from sayso.reply.part import Asked, Call
from sayso.reply.state import At, CallAt, Reply, Session
from sayso.reply.transcript import permission_rule
from sayso.request import OfferedRule, Preview, Request

__all__ = ["WAITING", "Question", "question_of", "request_of", "requests_of"]

WAITING = (At.ASKED, At.SUBMITTED, At.IN_DOUBT)
"""Where a call stands that waits for somebody."""


def requests_of(session: Session, schema_of: Callable[[str], dict[str, Any] | None]) -> list[Request]:
    """What waits now, in the order of the calls.

    schema_of(tool): the tool's input schema, or None where the tool is gone.
    """
    reply = session.reply
    if reply is None or reply.ended is not None:
        return []
    return [
        request_of(session.id, q, schema_of(q.call.tool))
        for c in reply.calls
        if c.at in WAITING and (q := question_of(reply, c)) is not None
    ]


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question with its call: all that a list of requests shows of it, besides the session."""

    reply_id: str
    agent: str
    call: Call
    asked: Asked
    in_doubt: bool = False


def question_of(reply: Reply, c: CallAt) -> Question | None:
    """What a call asks, if it asks."""
    if c.asked is None:
        return None
    return Question(reply_id=reply.id, agent=reply.name, call=c.call, asked=c.asked, in_doubt=c.at is At.IN_DOUBT)


def request_of(session_id: str, question: Question, schema: dict[str, Any] | None) -> Request:
    """The request of a question. schema: the tool's input schema, None where it is not known here."""
    asked, call = question.asked, question.call
    shown = asked.shown
    return Request(
        id=asked.request_id,
        session_id=session_id,
        reply_id=question.reply_id,
        call_id=call.id,
        path=[question.agent],
        kind=asked.kind,
        tool=call.tool,
        input=call.input,
        why=asked.why,
        in_doubt=question.in_doubt,
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

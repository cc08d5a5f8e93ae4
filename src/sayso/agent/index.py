"""What the store keeps of a session besides its log, so that it can be found without reading it."""

import msgspec

from sayso.reply.machine import is_parked, wants
from sayso.reply.part import Asked, Call, Text
from sayso.reply.state import At, CallAt, Session
from sayso.store.base import Index, Waiting

__all__ = ["index_of"]

_TITLE = 80  # characters of the first message that name a session in a list
_WAITING = (At.ASKED, At.SUBMITTED, At.IN_DOUBT)


def index_of(session: Session) -> Index:
    """The index row of a session, from its fold alone."""
    reply = session.reply
    live = reply is not None and reply.ended is None
    calls = reply.calls if reply is not None and live else ()
    waiting = tuple(_waiting(session, c, c.asked) for c in calls if c.at in _WAITING and c.asked is not None)
    runner = next((c.runner for c in calls if c.at is At.RUNNING), None)
    state = "idle"
    if live:
        state = "parked" if is_parked(session) else "working"
    elif wants(session):
        state = "working"
    return Index(agent=session.agent, title=_title(session), state=state, waiting=waiting, runner=runner)


def _title(session: Session) -> str:
    for said in session.history[:4]:
        if said.role == "user":
            for part in said.parts:
                if isinstance(part, Text) and part.text.strip():
                    return part.text.strip().splitlines()[0][:_TITLE]
    return ""


class _Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a list of requests shows of one, besides the index columns."""

    call: Call
    asked: Asked
    reply_id: str
    in_doubt: bool = False


def _waiting(session: Session, c: CallAt, asked: Asked) -> Waiting:
    reply_id = session.reply.id if session.reply else ""
    body = _Body(call=c.call, asked=asked, reply_id=reply_id, in_doubt=c.at is At.IN_DOUBT)
    return Waiting(
        request_id=asked.request_id,
        session_id=session.id,
        kind=asked.kind,
        tool=c.call.tool,
        created_at=asked.at,
        expires_at=asked.expires_at,
        body=msgspec.json.encode(body),
    )

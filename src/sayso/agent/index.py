"""What the store keeps of a session besides its log, so that it can be found without reading it."""

import msgspec

from sayso.reply.fact import Fact, HumanAnswered, OutsideReturned, RequestExpired
from sayso.reply.machine import is_parked, wants
from sayso.reply.part import Text
from sayso.reply.question import WAITING, Question, question_of
from sayso.reply.state import Session
from sayso.store.base import Index, Outcome, Waiting

__all__ = ["index_of", "outcome_of"]

_TITLE = 80  # characters of the first message that name a session in a list


def index_of(session: Session, runner: str | None, outcomes: tuple[Outcome, ...] = ()) -> Index:
    """The index row of a session, from its fold.

    runner: who drives it on from here, if it is not to wait. outcomes: how requests ended since it was last written.
    """
    reply = session.reply
    waiting: tuple[Waiting, ...] = ()
    state = "working" if wants(session) else "idle"
    if reply is not None and reply.ended is None:
        questions = [question_of(reply, c) for c in reply.calls if c.at in WAITING]
        waiting = tuple(_waiting(session, q) for q in questions if q is not None)
        state = "parked" if is_parked(session) else "working"
    return Index(
        agent=session.agent,
        title=_title(session),
        state=state,
        waiting=waiting,
        outcomes=outcomes,
        runner=runner if state == "working" else None,
    )


def outcome_of(before: Session, fact: Fact, after: Session) -> Outcome | None:
    """How the request ended that this fact answers, if it answers one."""
    match fact:
        case HumanAnswered() | RequestExpired():
            call_id = fact.call_id
        case OutsideReturned():
            call_id = fact.result.call_id
        case _:
            return None
    if before.reply is None or after.reply is None:
        return None
    asked = next((c.asked for c in before.reply.calls if c.call.id == call_id), None)
    answered = next((c.answered for c in after.reply.calls if c.call.id == call_id), None)
    if asked is None or answered is None:
        return None
    return Outcome(asked.request_id, answered.how, answered.by, answered.via)


def _title(session: Session) -> str:
    for said in session.history[:4]:
        if said.role == "user":
            for part in said.parts:
                if isinstance(part, Text) and part.text.strip():
                    return part.text.strip().splitlines()[0][:_TITLE]
    return ""


def _waiting(session: Session, question: Question) -> Waiting:
    asked = question.asked
    return Waiting(
        request_id=asked.request_id,
        session_id=session.id,
        kind=asked.kind,
        tool=question.call.tool,
        created_at=asked.at,
        expires_at=asked.expires_at,
        body=msgspec.json.encode(question),
    )

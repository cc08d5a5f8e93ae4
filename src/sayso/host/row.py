"""The rows of a store's index, read back as what surfaces show; and what a session's program noted of it."""

import msgspec

from sayso.errors import NotWaiting
from sayso.reply.codec import decode
from sayso.reply.fact import SessionOpened
from sayso.reply.question import Question, request_of
from sayso.request import Decided, Request
from sayso.store.base import Closed, Store, Waiting

__all__ = ["about", "decided_of", "no_longer", "question_in", "request_in"]

_question = msgspec.json.Decoder(Question)


def question_in(row: Waiting | Closed) -> Question:
    """The question as it was put."""
    return _question.decode(row.body)


def request_in(row: Waiting | Closed) -> Request:
    """The request, without its tool's schema: that needs the agent."""
    return request_of(row.session_id, question_in(row), None)


def decided_of(row: Closed) -> Decided:
    """A request that waits no more, and how it ended."""
    return Decided(request=request_in(row), how=row.how, by=row.by, via=row.via, at=row.closed_at)


def no_longer(request_id: str, closed: Closed | None) -> NotWaiting:
    """The error for whoever answers a request that waits no more: how it ended, by whom, when."""
    if closed is None:
        return NotWaiting(f"there is no request {request_id!r}")
    words = {"expired": "expired unanswered", "withdrawn": "was withdrawn when the reply was stopped"}
    said = words.get(closed.how, f"was already {closed.how}")
    by, via = (f" by {closed.by}" if closed.by else ""), (f" via {closed.via}" if closed.via else "")
    return NotWaiting(
        f"request {request_id!r} {said}{by}{via} at {closed.closed_at}",
        how=closed.how,
        by=closed.by,
        via=closed.via,
        at=closed.closed_at,
    )


async def about(store: Store, session_id: str) -> dict[str, str]:
    """What the program that began a session noted of it; empty where there is no such session."""
    for entry in await store.read(session_id, limit=1):
        fact = decode(entry.fact)
        return fact.about if isinstance(fact, SessionOpened) else {}
    return {}

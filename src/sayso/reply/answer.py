"""Answers in the published language become facts, or are refused whole. Pure.

An event is applied whole or not at all: every part of it is checked here and by `machine.step` before any is kept.
"""

import json
from collections.abc import Callable, Iterable

from sayso.errors import InvalidAnswer, NotWaiting, StaleAnswer, UnknownCall
from sayso.event import ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent
from sayso.message import ToolResultBlock, ToolResultState
from sayso.reply.fact import Fact, HumanAnswered, OutsideReturned
from sayso.reply.part import Call
from sayso.reply.state import At, CallAt, Reply, Session
from sayso.reply.transcript import as_result, as_rule

__all__ = ["confirmations", "outside_results"]


def confirmations(
    session: Session,
    event: UserConfirmResultEvent,
    *,
    at: str,
    by: str,
    via: str,
    check_input: Callable[[str, str], None],
) -> list[Fact]:
    """The facts of a person's answers.

    check_input(tool, input text): raises InvalidAnswer where an edited input does not fit the tool.
    Raises StaleAnswer, UnknownCall, NotWaiting or InvalidAnswer; then nothing of the event is applied.
    """
    reply = _named(session, event.reply_id)
    _each_once([r.tool_call.id for r in event.confirm_results])
    return [_confirmation(reply, r, at=at, by=by, via=via, check_input=check_input) for r in event.confirm_results]


def _confirmation(
    reply: Reply, answer: ConfirmResult, *, at: str, by: str, via: str, check_input: Callable[[str, str], None]
) -> Fact:
    block = answer.tool_call
    c = _call(reply, block.id)
    if c.at is At.SUBMITTED:
        raise InvalidAnswer(f"call {block.id!r} waits for a result from outside, not for a confirmation")
    if block.name != c.call.tool:
        raise InvalidAnswer(
            f"call {block.id!r} is of tool {c.call.tool!r}; its tool cannot be changed to {block.name!r}"
        )
    asked = c.asked
    seen = block.metadata.get("digest")
    if asked is not None and c.at in (At.ASKED, At.IN_DOUBT) and seen is not None and seen != asked.digest:
        raise StaleAnswer(f"call {block.id!r} now asks something else than was answered; look at it again")
    rules = answer.rules or []
    if wrong := [r.tool_name for r in rules if r.tool_name != c.call.tool]:
        raise InvalidAnswer(f"an answer about {c.call.tool!r} can only carry rules for it, not for {wrong[0]!r}")
    edited = None
    if answer.confirmed and not _same(block.input, c.call.input):
        check_input(c.call.tool, block.input)
        edited = block.input
    return HumanAnswered(
        at=at,
        call_id=block.id,
        yes=answer.confirmed,
        digest=asked.digest if asked else "",
        by=by,
        via=via,
        edited=edited,
        rules=tuple(dict.fromkeys(as_rule(r, source="session") for r in rules)),
        reason=answer.reason if not answer.confirmed else None,
    )


def outside_results(
    session: Session,
    event: ExternalExecutionResultEvent,
    *,
    at: str,
    by: str,
    via: str,
    check_result: Callable[[Call, ToolResultBlock], ToolResultBlock],
) -> list[Fact]:
    """The facts of results from outside.

    check_result(call, result): the result to keep (bounded), or raises InvalidAnswer where it does not fit the tool.
    Raises as `confirmations` does.
    """
    reply = _named(session, event.reply_id)
    _each_once([r.id for r in event.execution_results])
    facts: list[Fact] = []
    for block in event.execution_results:
        c = _call(reply, block.id)
        if c.at is At.ASKED:
            raise InvalidAnswer(f"call {block.id!r} waits for a confirmation, not for a result from outside")
        if block.state is ToolResultState.RUNNING:
            raise InvalidAnswer(f"the result of call {block.id!r} is in state 'running'; give its final state")
        if c.at in (At.SUBMITTED, At.IN_DOUBT):
            block = check_result(c.call, block)
        facts.append(OutsideReturned(at=at, result=as_result(block), by=by, via=via))
    return facts


def _named(session: Session, reply_id: str) -> Reply:
    reply = session.reply
    if reply is None:
        raise NotWaiting("the session has no reply yet; nothing waits for an answer")
    if reply.id != reply_id:
        raise StaleAnswer(f"the answer is for reply {reply_id!r}, but reply {reply.id!r} is the current one")
    if reply.ended is not None:
        raise NotWaiting(f"reply {reply.id!r} has ended ({reply.ended}); nothing waits for an answer")
    return reply


def _each_once(ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for call_id in ids:
        if call_id in seen:
            raise InvalidAnswer(f"call {call_id!r} is answered twice in one event; answer each call once")
        seen.add(call_id)
    if not seen:
        raise InvalidAnswer("the event answers no call")


def _call(reply: Reply, call_id: str) -> CallAt:
    for c in reply.calls:
        if c.call.id == call_id:
            return c
    if any(isinstance(p, Call) and p.id == call_id for p in reply.said):
        raise NotWaiting(f"call {call_id!r} has its result already")
    raise UnknownCall(f"reply {reply.id!r} has no call {call_id!r}")


def _same(a: str, b: str) -> bool:
    """Whether two inputs are one JSON value: a front end may write the same arguments with other blanks."""
    if a == b:
        return True
    try:
        return bool(json.loads(a) == json.loads(b)) and _kinds(json.loads(a)) == _kinds(json.loads(b))
    except ValueError:
        return False


def _kinds(value: object) -> object:
    """A JSON value with the class of each scalar: 1, 1.0 and true are equal in Python and are not the same input."""
    if isinstance(value, dict):
        return {k: _kinds(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_kinds(v) for v in value]
    return (type(value).__name__, value)

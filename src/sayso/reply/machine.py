"""The reply as a machine: `step(session, fact)` accepts one fact or refuses it; `wants(session)` says what must happen.

No I/O, no clock, no ids made up here. A session is the fold of its log (`replay`), and what is wanted is a function
of the state, never stored: starting, resuming after an answer and recovering from a crash are one path. A session is
parked when everything it wants must come from outside. Every call walks `CALL_TABLE` and no other path.
"""

from collections.abc import Iterable
from typing import Any, assert_never

from msgspec.structs import replace

from sayso.errors import NotWaiting, StaleAnswer, UnknownCall, WrongMoment
from sayso.reply.digest import digest_of
from sayso.reply.effect import (
    Await,
    CallModel,
    Effect,
    JudgeCall,
    RunTool,
    SettleDoubt,
    StartQueued,
)
from sayso.reply.fact import (
    CallJudged,
    CallSubmitted,
    DoubtRaised,
    DoubtSettled,
    Fact,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    ModeSet,
    OutsideReturned,
    ReplyEnded,
    ReplyStarted,
    RequestExpired,
    RuleAdded,
    RuleRemoved,
    RunnerLost,
    SessionOpened,
    ToolReturned,
    ToolStarted,
)
from sayso.reply.part import Asked, Call, Rule
from sayso.reply.said import closed, said_of, spoken
from sayso.reply.state import Answered, Approval, At, CallAt, Reply, Session

__all__ = ["CALL_TABLE", "is_parked", "replay", "step", "wants"]

# (where, what happened) -> where. The docs draw their diagram from this.
CALL_TABLE: dict[tuple[At, str], At] = {
    (At.PROPOSED, "allow"): At.READY,
    (At.PROPOSED, "ask"): At.ASKED,
    (At.PROPOSED, "deny"): At.DONE,
    (At.PROPOSED, "invalid"): At.DONE,  # unknown tool, or input that cannot be read
    (At.PROPOSED, "hold"): At.PROPOSED,  # a neighbour's question may settle it
    (At.ASKED, "yes"): At.PROPOSED,  # an answer is evidence: judge again, with it
    (At.ASKED, "no"): At.DONE,
    (At.ASKED, "expire"): At.DONE,
    (At.READY, "start"): At.RUNNING,
    (At.READY, "submit"): At.SUBMITTED,
    (At.SUBMITTED, "result"): At.DONE,
    (At.SUBMITTED, "expire"): At.DONE,
    (At.RUNNING, "return"): At.DONE,
    (At.RUNNING, "lose"): At.IN_DOUBT,
    (At.IN_DOUBT, "doubt"): At.IN_DOUBT,  # put to a person
    (At.IN_DOUBT, "again"): At.PROPOSED,  # settled without a person: may run again
    (At.IN_DOUBT, "settle"): At.DONE,  # settled without a person: it happened
    (At.IN_DOUBT, "yes"): At.PROPOSED,  # a person says: run it again
    (At.IN_DOUBT, "no"): At.DONE,
    (At.IN_DOUBT, "return"): At.DONE,  # its runner was only cut off, and says what came of it
    (At.IN_DOUBT, "result"): At.DONE,  # a person says what came of it
    (At.IN_DOUBT, "expire"): At.DONE,
}


def replay(log: Iterable[Fact], start: Session | None = None) -> Session:
    """The state after a log, or after the rest of one when `start` is the fold of its beginning."""
    session = start or Session()
    for fact in log:
        session = step(session, fact)
    return session


def is_parked(session: Session) -> bool:
    """Whether only the outside can move it on."""
    effects = wants(session)
    return bool(effects) and all(type(e) is Await for e in effects)


# -- what the machine wants --------------------------------------------------------------------------


def wants(session: Session) -> tuple[Effect, ...]:
    """What must happen next, from the state alone."""
    reply = session.reply
    if reply is None or reply.ended is not None:
        return (StartQueued(messages=session.queue),) if session.queue else ()
    first = next((c for c in reply.calls if c.at is not At.DONE), None)
    if first is None:
        return (CallModel(iteration=reply.iters + 1),)
    out: list[Effect] = []
    for c in reply.calls:
        if c.batch == first.batch and (effect := _wanted(reply, c)) is not None:
            out.append(effect)
    return tuple(out)


def _wanted(reply: Reply, c: CallAt) -> Effect | None:
    match c.at:
        case At.PROPOSED:
            if c.held_by is not None and _find(reply, c.held_by).at is At.ASKED:
                return None
            return JudgeCall(call=c.call, approval=c.approval)
        case At.ASKED | At.SUBMITTED:
            return Await(call_id=c.call.id)
        case At.IN_DOUBT:
            return SettleDoubt(call=c.call) if c.asked is None else Await(call_id=c.call.id)
        case At.READY:
            return RunTool(call=c.call)
        case At.RUNNING | At.DONE:
            return None
        case _:
            assert_never(c.at)


# -- how it moves --------------------------------------------------------------------------------------


def step(session: Session, fact: Fact) -> Session:
    """Accept one fact, or raise a `Refused` and change nothing.

    Raises WrongMoment where the fact cannot follow, UnknownCall where it names no call of the reply under way,
    NotWaiting and StaleAnswer where an answer finds nothing, or another question, waiting.
    """
    match fact:
        case ModelReplied():
            return _with(session, _model_replied(_live(session, fact), fact))
        case CallJudged():
            return _with(session, _judged(_live(session, fact), fact))
        case ToolStarted():
            reply = _live(session, fact)
            if fact.digest != digest_of(_find(reply, fact.call_id).call):
                raise WrongMoment(f"call {fact.call_id!r} was started with another input than was judged")
            return _with(session, _move(reply, fact.call_id, "start", fact.at, runner=fact.runner))
        case ToolReturned():
            reply = _live(session, fact)
            return _with(session, _move(reply, fact.result.call_id, "return", fact.at, result=fact.result))
        case HumanAnswered():
            return _answered(session, fact)
        case ReplyStarted():
            return _started(session, fact)
        case CallSubmitted():
            reply = _live(session, fact)
            return _with(session, _move(reply, fact.call_id, "submit", fact.at, asked=fact.asked))
        case OutsideReturned():
            return _with(session, _returned(_live(session, fact), fact))
        case RequestExpired():
            reply = _live(session, fact)
            return _with(session, _expired(reply, fact))
        case RunnerLost() | DoubtSettled() | DoubtRaised():
            return _with(session, _doubt(_live(session, fact), fact))
        case ReplyEnded():
            return _ended(session, fact)
        case SessionOpened() | MessageQueued() | RuleAdded() | RuleRemoved() | ModeSet():
            return _of_session(session, fact)
        case _:
            assert_never(fact)


def _live(session: Session, fact: Fact) -> Reply:
    reply = session.reply
    if reply is None or reply.ended is not None:
        raise WrongMoment(f"{type(fact).__name__} outside a live reply")
    return reply


def _with(session: Session, reply: Reply) -> Session:
    if reply.ended is None:
        return replace(session, reply=reply)
    return replace(session, reply=reply, history=(*session.history, said_of(reply)))


def _of_session(session: Session, fact: SessionOpened | MessageQueued | RuleAdded | RuleRemoved | ModeSet) -> Session:
    if isinstance(fact, SessionOpened):
        if session.id:
            raise WrongMoment(f"session {session.id!r} is open already")
        return Session(
            id=fact.session_id,
            agent=fact.agent,
            mode=fact.mode,
            rules=fact.rules,
            directories=fact.directories,
            history=fact.history,
            reply=fact.reply,
            queue=fact.queue,
            about=fact.about,
        )
    if not session.id:
        raise WrongMoment(f"{type(fact).__name__} before the session was opened")
    match fact:
        case MessageQueued():
            return replace(session, queue=(*session.queue, fact.message))
        case RuleAdded():
            return replace(session, rules=_added(session.rules, (fact.rule,)))
        case RuleRemoved():
            if fact.rule not in session.rules:
                raise WrongMoment("the session has no such rule")
            return replace(session, rules=tuple(r for r in session.rules if r != fact.rule))
        case ModeSet():
            return replace(session, mode=fact.mode)
        case _:
            assert_never(fact)


def _added(rules: tuple[Rule, ...], more: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return (*rules, *dict.fromkeys(r for r in more if r not in rules))


def _started(session: Session, fact: ReplyStarted) -> Session:
    if not session.id:
        raise WrongMoment("a reply before the session was opened")
    if session.reply is not None and session.reply.ended is None:
        raise WrongMoment(f"reply {session.reply.id!r} has not ended")
    if fact.from_queue > len(session.queue):
        raise WrongMoment(f"the queue holds {len(session.queue)} messages, not {fact.from_queue}")
    reply = Reply(id=fact.reply_id, name=fact.name, at=fact.at, max_iters=fact.max_iters, trace=fact.trace)
    prompts = (*session.queue[: fact.from_queue], *fact.prompts)
    return replace(session, history=(*session.history, *prompts), reply=reply, queue=session.queue[fact.from_queue :])


def _model_replied(reply: Reply, fact: ModelReplied) -> Reply:
    if fact.reply_id != reply.id or any(c.at is not At.DONE for c in reply.calls):
        raise WrongMoment("the model answered while calls of its last answer are open")
    calls: list[CallAt] = []
    batch = -1
    for part in fact.parts:
        if isinstance(part, Call):
            if not (calls and part.safe and calls[-1].call.safe):
                batch += 1
            calls.append(CallAt(call=part, batch=batch))
    ids = {c.call.id for c in calls} | {p.id for p in reply.said if isinstance(p, Call)}
    if len(ids) != len(calls) + sum(isinstance(p, Call) for p in reply.said):
        raise WrongMoment("the model used one call id twice")
    a, b = reply.usage, fact.usage
    return replace(
        reply,
        said=(*spoken(reply), *fact.parts),
        calls=tuple(calls),
        iters=reply.iters + 1,
        usage=(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]),
        ended=None if calls else "completed",
        ended_at=None if calls else fact.at,
    )


def _judged(reply: Reply, fact: CallJudged) -> Reply:
    c = _find(reply, fact.call_id)
    changes: dict[str, Any] = {"held_by": fact.holder}
    if fact.verdict == "hold":
        asking = [x.call.id for x in reply.calls if x.at is At.ASKED and x.batch == c.batch]
        if fact.holder not in asking:
            raise WrongMoment(
                f"call {fact.call_id!r} cannot wait for call {fact.holder!r}, which asks nothing beside it"
            )
    if fact.input is not None:
        changes["call"] = replace(c.call, input=fact.input)
    if fact.verdict == "ask":
        if fact.asked is None:
            raise WrongMoment(f"call {fact.call_id!r} asks without a question")
        changes |= {"asked": fact.asked, "approval": None}
    elif fact.verdict in ("deny", "invalid"):
        changes["result"] = closed(c, "denied" if fact.verdict == "deny" else "error", fact.message, fact.at)
    return _move(reply, fact.call_id, fact.verdict, fact.at, **changes)


def _answered(session: Session, fact: HumanAnswered) -> Session:
    reply = _live(session, fact)
    c = _find(reply, fact.call_id)
    asked = _question(c)
    if fact.digest != asked.digest:
        raise StaleAnswer(f"call {fact.call_id!r} now asks something else than was answered; look at it again")
    if any(r.tool != c.call.tool for r in fact.rules):
        raise WrongMoment(f"an answer about {c.call.tool!r} can only carry rules for {c.call.tool!r}")
    who = Answered(by=fact.by, via=fact.via, at=fact.at, how="approved" if fact.yes else "refused")
    if not fact.yes:
        why = f" Reason: {fact.reason}" if fact.reason else ""
        if c.at is At.IN_DOUBT:
            said = f"It was interrupted and may have run; it was not run again.{why}"
            result = closed(c, "interrupted", said, fact.at)
        else:
            result = closed(c, "denied", f"The person refused this call.{why}", fact.at)
        moved = _move(reply, fact.call_id, "no", fact.at, answered=who, result=result)
    else:
        call = c.call if fact.edited is None else replace(c.call, input=fact.edited)
        approval = Approval(digest=digest_of(call), definition=asked.definition, by=fact.by, via=fact.via, at=fact.at)
        changed = call.input != c.call.input
        edited_from = (c.edited_from or c.call.input) if changed else c.edited_from
        moved = _move(
            reply, fact.call_id, "yes", fact.at, call=call, approval=approval, answered=who, edited_from=edited_from
        )
    return _with(replace(session, rules=_added(session.rules, fact.rules)), moved)


def _question(c: CallAt) -> Asked:
    if c.asked is None or c.at not in (At.ASKED, At.IN_DOUBT):
        if c.answered is not None:
            a = c.answered
            by = f" by {a.by}" if a.by else ""
            via = f" via {a.via}" if a.via else ""
            raise NotWaiting(f"call {c.call.id!r} was already {a.how}{by}{via} at {a.at}")
        raise NotWaiting(f"call {c.call.id!r} waits for no confirmation: it is {c.at}")
    return c.asked


def _returned(reply: Reply, fact: OutsideReturned) -> Reply:
    c = _find(reply, fact.result.call_id)
    if c.at not in (At.SUBMITTED, At.IN_DOUBT) or c.asked is None:
        if c.answered is not None:
            _question(replace(c, asked=None))
        raise NotWaiting(f"call {c.call.id!r} waits for no result from outside: it is {c.at}")
    how = "refused" if fact.result.state == "denied" else "answered"
    who = Answered(by=fact.by, via=fact.via, at=fact.at, how=how)
    result = replace(fact.result, tool=c.call.tool)
    return _move(reply, c.call.id, "result", fact.at, result=result, answered=who)


def _expired(reply: Reply, fact: RequestExpired) -> Reply:
    text = "The question was dismissed without an answer." if fact.by else "Nobody answered in time."
    how = "dismissed" if fact.by else "expired"
    who = Answered(by=fact.by, via=fact.via, at=fact.at, how=how)
    result = closed(_find(reply, fact.call_id), "interrupted", text, fact.at)
    return _move(reply, fact.call_id, "expire", fact.at, result=result, answered=who)


def _doubt(reply: Reply, fact: RunnerLost | DoubtSettled | DoubtRaised) -> Reply:
    match fact:
        case RunnerLost():
            for call_id in fact.call_ids:
                if _find(reply, call_id).runner != fact.runner:
                    raise WrongMoment(f"call {call_id!r} was not started by runner {fact.runner!r}")
                reply = _move(reply, call_id, "lose", fact.at, asked=None)
            return reply
        case DoubtSettled():
            if fact.how == "again":
                return _move(reply, fact.call_id, "again", fact.at)
            if fact.result is None:
                raise WrongMoment(f"call {fact.call_id!r} is settled as done without a result")
            return _move(reply, fact.call_id, "settle", fact.at, result=fact.result)
        case DoubtRaised():
            return _move(reply, fact.call_id, "doubt", fact.at, asked=fact.asked)
        case _:
            assert_never(fact)


def _ended(session: Session, fact: ReplyEnded) -> Session:
    reply = _live(session, fact)
    if fact.reply_id != reply.id:
        raise WrongMoment(f"reply {fact.reply_id!r} is not the one under way")
    why = fact.why or "The reply was interrupted before this call ran."
    calls = tuple(c if c.at is At.DONE else _close(c, why, fact.at) for c in reply.calls)
    return _with(session, replace(reply, calls=calls, ended=fact.reason, ended_at=fact.at, error=fact.error))


def _close(c: CallAt, why: str, at: str) -> CallAt:
    if c.at in (At.RUNNING, At.IN_DOUBT):
        why = "Interrupted; it may have completed."
    return replace(c, at=At.DONE, result=closed(c, "interrupted", why, at))


def _move(reply: Reply, call_id: str, how: str, at: str, **changes: Any) -> Reply:
    """The only place where a call changes place."""
    c = _find(reply, call_id)
    to = CALL_TABLE.get((c.at, how))
    if to is None:
        raise WrongMoment(f"call {call_id!r} is {c.at}; it cannot {how!r}")
    moved = replace(c, at=to, **changes)
    calls = tuple(moved if x is c else x for x in reply.calls)
    if to is At.DONE and reply.iters >= reply.max_iters and all(x.at is At.DONE for x in calls):
        return replace(reply, calls=calls, ended="exceed_max_iters", ended_at=at)
    return replace(reply, calls=calls)


def _find(reply: Reply, call_id: str) -> CallAt:
    for c in reply.calls:
        if c.call.id == call_id:
            return c
    if any(isinstance(p, Call) and p.id == call_id for p in reply.said):
        raise NotWaiting(f"call {call_id!r} has its result already")
    raise UnknownCall(f"reply {reply.id!r} has no call {call_id!r}")

"""Calls that were started and whose runner is gone: which they are, and the question whether they may run again."""

from sayso.agent.crew import Crew
from sayso.agent.tool_call import settle
from sayso.ids import new_id, now
from sayso.permission.decision import PermissionDecision
from sayso.permission.rule import PermissionBehavior
from sayso.reply.digest import question_digest
from sayso.reply.fact import DoubtRaised, DoubtSettled, RunnerLost
from sayso.reply.part import Asked, Call
from sayso.reply.state import At, Session
from sayso.tool.toolkit import InvalidInput, definition_digest

__all__ = ["lost_calls", "raise_doubt", "started_by"]

_IN_DOUBT = (
    "It was started before, and the program that ran it is gone or was cut off: it may have run already. "
    "Yes runs it again; no leaves it as it is."
)


def started_by(session: Session, runner_id: str) -> list[str]:
    """The calls of the reply under way that a runner has started and not brought back; their ids."""
    reply = session.reply
    if reply is None or reply.ended is not None:
        return []
    return [c.call.id for c in reply.calls if c.at is At.RUNNING and c.runner == runner_id]


async def lost_calls(crew: Crew, session: Session) -> list[RunnerLost]:
    """Started calls whose runner is gone: nobody knows whether they did it."""
    reply = session.reply
    if reply is None or reply.ended is not None:
        return []
    lost: dict[str, list[str]] = {}
    for c in reply.calls:
        if c.at is At.RUNNING and c.runner is not None:
            mine = await crew.runner()
            if not await mine.still_runs(c.runner, session.id, c.call.id):
                lost.setdefault(c.runner, []).append(c.call.id)
    return [RunnerLost(at=now(), runner=runner, call_ids=tuple(ids)) for runner, ids in lost.items()]


async def raise_doubt(crew: Crew, call: Call) -> DoubtSettled | DoubtRaised:
    """What a lost call came to, or the question to a person."""
    tool = crew.toolkit.get(call.tool)
    settled = await settle(tool, crew.toolkit, call)
    if isinstance(settled, DoubtSettled):
        return settled
    why = f"{_IN_DOUBT} {settled}".strip()
    if tool is None:
        asked = Asked(request_id=new_id(), at=now(), why=why, definition="", digest=question_digest(call, ""))
        return DoubtRaised(at=now(), call_id=call.id, asked=asked)
    try:
        tool_input = crew.toolkit.parse(tool, call.input)
    except InvalidInput:
        tool_input = {}
    decision = PermissionDecision(behavior=PermissionBehavior.ASK, message=why)
    asked = await crew.judge.question(call, tool, tool_input, definition_digest(tool), decision, why)
    return DoubtRaised(at=now(), call_id=call.id, asked=asked)

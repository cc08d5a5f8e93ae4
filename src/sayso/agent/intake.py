"""What may come in: messages, answers, rules. Checked against the tools before anything is accepted."""

from collections.abc import Sequence
from typing import Any

from sayso.agent.crew import Crew
from sayso.errors import InvalidAnswer
from sayso.event import ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent
from sayso.ids import now
from sayso.message import AssistantMsg, Msg, ToolCallBlock, ToolResultBlock, ToolResultState, UserMsg
from sayso.permission.engine import PermissionEngine
from sayso.permission.rule import PermissionRule
from sayso.reply.answer import confirmations, outside_results
from sayso.reply.fact import Fact
from sayso.reply.machine import step
from sayso.reply.part import Call
from sayso.reply.state import Session
from sayso.state import permission_context
from sayso.tool.run import bounded_result
from sayso.tool.toolkit import InvalidInput

__all__ = ["Answers", "Inputs", "Intake", "messages_in", "nothing_to_do", "what_is_owed"]

Answers = UserConfirmResultEvent | ExternalExecutionResultEvent
Inputs = str | Msg | Sequence[Msg] | Answers | UserInterruptEvent | None
"""A message or several, an answer, an interrupt; None goes on from where the session stands."""


class Intake:
    """The checks that need the agent's tools."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    def facts(self, session: Session, event: Answers, by: str, via: str) -> list[Fact]:
        """The facts of an answer, all of which `step` accepts, or a `Refused` and nothing."""
        if isinstance(event, UserConfirmResultEvent):
            facts = confirmations(session, event, at=now(), by=by, via=via, check_input=self._check_input)
            for result in event.confirm_results:
                for rule in result.rules or ():
                    self.check_rule(session, rule)
        else:
            facts = outside_results(session, event, at=now(), by=by, via=via, check_result=self._check_result)
        for fact in facts:
            session = step(session, fact)
        return facts

    def check_rule(self, session: Session, rule: PermissionRule) -> None:
        """Raises InvalidRule if the rule can never match its tool."""
        PermissionEngine(permission_context(session)).check_rule(rule, self._crew.toolkit.get(rule.tool_name))

    def _check_input(self, tool_name: str, text: str) -> None:
        tool = self._crew.toolkit.get(tool_name)
        if tool is None:
            return  # judged later, as any call of a tool that is gone
        try:
            self._crew.toolkit.parse(tool, text)
        except InvalidInput as exc:
            raise InvalidAnswer(f"the edited input does not fit {tool_name!r}: {exc}") from exc

    def _check_result(self, call: Call, block: ToolResultBlock) -> ToolResultBlock:
        tool = self._crew.toolkit.get(call.tool)
        if tool is not None and tool.is_external_tool and block.state is ToolResultState.SUCCESS:
            tool.check_result(self._crew.toolkit.parse(tool, call.input), block)
        return bounded_result(block)

    def schema_of(self, tool_name: str) -> dict[str, Any] | None:
        """A tool's input schema, None where there is no such tool."""
        tool = self._crew.toolkit.get(tool_name)
        return None if tool is None else tool.input_schema


def messages_in(inputs: str | Msg | Sequence[Msg]) -> list[Msg]:
    """The messages of an input. Raises ValueError or TypeError for what nobody may say to an agent."""
    if isinstance(inputs, str):
        return [UserMsg(content=inputs)]
    messages = [inputs] if isinstance(inputs, Msg) else list(inputs)
    if not messages:
        raise ValueError("the list of messages is empty; pass None to go on without one")
    for message in messages:
        if not isinstance(message, Msg):
            raise TypeError(f"an input is a {type(message).__name__}; pass a message, an answer event, or None")
        if message.role == "assistant" or any(isinstance(b, ToolCallBlock | ToolResultBlock) for b in message.content):
            raise ValueError("a message to an agent is a user's or a system's, and carries no calls and no results")
    return messages


def what_is_owed(session: Session) -> str:
    """One sentence: which answers the session waits for."""
    reply = session.reply
    waiting = [
        f"{c.call.tool} (call {c.call.id}: {c.at})"
        for c in (reply.calls if reply else ())
        if c.asked is not None and c.at not in ("done", "running", "proposed", "ready")
    ]
    if not waiting:
        return "The reply has not finished; go on with reply(None)."
    return f"Waiting for an answer: {', '.join(waiting)}."


def nothing_to_do(name: str, inputs: Inputs) -> Msg:
    """What an agent says to an input that finds the session idle."""
    what = "interrupt" if isinstance(inputs, UserInterruptEvent) else "go on with"
    return AssistantMsg(name=name, content=f"There is nothing to {what}: the session is idle.")

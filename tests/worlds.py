"""Small worlds for tests: an agent with a scripted model and tools that note what they did."""

import json
from collections.abc import Sequence
from typing import Any

from sayso.agent import Agent
from sayso.event import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
)
from sayso.message import ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.permission import PermissionRule
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool, ToolBase


class Bank:
    """Pays. `paid` is what really happened, in order."""

    def __init__(self) -> None:
        self.paid: list[str] = []

    def tool(self, **options: Any) -> FunctionTool:
        async def pay(to: str, amount: int = 1) -> str:
            """Pay somebody.

            Args:
                to: whom.
                amount: how much.
            """
            self.paid.append(f"{to}:{amount}")
            return f"paid {amount} to {to}"

        return FunctionTool(pay, **options)


class Outside(ToolBase):
    """A tool that somebody else runs."""

    name = "deploy"
    description = "Deploy the site."
    input_schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    is_external_tool = True


def call(call_id: str, tool: str = "pay", **arguments: Any) -> ToolCallBlock:
    """A call as a model makes it."""
    return ToolCallBlock(id=call_id, name=tool, input=json.dumps(arguments))


def agent_with(turns: Sequence[Any], tools: Sequence[Any], **options: Any) -> Agent:
    """An agent whose model says `turns`."""
    return Agent("bursar", "You pay bills.", ScriptedModel(turns), tools, **options)


async def events_of(agent: Agent, inputs: Any) -> list[AgentEvent]:
    """Every event of one input."""
    return [event async for event in agent.reply_stream(inputs)]


async def asked_by(agent: Agent, inputs: Any = "pay the bills") -> RequireUserConfirmEvent:
    """The confirmation that an input ends with."""
    last = (await events_of(agent, inputs))[-1]
    assert isinstance(last, RequireUserConfirmEvent), last
    return last


async def submitted_by(agent: Agent, inputs: Any = "deploy it") -> RequireExternalExecutionEvent:
    """The request for a result from outside that an input ends with."""
    last = (await events_of(agent, inputs))[-1]
    assert isinstance(last, RequireExternalExecutionEvent), last
    return last


def answer(
    event: RequireUserConfirmEvent,
    confirmed: bool = True,
    *,
    only: str | None = None,
    input: str | None = None,
    rules: list[PermissionRule] | None = None,
    reason: str | None = None,
) -> UserConfirmResultEvent:
    """One answer to every call of a request, or to one of them."""
    results = []
    for block in event.tool_calls:
        if only is None or block.id == only:
            tool_call = block if input is None else block.model_copy(update={"input": input})
            results.append(ConfirmResult(confirmed=confirmed, tool_call=tool_call, rules=rules, reason=reason))
    return UserConfirmResultEvent(reply_id=event.reply_id, confirm_results=results)


def result(event: RequireExternalExecutionEvent, text: str = "deployed", **fields: Any) -> ExternalExecutionResultEvent:
    """One result for every call of a request."""
    fields.setdefault("state", ToolResultState.SUCCESS)
    return ExternalExecutionResultEvent(
        reply_id=event.reply_id,
        execution_results=[ToolResultBlock(id=c.id, name=c.name, output=text, **fields) for c in event.tool_calls],
    )


def results_in(agent: Agent) -> list[tuple[str, str, str]]:
    """(call id, state, words) of every result in the session, in order."""
    return [
        (b.id, b.state.value, b.text())
        for message in agent.state.context
        for b in message.content
        if isinstance(b, ToolResultBlock)
    ]

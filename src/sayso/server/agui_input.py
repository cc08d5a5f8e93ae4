"""What an AG-UI run brings: messages that are new, answers to interrupts, results of the client's own tools.

Trusts our own log for what was said and asked: of the messages that a client sends along only those count that the log
does not have. Reads; does nothing.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

from ag_ui.core import Message, ResumeEntry, RunAgentInput, Tool, ToolMessage, UserMessage

from sayso.errors import InvalidAnswer, NotWaiting
from sayso.message import Msg, TextBlock, UserMsg
from sayso.request import Request
from sayso.server.body import AnswerBody
from sayso.tool.base import ToolBase

__all__ = ["ClientTool", "answer_of", "answers_of", "client_tools", "new_messages"]

_TOOLS = 64


class ClientTool(ToolBase):
    """A tool of the client's own: its calls wait for the client's result."""

    is_external_tool = True

    def __init__(self, tool: Tool) -> None:
        self.name = tool.name
        self.description = tool.description or ""
        schema = tool.parameters if isinstance(tool.parameters, dict) else {}
        self.input_schema = {"type": "object", "properties": {}, **schema}


def client_tools(run: RunAgentInput) -> list[ToolBase]:
    """The client's own tools. Raises InvalidAnswer where there are too many."""
    tools = run.tools or []
    if len(tools) > _TOOLS:
        raise InvalidAnswer(f"a client may bring {_TOOLS} tools, not {len(tools)}")
    return [ClientTool(tool) for tool in tools]


def new_messages(run: RunAgentInput, known: Collection[str]) -> list[Msg]:
    """The user's messages behind the last one that the log has. known: ids of the log's messages."""
    fresh: list[Msg] = []
    for message in reversed(run.messages):
        if message.id in known:
            break
        if isinstance(message, UserMessage):
            fresh.append(UserMsg(id=message.id, name=message.name or "user", content=_text(message)))
    return list(reversed(fresh))


def _text(message: Message) -> list[TextBlock]:
    content = getattr(message, "content", "")
    text = content if isinstance(content, str) else "".join(getattr(part, "text", None) or "" for part in content or [])
    if not text.strip():
        raise InvalidAnswer("a message needs text; other content is not understood here")
    return [TextBlock(text=text)]


def answers_of(run: RunAgentInput, waiting: Sequence[Request]) -> list[tuple[Request, AnswerBody]]:
    """The answers in a run: its resume entries, and results of the client's own tools.

    All or none: raises NotWaiting for an interrupt that waits no more, InvalidAnswer for one that cannot be read.
    """
    by_id = {request.id: request for request in waiting}
    found: list[tuple[Request, AnswerBody]] = []
    for entry in run.resume or []:
        request = by_id.get(entry.interrupt_id)
        if request is None:
            raise NotWaiting(f"interrupt {entry.interrupt_id!r} does not wait for an answer in this thread")
        found.append((request, answer_of(request, entry)))
    own = {tool.name for tool in run.tools or []}
    by_call = {r.call_id: r for r in waiting if r.kind == "external" and r.tool in own}
    for message in run.messages:
        if isinstance(message, ToolMessage) and (request := by_call.get(message.tool_call_id)) is not None:
            text = message.error or (message.content if isinstance(message.content, str) else json.dumps("…"))
            body = AnswerBody(
                digest=request.digest, decision="answer", output=text or "done", failed=bool(message.error)
            )
            found.append((request, body))
            del by_call[message.tool_call_id]
    return found


def answer_of(request: Request, entry: ResumeEntry) -> AnswerBody:
    """One resume entry as an answer. An interrupt's id names one question, so it says what was seen.

    Raises InvalidAnswer for a payload that does not say clearly what is meant: that is never a yes.
    """
    if entry.status == "cancelled":
        return AnswerBody(digest=request.digest, decision="dismiss")
    payload = entry.payload
    if not isinstance(payload, dict):
        raise InvalidAnswer("the payload of a resolved interrupt must be an object, such as {approved: true}")
    reason = payload.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise InvalidAnswer("reason must be a text")
    if payload.get("approved") is False:
        return AnswerBody(digest=request.digest, decision="reject", reason=reason)
    if request.kind == "ask":
        return _fitting(payload, "answers", list, AnswerBody(digest=request.digest, decision="answer"))
    if request.kind == "external":
        return _fitting(payload, "output", str, AnswerBody(digest=request.digest, decision="answer"))
    if payload.get("approved") is not True:
        raise InvalidAnswer("approved must be true or false")
    edited, rules = payload.get("editedArgs"), payload.get("rules") or []
    if edited is not None and not isinstance(edited, dict):
        raise InvalidAnswer("editedArgs must be an object")
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise InvalidAnswer("rules must be ids of offered rules")
    text = None if edited is None else json.dumps(edited, ensure_ascii=False)
    return AnswerBody(digest=request.digest, decision="approve", edited_input=text, rule_ids=rules)


def _fitting(payload: dict[str, Any], name: str, kind: type, body: AnswerBody) -> AnswerBody:
    if not isinstance(payload.get(name), kind):
        raise InvalidAnswer(f"the payload needs {name}, or approved: false")
    return body.model_copy(update={name: payload[name]})

"""`AgentState`: a session as one JSON value. What `model_dump_json` gives can rebuild the agent in another process."""

from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from sayso.errors import BrokenLog
from sayso.ids import new_id
from sayso.message import Msg
from sayso.permission.context import AdditionalWorkingDirectory, PermissionContext, PermissionMode
from sayso.permission.rule import PermissionBehavior
from sayso.reply.fact import SessionOpened
from sayso.reply.part import Call, Hint, Part, Result, Rule, Said
from sayso.reply.state import Reply, Session
from sayso.reply.transcript import as_rule, as_said, messages_of, permission_rule

__all__ = ["AgentState", "opened", "permission_context", "state_of"]


class _Live(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a session that its messages do not show."""

    version: int = 1
    reply: Reply | None = None
    queue: tuple[Said, ...] = ()


class AgentState(BaseModel):
    """A session, as a value: messages, rules, and the live reply.

    context: the conversation, oldest first; the reply under way is its last message. permission_context: the
    session's rules and mode; `AgentState(permission_context=...)` starts a session under rules.
    about: the program's own notes on the session, such as the folder it works in; set when it begins.
    live: what else the runtime needs to go on; opaque, versioned, not for editing. Keep the value as private as the
    conversation itself: whoever can change it can change what was asked.
    """

    model_config = ConfigDict(defer_build=True)

    session_id: str = Field(default_factory=new_id)
    reply_id: str | None = None
    context: list[Msg] = Field(default_factory=list)
    permission_context: PermissionContext = Field(default_factory=PermissionContext)
    about: dict[str, str] = Field(default_factory=dict)
    live: dict[str, Any] | None = None


def permission_context(session: Session) -> PermissionContext:
    """The session's mode, directories and rules in the published language."""
    context = PermissionContext(mode=PermissionMode(session.mode))
    for path, source in session.directories:
        context.working_directories[path] = AdditionalWorkingDirectory(path=path, source=source)
    for rule in session.rules:  # each is there once, so none needs to be looked for
        made = permission_rule(rule)
        context.rules(made.behavior).setdefault(made.tool_name, []).append(made)
    return context


def state_of(session: Session) -> AgentState:
    """A session as a value."""
    reply = session.reply
    live = _Live(reply=reply, queue=session.queue)
    return AgentState(
        session_id=session.id,
        reply_id=reply.id if reply else None,
        context=messages_of(session),
        permission_context=permission_context(session),
        about=session.about,
        live=msgspec.to_builtins(live),
    )


def opened(state: AgentState | None, *, session_id: str, agent: str, at: str) -> SessionOpened:
    """The fact that opens a session: an empty one, or from a value.

    A call at the end of a context that came without its live part is closed as interrupted: that it has no result
    is no approval. Raises BrokenLog where `live` cannot be read.
    """
    if state is None:
        return SessionOpened(at=at, session_id=session_id, agent=agent)
    try:
        live = msgspec.convert(state.live, _Live) if state.live is not None else _Live()
    except msgspec.ValidationError as exc:
        raise BrokenLog(f"the live part of the agent's state cannot be read: {exc}") from exc
    under_way = live.reply is not None and live.reply.ended is None
    context = state.context[:-1] if under_way else state.context
    said = tuple(as_said(m) for m in context)
    return SessionOpened(
        at=at,
        session_id=session_id,
        agent=agent,
        mode=state.permission_context.mode.value,
        rules=_rules(state.permission_context),
        directories=tuple((d.path, d.source) for d in state.permission_context.working_directories.values()),
        history=tuple(_complete(s, at) for s in said),
        reply=live.reply,
        queue=live.queue,
        about=state.about,
    )


def _rules(context: PermissionContext) -> tuple[Rule, ...]:
    tables = (context.rules(b) for b in PermissionBehavior)
    return tuple(dict.fromkeys(as_rule(r) for table in tables for rules in table.values() for r in rules))


def _complete(said: Said, at: str) -> Said:
    """The message with a result for every call in it."""
    answered = {p.call_id for p in said.parts if isinstance(p, Result)}
    missing = [p for p in said.parts if isinstance(p, Call) and p.id not in answered]
    if not missing:
        return said
    text = "This call has no recorded result; it was not run again."
    parts: list[Part] = list(said.parts)
    for call in missing:
        result = Result(call_id=call.id, tool=call.tool, state="interrupted", output=text, at=at)
        after = parts.index(call) + 1
        while after < len(parts) and isinstance(parts[after], Call | Result | Hint):
            after += 1
        parts.insert(after, result)
    return msgspec.structs.replace(said, parts=tuple(parts))

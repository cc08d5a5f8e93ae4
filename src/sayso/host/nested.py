"""Agents that are tools of other agents: a call of such a tool is a session of its own, and waits as any session does.

The child's questions are requests like all others, with the path of agents they came by; what it says at the end is the
result of the call. Which session is whose child follows from ids, so nothing is kept and a restart goes on.
"""

import json
from collections.abc import Mapping
from typing import Protocol

from sayso.errors import Refused
from sayso.host.row import question_in, request_in
from sayso.message import Msg, ReplyFinishedReason
from sayso.request import Answer, Request
from sayso.state import AgentState
from sayso.store.base import Store, Waiting

__all__ = ["Nested", "child_of", "parent_request"]

_MARK = ".agent"
_DEPTH = 16  # agents below one another; deeper is a loop


def child_of(request_id: str) -> str:
    """The session that works on a request."""
    return request_id + _MARK


def parent_request(session_id: str) -> str | None:
    """The request that a session works on, None for a session of its own."""
    return session_id.removesuffix(_MARK) if session_id.endswith(_MARK) else None


class _Host(Protocol):
    store: Store

    async def submit(self, session_id: str | None, message: str | Msg, *, agent: str, by: str, via: str) -> str: ...

    async def session(self, session_id: str) -> AgentState: ...

    async def answer(self, answer: Answer, *, by: str, via: str) -> None: ...


class Nested:
    """tools: name of a tool -> name of the agent that a call of it is given to."""

    def __init__(self, host: _Host, tools: Mapping[str, str]) -> None:
        self._host = host
        self._tools = dict(tools)

    async def pick_up(self) -> None:
        """Go on with what a process that ended left between a parent and its child."""
        for tool in self._tools:
            after: str | None = None
            while rows := await self._host.store.waiting(tool=tool, kind="external", after=after, limit=200):
                for row in rows:
                    await self._look(row)
                after = rows[-1].request_id

    async def after(self, session_id: str) -> None:
        """A session came to rest: begin the children it asks for, and tell its parent if it is done."""
        if self._tools:
            for row in await self._host.store.waiting(session_id=session_id, kind="external", limit=1000):
                if row.tool in self._tools:
                    await self._look(row)
        request_id = parent_request(session_id)
        row_above = await self._host.store.find(request_id) if request_id is not None else None
        if row_above is not None:
            await self._look(row_above)

    async def _look(self, row: Waiting) -> None:
        """Begin the child of a request, or give the request what its child came to."""
        child = child_of(row.request_id)
        found = await self._host.store.session(child)
        if found is None:
            await self._begin(row, child)
        elif found.state == "idle":
            await self._report(row, child)

    async def _begin(self, row: Waiting, child: str) -> None:
        question = question_in(row)
        agent = self._tools[row.tool]
        if len(await self.path(child, agent)) > _DEPTH:
            await self._answer(row, f"Not begun: {_DEPTH} agents below one another are a loop.", agent, failed=True)
            return
        task = json.loads(question.call.input).get("task")
        text = task if isinstance(task, str) and task.strip() else question.call.input
        await self._host.submit(child, text, agent=agent, by=question.agent, via="agent")

    async def _report(self, row: Waiting, child: str) -> None:
        said = (await self._host.session(child)).context[-1]
        text = said.get_text_content() or ""
        done = said.finished_reason is ReplyFinishedReason.COMPLETED
        if not done:
            why = said.error.message if said.error is not None else str(said.finished_reason or "it did not end")
            text = f"{text}\n{why}".strip()
        await self._answer(row, text or "It said nothing.", said.name, failed=not done)

    async def _answer(self, row: Waiting, text: str, by: str, *, failed: bool) -> None:
        digest = request_in(row).digest
        answer = Answer(request_id=row.request_id, digest=digest, decision="answer", output=text, failed=failed)
        try:
            await self._host.answer(answer, by=by, via="agent")
        except Refused:  # it was answered, or its reply was stopped, meanwhile: that stands
            return

    # -- what a person sees ----------------------------------------------------------------------------

    async def path(self, session_id: str, agent: str) -> list[str]:
        """Names of the agents from the outermost to `agent`, whose session it is."""
        names = [agent]
        while (request_id := parent_request(session_id)) is not None and len(names) <= _DEPTH:
            row = await self._host.store.find(request_id)
            if row is None:
                break
            names.insert(0, question_in(row).agent)
            session_id = row.session_id
        return names

    async def with_path(self, request: Request) -> Request:
        """The request, with the whole path it came by."""
        if parent_request(request.session_id) is None:
            return request
        return request.model_copy(update={"path": await self.path(request.session_id, request.path[-1])})

    async def below(self, session_id: str) -> list[str]:
        """The sessions of the agents that work for a session now, the nearest first."""
        found, todo = list[str](), [session_id]
        while todo and len(found) < 1000:
            for row in await self._host.store.waiting(session_id=todo.pop(0), kind="external", limit=1000):
                if row.tool in self._tools:
                    found.append(child_of(row.request_id))
                    todo.append(found[-1])
        return found

"""AG-UI 1.0 over the host: `POST /agui/{agent}`, a thread is a session, a pause ends the run with its interrupts.

Whatever a run does is the host's: if the client goes away the session goes on or waits, and another run shows it.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from ag_ui.core import (
    BaseEvent,
    MessagesSnapshotEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
)
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sayso.errors import SaysoError
from sayso.event import ReplyEndEvent, ToolCallStartEvent
from sayso.host import Host, Seen
from sayso.message import Msg, ReplyFinishedReason, UserMsg
from sayso.problem import Problem
from sayso.server.access import Person
from sayso.server.agui_events import Translation, interrupt_of, messages_of
from sayso.server.agui_input import answers_of, client_tools, new_messages
from sayso.server.api import Api, person_of, read_json

__all__ = ["agui_routes"]

VIA = "ag-ui"


def agui_routes(api: Api) -> list[Route]:
    """The endpoint, over the API's host."""

    async def run(request: Request) -> Response:
        person = person_of(request, "approver")
        agent = request.path_params["agent"]
        if agent not in api.host.agents:
            raise Problem(404, "UnknownAgent", f"there is no agent {agent[:100]!r}")
        value = await read_json(request)
        try:
            given = RunAgentInput.model_validate(value)
        except (ValidationError, TypeError) as exc:
            raise Problem(422, "InvalidBody", f"this is no RunAgentInput: {type(exc).__name__}") from None
        if not given.thread_id or len(given.thread_id) > 128 or not given.thread_id.isprintable():
            raise Problem(422, "InvalidBody", "threadId must be a printable name of at most 128 characters")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        source = _lines(_Run(api, given, agent, person).events())
        return StreamingResponse(source, media_type="text/event-stream", headers=headers)

    return [Route("/agui/{agent}", run, methods=["POST"])]


async def _lines(events: AsyncIterator[BaseEvent]) -> AsyncGenerator[str, None]:
    async for event in events:
        # Absent, never null: clients read null as a value.
        yield f"data: {json.dumps(event.model_dump(mode='json', by_alias=True, exclude_none=True))}\n\n"


class _Run:
    """One run: takes its input, shows what the session does, and ends when that waits or is done."""

    def __init__(self, api: Api, given: RunAgentInput, agent: str, person: Person) -> None:
        self._api = api
        self._host: Host = api.host
        self._given = given
        self._agent = agent
        self._person = person
        self._thread = given.thread_id
        self._ended: ReplyEndEvent | None = None

    async def events(self) -> AsyncGenerator[BaseEvent, None]:
        ids: dict[str, Any] = {"thread_id": self._thread, "run_id": self._given.run_id}
        yield RunStartedEvent(**ids)
        try:
            row = await self._host.store.session(self._thread)
            if row is not None and row.agent != self._agent:
                raise Problem(409, "OtherAgent", f"this thread is a session of agent {row.agent!r}")
            self._host.offer(self._thread, client_tools(self._given))
            length = row.length if row is not None else 0
            context = (await self._host.session(self._thread)).context if row is not None else []
            fresh = new_messages(self._given, _known(context))
            waiting = await self._host.pending(session_id=self._thread, limit=1000)
            answers = answers_of(self._given, waiting)
            yield MessagesSnapshotEvent(messages=messages_of([*context, *fresh]))
            for request, body in answers:
                await self._api.give(request.id, body, self._person, VIA)
            if fresh:
                await self._host.submit(self._thread, _joined(fresh), agent=self._agent, by=self._person.name, via=VIA)
            translation = Translation()
            if row is not None or fresh:
                async for event in self._followed(translation, length):
                    yield event
            for event in translation.end():
                yield event
            yield await self._outcome(ids)
        except Problem as exc:
            yield RunErrorEvent(message=exc.detail, code=exc.code)
        except SaysoError as exc:
            yield RunErrorEvent(message=str(exc), code=type(exc).__name__)

    async def _followed(self, translation: Translation, after: int) -> AsyncGenerator[BaseEvent, None]:
        async with aclosing(self._host.watch(self._thread, after=after)) as watching:
            async for seen in watching:
                self._noted(seen, translation)
                for event in translation.events(seen):
                    yield event
                if not seen.events:
                    row = await self._host.store.session(self._thread)
                    if row is None or (row.state != "working" and row.length == seen.seq):
                        return

    def _noted(self, seen: Seen, translation: Translation) -> None:
        for event in seen.events:
            if isinstance(event, ToolCallStartEvent):
                translation.names[event.tool_call_id] = event.tool_call_name
            elif isinstance(event, ReplyEndEvent) and seen.seq is not None:
                self._ended = event

    async def _outcome(self, ids: dict[str, Any]) -> BaseEvent:
        waiting = await self._host.pending(session_id=self._thread, limit=1000)
        own = {tool.name for tool in self._given.tools or []}
        theirs = [r.call_id for r in waiting if r.kind == "external" and r.tool in own]
        interrupts = [interrupt_of(r) for r in waiting if r.call_id not in theirs]
        if interrupts:
            return RunFinishedEvent(**ids, outcome=RunFinishedInterruptOutcome(interrupts=interrupts))
        if theirs:
            return RunFinishedEvent(**ids, outcome=RunFinishedSuccessOutcome(pending_tool_call_ids=theirs))
        if self._ended is not None and self._ended.finished_reason is ReplyFinishedReason.INTERRUPTED:
            return RunFinishedEvent(**ids, outcome=RunFinishedCancelledOutcome())
        if self._ended is not None and self._ended.error is not None:
            return RunErrorEvent(message=self._ended.error.message, code=self._ended.error.type)
        return RunFinishedEvent(**ids, outcome=RunFinishedSuccessOutcome())


def _known(context: list[Msg]) -> set[str]:
    """Ids under which a client may send back what the log has: those that a snapshot gave it."""
    return {message.id for message in messages_of(context)}


def _joined(messages: list[Msg]) -> Msg:
    """Several new messages are one input; it keeps the id of the last."""
    last = messages[-1]
    if len(messages) == 1:
        return last
    return UserMsg(id=last.id, name=last.name, content="\n".join(m.get_text_content() or "" for m in messages))

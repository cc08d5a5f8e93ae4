"""The HTTP API: every verb of the host, for programs and for the pages. Knows who asks from the guard alone."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from sayso.errors import InvalidAnswer, NotWaiting, StaleAnswer
from sayso.event import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from sayso.host import Host
from sayso.host.reply_to import as_event
from sayso.message import ToolResultBlock, ToolResultState
from sayso.problem import Problem
from sayso.request import Answer
from sayso.request import Request as Asked
from sayso.server import body as shape
from sayso.server.access import COOKIE, Access, Person, Role
from sayso.server.stream import Streams

__all__ = ["VIA", "Api", "person_of"]

VIA = "http"
_PAGE = 200  # the longest page of a list
_event: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent)
_Body = TypeVar("_Body", bound=BaseModel)


def person_of(request: Request, role: Role = "viewer") -> Person:
    """Who asks. Raises Problem where they may not do what `role` may do."""
    person: Person | None = getattr(request.state, "person", None)
    if person is None:
        raise Problem(401, "NotSignedIn", "send Authorization: Bearer TOKEN")
    if not person.may(role):
        raise Problem(403, "NotAllowed", f"{person.name} is a {person.role}; this needs an {role}")
    return person


async def read_json(request: Request) -> Any:
    """The body as JSON. Raises Problem where it is none."""
    try:
        return shape.parsed(await request.body())
    except ValueError as exc:
        raise Problem(400, "NotJson", "the body is no JSON that can be read and kept") from exc


async def read_body(request: Request, kind: type[_Body]) -> _Body:
    """The body as `kind`. Raises Problem, naming what does not fit."""
    value = await read_json(request)
    try:
        return kind.model_validate(value)
    except ValidationError as exc:
        raise Problem(422, "InvalidBody", _what(exc)) from None


def _what(exc: ValidationError) -> str:
    """The first things that are wrong, without the values: they may be secret."""
    errors = exc.errors(include_input=False, include_url=False, include_context=False)[:3]
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the body'}: {e['msg']}" for e in errors)[:500]


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise Problem(422, "InvalidQuery", f"{name} must be a number")
    return min(int(text), most)


def _filters(request: Request, *names: str) -> dict[str, str]:
    return {name: request.query_params[name] for name in names if request.query_params.get(name)}


@dataclass
class Api:
    """The routes over one host."""

    host: Host
    access: Access
    streams: Streams
    secure_cookie: bool = False

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/login", self.login, methods=["POST"]),
            Route("/healthz", self.health),
            Route("/me", self.me),
            Route("/sessions", self.list_sessions),
            Route("/sessions", self.begin, methods=["POST"]),
            Route("/sessions/{session_id}", self.session),
            Route("/sessions/{session_id}/messages", self.message, methods=["POST"]),
            Route("/sessions/{session_id}/events", self.watch),
            Route("/sessions/{session_id}/events", self.event, methods=["POST"]),
            Route("/sessions/{session_id}/interrupt", self.interrupt, methods=["POST"]),
            Route("/sessions/{session_id}/mode", self.mode, methods=["POST"]),
            Route("/sessions/{session_id}/log", self.log),
            Route("/events", self.watch_all),
            Route("/requests", self.list_requests),
            Route("/requests/{request_id}", self.request),
            Route("/requests/{request_id}/answer", self.answer, methods=["POST"]),
            Route("/history", self.history),
            Route("/openapi.json", self.openapi),
        ]

    # -- who -------------------------------------------------------------------------------------------

    async def login(self, request: Request) -> Response:
        """A browser gives its token once, and gets a cookie."""
        value = await read_json(request)
        token = value.get("token") if isinstance(value, dict) else None
        cookie = self.access.cookie_for(token) if isinstance(token, str) else None
        if cookie is None:
            raise Problem(401, "NotSignedIn", "that token is not known here")
        response = JSONResponse({"ok": True})
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=self.secure_cookie, path="/")
        return response

    async def health(self, request: Request) -> Response:
        """Whether the server is up and its store can be read."""
        await self.host.store.sessions(limit=1)
        return JSONResponse({"ok": True})

    async def me(self, request: Request) -> Response:
        """Who asks."""
        person = person_of(request)
        return JSONResponse({"name": person.name, "role": person.role, "agents": self.host.agents})

    # -- sessions --------------------------------------------------------------------------------------

    async def list_sessions(self, request: Request) -> Response:
        """A page of sessions."""
        person_of(request)
        rows = await self.host.store.sessions(
            **_filters(request, "state", "after"), limit=_number(request, "limit", 50, _PAGE)
        )
        return _json(shape.Sessions(sessions=[_info(row) for row in rows]))

    async def begin(self, request: Request) -> Response:
        """Begin a session with a message."""
        person = person_of(request, "approver")
        given = await read_body(request, shape.Begin)
        if given.agent is not None and given.agent not in self.host.agents:
            raise Problem(422, "UnknownAgent", f"there is no such agent; there are: {', '.join(self.host.agents)}")
        if given.agent is None and len(self.host.agents) > 1:
            raise Problem(422, "UnknownAgent", f"say which agent: {', '.join(self.host.agents)}")
        session_id = await self.host.submit(None, given.message, agent=given.agent, by=person.name, via=VIA)
        return _json(shape.Ref(session_id=session_id), 201)

    async def session(self, request: Request) -> Response:
        """One session: its row, its messages, its mode and rules."""
        person_of(request)
        state = await self.host.session(request.path_params["session_id"])
        row = await self.host.store.session(state.session_id)
        value = state.model_dump(mode="json", exclude={"live"})
        return JSONResponse({**value, "row": _info(row).model_dump() if row is not None else None})

    async def message(self, request: Request) -> Response:
        """Give a session a message."""
        person = person_of(request, "approver")
        given = await read_body(request, shape.Message)
        session_id = await self._known(request)
        await self.host.submit(session_id, given.message, by=person.name, via=VIA)
        return _json(shape.Ref(session_id=session_id), 202)

    async def interrupt(self, request: Request) -> Response:
        """Stop the reply under way."""
        person = person_of(request, "approver")
        await self.host.interrupt(await self._known(request), by=person.name, via=VIA)
        return _json(shape.Ref(session_id=request.path_params["session_id"]))

    async def mode(self, request: Request) -> Response:
        """Change the permission mode of a session."""
        person = person_of(request, "admin")
        given = await read_body(request, shape.ModeBody)
        await self.host.set_mode(await self._known(request), given.mode, by=person.name)
        return _json(shape.Ref(session_id=request.path_params["session_id"]))

    async def log(self, request: Request) -> Response:
        """The entries of a log, from `after` on."""
        person_of(request)
        session_id = await self._known(request)
        after = _number(request, "after", 0, 1 << 40)
        entries = await self.host.store.read(session_id, after=after, limit=_number(request, "limit", 1000, 10_000))
        values = [{"seq": e.seq, "at": e.at, "hash": e.hash.hex(), "fact": json.loads(e.fact)} for e in entries]
        return _json(shape.LogPage(entries=values))

    async def _known(self, request: Request) -> str:
        session_id = str(request.path_params["session_id"])
        if await self.host.store.session(session_id) is None:
            raise Problem(404, "UnknownCall", "there is no such session")
        return session_id

    # -- streams ---------------------------------------------------------------------------------------

    async def watch(self, request: Request) -> Response:
        """The events of a session, as server-sent events."""
        person_of(request)
        after = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
        if not after.isascii() or not after.isdecimal() or len(after) > 12:
            raise Problem(422, "InvalidQuery", "after must be the id of an event of this stream")
        return _stream(request, self.streams.session(await self._known(request), int(after)))

    async def watch_all(self, request: Request) -> Response:
        """What changes in all sessions, as server-sent events."""
        person_of(request)
        return _stream(request, self.streams.everything())

    # -- requests --------------------------------------------------------------------------------------

    async def list_requests(self, request: Request) -> Response:
        """A page of what waits."""
        person_of(request)
        requests = await self.host.pending(
            **_filters(request, "session_id", "kind", "tool", "after"),
            limit=_number(request, "limit", 50, 1000),
            newest_first=request.query_params.get("order") == "newest",
        )
        return _json(shape.Page(requests=requests))

    async def request(self, request: Request) -> Response:
        """One request, with the schema of its answer."""
        person_of(request)
        return _json(await self.host.request(request.path_params["request_id"]))

    async def answer(self, request: Request) -> Response:
        """Answer a request."""
        person = person_of(request, "approver")
        given = await read_body(request, shape.AnswerBody)
        await self.give(request.path_params["request_id"], given, person, VIA)
        return JSONResponse({"ok": True, "by": person.name})

    async def give(self, request_id: str, given: shape.AnswerBody, person: Person, via: str) -> None:
        """Give an answer to the host, whoever brought it. Raises what the host does."""
        if given.edited_input is not None:
            try:
                shape.parsed(given.edited_input)
            except ValueError as exc:
                raise InvalidAnswer("the edited input is no JSON that can be read and kept") from exc
        answer = Answer(request_id=request_id, **given.model_dump())
        await asyncio.shield(self.host.answer(answer, by=person.name, via=via))

    async def history(self, request: Request) -> Response:
        """A page of requests that wait no more."""
        person_of(request)
        decided = await self.host.history(
            **_filters(request, "session_id", "tool", "how", "by", "since", "after"),
            limit=_number(request, "limit", 50, _PAGE),
        )
        return _json(shape.History(decided=decided))

    # -- the seed's result events ----------------------------------------------------------------------

    async def event(self, request: Request) -> Response:
        """A result event of the published language; each of its results is an answer to a request."""
        person = person_of(request, "approver")
        session_id = await self._known(request)
        value = await read_json(request)
        try:
            event = _event.validate_python(value)
        except ValidationError as exc:
            raise Problem(422, "InvalidBody", _what(exc)) from None
        match event:
            case UserInterruptEvent():
                if (await self.host.session(session_id)).reply_id != event.reply_id:
                    raise StaleAnswer("that reply is not under way; what is, was not stopped")
                await self.host.interrupt(session_id, by=person.name, via=VIA)
            case (
                UserConfirmResultEvent(confirm_results=[_, *_])
                | ExternalExecutionResultEvent(execution_results=[_, *_])
            ):
                await self._give_all(session_id, event, person)
            case _:
                raise Problem(422, "InvalidBody", "this event answers nothing: send a result event or an interrupt")
        return _json(shape.Ref(session_id=session_id), 202)

    async def _give_all(
        self, session_id: str, event: UserConfirmResultEvent | ExternalExecutionResultEvent, person: Person
    ) -> None:
        """Each result as an answer; all of them are looked at before the first is given."""
        found: list[tuple[Asked, shape.AnswerBody]] = []
        if isinstance(event, UserConfirmResultEvent):
            for result in event.confirm_results:
                waiting = await self._of_call(session_id, event.reply_id, result.tool_call.id)
                found.append((waiting, _confirmation(waiting, result)))
        else:
            for block in event.execution_results:
                waiting = await self._of_call(session_id, event.reply_id, block.id)
                found.append((waiting, _result(waiting, block)))
        if len({waiting.id for waiting, _ in found}) < len(found):
            raise InvalidAnswer("one call has two results; nothing was taken")
        for waiting, body in found:
            as_event(waiting, Answer(request_id=waiting.id, **body.model_dump()))
        for waiting, body in found:
            await self.give(waiting.id, body, person, VIA)

    async def _of_call(self, session_id: str, reply_id: str, call_id: str) -> Asked:
        for waiting in await self.host.pending(session_id=session_id, limit=1000):
            if waiting.call_id == call_id and waiting.reply_id == reply_id:
                return waiting
        raise NotWaiting("nothing waits for that call of that reply")

    async def openapi(self, request: Request) -> Response:
        """What this API is, for machines."""
        from sayso.server.openapi import document

        return JSONResponse(document())


def _body(**fields: Any) -> shape.AnswerBody:
    try:
        return shape.AnswerBody(**fields)
    except ValidationError as exc:
        raise Problem(422, "InvalidBody", _what(exc)) from None


def _confirmation(waiting: Asked, result: ConfirmResult) -> shape.AnswerBody:
    """A confirmation as an answer. Raises InvalidAnswer for a yes that does not say what it saw."""
    block, digest = result.tool_call, result.tool_call.metadata.get("digest")
    if block.name != waiting.tool:
        raise InvalidAnswer(f"call {block.id!r} is one of {waiting.tool!r}, not of {block.name!r}")
    if not result.confirmed:
        return _body(digest=str(digest or waiting.digest), decision="reject", reason=result.reason)
    if not isinstance(digest, str) or not digest:
        raise InvalidAnswer("a yes names what it saw: send the call back with the metadata.digest that it came with")
    ids = []
    for rule in result.rules or ():
        found = next((o.id for o in waiting.suggested_rules if _same_rule(o.rule, rule)), None)
        if found is None:
            raise InvalidAnswer("a client accepts rules that were offered; it cannot bring its own")
        ids.append(found)
    edited = block.input if block.input != waiting.input else None
    return _body(digest=digest, decision="approve", edited_input=edited, rule_ids=ids, reason=result.reason)


def _result(waiting: Asked, block: ToolResultBlock) -> shape.AnswerBody:
    """A result from outside as an answer; the answers of a question are in its metadata."""
    if block.state is ToolResultState.DENIED:
        return _body(digest=waiting.digest, decision="reject", reason=block.text() or None)
    if block.state not in (ToolResultState.SUCCESS, ToolResultState.ERROR):
        raise InvalidAnswer(f"a result in state {block.state.value!r} is none: send success, error or denied")
    if waiting.kind == "ask" and block.state is not ToolResultState.ERROR:
        return _body(digest=waiting.digest, decision="answer", answers=block.metadata.get("answers"))
    return _body(
        digest=waiting.digest,
        decision="answer",
        output=block.text(),
        metadata=block.metadata,
        failed=block.state is ToolResultState.ERROR,
    )


def _same_rule(one: Any, other: Any) -> bool:
    return (one.tool_name, one.rule_content, one.behavior) == (other.tool_name, other.rule_content, other.behavior)


def _info(row: Any) -> shape.SessionInfo:
    return shape.SessionInfo(**{name: getattr(row, name) for name in shape.SessionInfo.model_fields})


def _json(value: BaseModel, status: int = 200) -> Response:
    return Response(value.model_dump_json(), status, media_type="application/json")


def _stream(request: Request, source: AsyncGenerator[bytes, None]) -> Response:
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    if request.method == "HEAD":  # a stream has no end that one could wait for
        return Response(media_type="text/event-stream", headers=headers)
    return StreamingResponse(source, media_type="text/event-stream", headers=headers)

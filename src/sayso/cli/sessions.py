"""`sayso inbox`, `answer`, `sessions`, `log`: what waits, what was said, from any process over the store.

Owns how these read; the rules of answering are the host's. Never prompts.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from sayso.cli import Exit
from sayso.cli.app import queue_of
from sayso.cli.choice import NAME, NoModel, builder
from sayso.cli.driver import whoami
from sayso.cli.form import questions_of
from sayso.cli.home import named_store, place_of
from sayso.cli.sentence import questions, sentence, ways
from sayso.errors import BrokenLog, Refused, SaysoError, UnknownCall
from sayso.host import Host, Nobody, about
from sayso.host.row import request_in
from sayso.reply.codec import decode
from sayso.request import Answer, Request
from sayso.store import open_store
from sayso.store.base import Store
from sayso.visible import visible

__all__ = ["run"]

_LINES = 40  # of a preview


def run(options: argparse.Namespace) -> int:
    """Carry out one of the commands; gives the exit code."""
    do = {"inbox": _inbox, "answer": _answer, "sessions": _sessions, "log": _log}[options.command]
    try:
        return asyncio.run(_with_store(options, do))
    except NoModel as exc:
        print(visible(f"sayso: this session's model is not known here. {exc}"), file=sys.stderr)
        return Exit.USAGE
    except ValueError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.USAGE
    except SaysoError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.ERROR


async def _with_store(options: argparse.Namespace, do: Callable[[Store, argparse.Namespace], Awaitable[int]]) -> int:
    if getattr(options, "server", None):
        return await (_inbox_afar if options.command == "inbox" else _answer_afar)(options)
    store = open_store(named_store(options.store))
    try:
        return await do(store, options)
    finally:
        await store.close()


def _say(text: str = "") -> None:
    print(visible(text))


# -- what waits --------------------------------------------------------------------------------------


async def _inbox_afar(options: argparse.Namespace) -> int:
    from sayso.cli.chat import token_of
    from sayso.client import Client

    filters = {"session_id": options.session, "kind": options.kind, "tool": options.tool, "limit": options.limit}
    async with Client(options.server, token_of(options.server)) as client:
        return _listed(await client.pending(**{k: v for k, v in filters.items() if v is not None}), options)


async def _inbox(store: Store, options: argparse.Namespace) -> int:
    host = Host(store, {"none": _no_agent})
    requests = await host.pending(session_id=options.session, kind=options.kind, tool=options.tool, limit=options.limit)
    return _listed(requests, options)


def _listed(requests: list[Request], options: argparse.Namespace) -> int:
    if options.json:
        for request in requests:
            print(request.model_dump_json())
        return Exit.DONE
    for request in requests:
        _show(request)
    if not requests:
        _say("Nothing waits.")
        return Exit.DONE
    _say(f"Answer with: {ways(requests[0], place_of(options))[0]}   (sayso answer --help)")
    return Exit.DONE


def _no_agent(store: Store, session_id: str) -> Any:
    raise RuntimeError("listing requests needs no agent")


def _flat(text: str) -> str:
    """On one line: text of a model must not look like a line of this program."""
    return " ⏎ ".join(text.splitlines())


def _show(request: Request) -> None:
    doubt = "  IT MAY HAVE RUN ALREADY" if request.in_doubt else ""
    _say(f"{request.id}  {request.kind}  {_flat(request.tool)}  since {request.created_at}{doubt}")
    _say(f"    session {request.session_id} of {_flat(' > '.join(request.path))}")
    if request.why:
        _say(f"    why: {_flat(request.why)}")
    for line in _what(request):
        _say(f"    | {line}")
    if request.preview and request.preview.cwd:
        _say(f"    in {_flat(request.preview.cwd)}")
    for n, offer in enumerate(request.suggested_rules, 1):
        _say(f"    rule {n}: {_flat(offer.matches)}")
    if request.expires_at:
        _say(f"    expires {request.expires_at}")
    _say()


def _what(request: Request) -> list[str]:
    """What would happen, as lines; long ones end where a screen does."""
    if request.kind == "ask":
        return [_flat(text) for text in questions(request)]
    lines = (request.preview.text if request.preview else request.input).splitlines()
    if len(lines) <= _LINES:
        return lines
    return [*lines[:_LINES], f"… {len(lines) - _LINES} more lines: sayso inbox --json"]


# -- answering ---------------------------------------------------------------------------------------


async def _answer(store: Store, options: argparse.Namespace) -> int:
    listing = Host(store, {"none": _no_agent})
    row = await listing.waiting(options.id)
    request = request_in(row)
    answer = _as_answer(request, options)
    build = builder(await about(store, row.session_id), os.environ, model=options.model)
    host = Host(store, {NAME: build}, dispatch=None if options.drive else Nobody())
    async with queue_of(host, options.drive):
        await host.answer(answer, by=whoami(), via="cli")
    _say(_answered(request, answer))
    if not options.drive:
        return Exit.DONE
    await host.settled()
    state = await host.session(row.session_id)
    said = state.context[-1]
    if said.get_text_content():
        _say(said.get_text_content())
    waiting = await _pending(store, row.session_id)
    for other in waiting:
        _show(other)
    await host.close()
    if said.error is not None:
        print(visible(f"sayso: {said.error.message}"), file=sys.stderr)
        return Exit.ERROR
    return Exit.WAITING if waiting else Exit.DONE


async def _answer_afar(options: argparse.Namespace) -> int:
    from sayso.cli.chat import token_of
    from sayso.client import Client

    async with Client(options.server, token_of(options.server)) as client:
        request = await client.request(options.id)
        answer = _as_answer(request, options)
        await client.answer(answer)
    _say(_answered(request, answer))
    return Exit.DONE


def _answered(request: Request, answer: Answer) -> str:
    """Whom and what the answer was for: what runs is the edited arguments, where there are some."""
    words = {"approve": "allowed", "reject": "refused", "answer": "answered", "dismiss": "dismissed"}
    given = answer.edited_input if answer.edited_input is not None else request.input
    edited = " with your arguments" if answer.edited_input is not None else ""
    whom = f"asked by {' > '.join(request.path)} in session {request.session_id}"
    return _flat(f"{words[answer.decision]}{edited}: {request.tool} {given}  ({whom})")


async def _pending(store: Store, session_id: str) -> list[Request]:
    return await Host(store, {"none": _no_agent}).pending(session_id=session_id, limit=100)


def _as_answer(request: Request, options: argparse.Namespace) -> Answer:
    """The options as an answer. Raises ValueError where they do not fit the request."""
    rule_ids = []
    if options.rule is not None:
        if not 1 <= options.rule <= len(request.suggested_rules):
            raise ValueError(f"--rule {options.rule}: the request offers {len(request.suggested_rules)} rules")
        rule_ids = [request.suggested_rules[options.rule - 1].id]
    decision = "reject" if options.no else "dismiss" if options.dismiss else "approve"
    answers = None
    if options.answers is not None:
        answers = _answers(request, options.answers)
    if answers is not None or options.output is not None:
        decision = "answer"
    return Answer(
        request_id=request.id,
        digest=options.digest or request.digest,
        decision=decision,  # type: ignore[arg-type]
        edited_input=options.edit,
        rule_ids=rule_ids,
        reason=options.reason,
        answers=answers,
        output=options.output,
    )


def _answers(request: Request, text: str) -> list[dict[str, Any]]:
    """Answers as JSON; or, to a single question, the label of an option or one's own words."""
    try:
        answers = json.loads(text)
    except ValueError:
        answers = text
    if isinstance(answers, list):
        return answers
    asked = questions_of(json.loads(request.input)) if request.kind == "ask" else []
    if len(asked) != 1:
        raise ValueError('--answers is a JSON list: [{"question": ..., "selected": [...]}, ...]')
    if text in [choice.label for choice in asked[0].choices]:
        return [{"question": asked[0].text, "selected": [text]}]
    return [{"question": asked[0].text, "selected": [], "other": text}]


# -- what was said -----------------------------------------------------------------------------------


async def _sessions(store: Store, options: argparse.Namespace) -> int:
    rows = await store.sessions(state=options.state, limit=options.limit)
    for row in rows:
        if options.json:
            print(json.dumps({name: getattr(row, name) for name in row.__slots__}))
        else:
            _say(f"{row.session_id}  {row.state:8} {row.updated_at}  {_flat(f'{row.agent}: {row.title}')}")
    if not rows and not options.json:
        _say("There are no sessions.")
    return Exit.DONE


async def _log(store: Store, options: argparse.Namespace) -> int:
    if options.id == "verify":
        return await _verify(store, options)
    entries = await store.read(options.id)
    if not entries:
        raise UnknownCall(f"there is no session {options.id!r}; list them with: sayso sessions")
    for entry in entries:
        if options.json:
            fact = json.loads(entry.fact)
            print(json.dumps({"seq": entry.seq, "at": entry.at, "hash": entry.hash.hex(), "fact": fact}))
        else:
            _say(f"{entry.seq:5}  {entry.at}  {sentence(decode(entry.fact))}")
    return Exit.DONE


async def _verify(store: Store, options: argparse.Namespace) -> int:
    """Check the hash chain of one session, or of all."""
    if options.session and await store.session(options.session) is None:
        raise UnknownCall(f"there is no session {options.session!r}; list them with: sayso sessions")
    ids = [options.session] if options.session else [s async for s in _all(store)]
    bad = 0
    for session_id in ids:
        wrong = await _wrong(store, session_id)
        bad += wrong is not None
        if options.json:
            print(json.dumps({"session_id": session_id, "wrong": wrong}))
        elif wrong is not None:
            _say(f"{session_id}: {wrong}")
    if not options.json:
        _say(f"{len(ids)} session{'s' * (len(ids) != 1)} checked, {bad} broken")
    return Exit.ERROR if bad else Exit.DONE


async def _wrong(store: Store, session_id: str) -> str | None:
    """What is wrong with a session's log, naming the first broken entry; None where it is as it was written."""
    from sayso.store.chain import verify

    try:
        entries = await store.read(session_id)
        broken = verify(entries)
        if broken is not None:
            return f"entry {broken} was changed, removed or inserted"
        for entry in entries:
            decode(entry.fact)
    except (BrokenLog, Refused) as exc:
        return str(exc)
    return None


async def _all(store: Store) -> Any:
    after: str | None = None
    while rows := await store.sessions(after=after, limit=500):
        for row in rows:
            yield row.session_id
        after = rows[-1].session_id

"""`sayso chat`: sets up one conversation and hands it to a person, or, without a terminal, to nobody.

Owns the choice between the two and what is said when it cannot start. The conversation itself is `conversation`.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from rich.console import Console

from sayso.cli import Exit
from sayso.cli.choice import NAME, NoModel, chat_agent, chosen_model, connected, policy_for, toolkit_for
from sayso.cli.driver import Driver
from sayso.cli.home import default_store, place_of, state_home
from sayso.cli.party import Here, Party
from sayso.cli.screen import Screen
from sayso.errors import SaysoError, UnknownCall
from sayso.host import about
from sayso.model.base import ChatModel
from sayso.permission.context import PermissionContext
from sayso.store import open_store
from sayso.store.base import Store
from sayso.tool.toolkit import Toolkit
from sayso.visible import visible

__all__ = ["chat", "complain", "token_of"]

_LOOKED_AT = 200  # sessions that are looked through for the last one of a folder


def complain(text: str) -> None:
    """Say on stderr what keeps the program from going on."""
    print(visible(text), file=sys.stderr)


def chat(options: argparse.Namespace) -> int:
    """Run `sayso chat`; gives the exit code."""
    try:
        return asyncio.run(_chat(options))
    except asyncio.CancelledError:  # SIGTERM: see `_chat`
        return Exit.INTERRUPTED
    except NoModel as exc:
        complain(str(exc))
        return Exit.USAGE
    except ValueError as exc:
        complain(f"sayso: {exc}")
        return Exit.USAGE
    except SaysoError as exc:
        complain(f"sayso: {exc}")
        return Exit.ERROR


async def _chat(options: argparse.Namespace) -> int:
    task = asyncio.current_task()
    if task is not None:
        # What is on its way is written and the terminal is put back, as for any other end.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if options.server:
        return await _talk_afar(options)
    store = open_store(options.store or default_store())
    try:
        return await _talk(options, store)
    finally:
        await store.close()


async def _talk(options: argparse.Namespace, store: Store) -> int:
    session_id, notes = await _resumed(store, options.resume, _folder(options.cwd or "."))
    cwd = _folder(options.cwd or notes.get("cwd") or ".")
    os.chdir(cwd)  # the tools' folder is the process's, so that both mean the same by a relative path
    spec = chosen_model(options.model or notes.get("model"), os.environ)
    model, toolkit = connected(spec), toolkit_for(cwd)
    agent = chat_agent(model, cwd, spec=spec, store=store, session_id=session_id, mode=options.mode, toolkit=toolkit)
    await agent.load()
    if session_id is not None and options.mode:
        await agent.set_mode(options.mode)
    opening = asyncio.create_task(_open(model))
    try:
        return await _conversed(options, Here(agent, store), toolkit, spec, cwd, new=session_id is None)
    finally:
        opening.cancel()
        await asyncio.wait([opening])


async def _talk_afar(options: argparse.Namespace) -> int:
    """A conversation with an agent of a server; its folder, its model and its rules are there."""
    from sayso.cli.remote import RemoteAgent
    from sayso.client import Client

    if options.resume == "":
        raise ValueError("--resume needs the session's id with --server (sayso inbox --server URL, or its page)")
    async with Client(options.server, token_of(options.server)) as client:
        agent = RemoteAgent(client, options.resume or "")
        await agent.load()
        spec = f"{options.server}"
        return await _conversed(options, agent, Toolkit(), spec, Path("/"), new=not options.resume)


async def _conversed(
    options: argparse.Namespace, party: Party, toolkit: Toolkit, spec: str, cwd: Path, *, new: bool
) -> int:
    words = Console(highlight=False)
    side = words if words.is_terminal else Console(stderr=True, highlight=False)
    driver = Driver(party, Screen(words, side))

    def resume() -> list[str]:
        return _resume(options, party.session_id)

    if sys.stdin.isatty() and sys.stdout.isatty():
        from sayso.cli.conversation import Conversation

        policy = PermissionContext if options.server else policy_for(cwd)
        talk = Conversation(driver, toolkit, model=spec, cwd=cwd, resume=resume, policy=policy, place=place_of(options))
        return await talk.run(_words(options.message))
    message = _words(options.message) if options.message else _piped()
    if not message and new:
        raise ValueError('there is no terminal and no message: sayso chat "MESSAGE", or pipe one in')
    from sayso.cli.unattended import one_turn

    return await one_turn(driver, message, resume, place_of(options))


def token_of(server: str) -> str:
    """The token for a server: SAYSO_TOKEN, else that of this person's own server. Raises ValueError."""
    token = os.environ.get("SAYSO_TOKEN")
    if token:
        return token
    path = state_home() / "token"
    if path.exists():
        return path.read_text("utf-8").strip()
    raise ValueError(f"{server}: set SAYSO_TOKEN to the token that the server knows you by")


async def _open(model: ChatModel) -> None:
    """Load the provider's library while the person types: it takes a second or two."""
    if (opened := getattr(model, "open", None)) is not None:
        await opened()


def _folder(path: str) -> Path:
    cwd = Path(path).resolve()
    if not cwd.is_dir():
        raise ValueError(f"--cwd {path}: there is no such folder")
    return cwd


async def _resumed(store: Store, wanted: str | None, cwd: Path) -> tuple[str | None, dict[str, str]]:
    """The session to go on with and its notes. wanted: its id; "" is the last one of the folder, None a new one."""
    if wanted is None:
        return None, {}
    if wanted:
        if await store.session(wanted) is None:
            raise UnknownCall(f"there is no session {wanted!r}; list them with: sayso sessions")
        return wanted, await about(store, wanted)
    for row in await store.sessions(limit=_LOOKED_AT):
        notes = await about(store, row.session_id) if row.agent == NAME else {}
        if notes.get("cwd") == str(cwd):
            return row.session_id, notes
    raise UnknownCall(f"there is no conversation in {cwd} to go on with; sayso sessions lists those elsewhere")


def _words(message: str | None) -> str:
    return _piped() if message == "-" else (message or "")


def _piped() -> str:
    """What is piped in; nothing where nothing is."""
    return "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read().strip()


def _resume(options: argparse.Namespace, session_id: str) -> list[str]:
    """The command that goes on with this conversation."""
    return ["sayso", "chat", *place_of(options), "--resume", session_id]

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
from sayso.cli.choice import NoModel, chat_agent, chosen_model, connected, policy_for, toolkit_for
from sayso.cli.driver import Driver
from sayso.cli.saved import StateFile
from sayso.cli.screen import Screen
from sayso.errors import SaysoError
from sayso.visible import visible

__all__ = ["chat", "complain"]


def complain(text: str) -> None:
    """Say on stderr what keeps the program from going on."""
    print(visible(text), file=sys.stderr)


def chat(options: argparse.Namespace) -> int:
    """Run `sayso chat`; gives the exit code."""
    try:
        return asyncio.run(_chat(options))
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
    cwd = Path(options.cwd).resolve()
    if not cwd.is_dir():
        raise ValueError(f"--cwd {options.cwd}: there is no such folder")
    task = asyncio.current_task()
    if task is not None:
        # What is on its way is written and the terminal is put back, as for any other end.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    spec = chosen_model(options.model, os.environ)
    saved = StateFile(Path(options.state)) if options.state else None
    state = saved.read() if saved else None
    toolkit = toolkit_for(cwd)
    policy = policy_for(cwd)
    agent = chat_agent(connected(spec), toolkit, cwd, policy=policy, mode=options.mode, state=state)
    await agent.load()
    attended = sys.stdin.isatty() and sys.stdout.isatty()
    words = Console(highlight=False)
    side = words if words.is_terminal else Console(stderr=True, highlight=False)
    driver = Driver(agent, Screen(words, side), saved)
    if attended:
        from sayso.cli.conversation import Conversation

        talk = Conversation(driver, toolkit, model=spec, cwd=cwd, resume=_resume(options), policy=policy)
        return await talk.run(_words(options.message))
    message = _words(options.message) if options.message else _piped()
    if not message and not agent.requests():
        raise ValueError('there is no terminal and no message: sayso chat "MESSAGE", or pipe one in')
    from sayso.cli.unattended import one_turn

    return await one_turn(driver, message, _resume(options))


def _words(message: str | None) -> str:
    return _piped() if message == "-" else (message or "")


def _piped() -> str:
    """What is piped in; nothing where nothing is."""
    return "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read().strip()


def _resume(options: argparse.Namespace) -> list[str]:
    """The command that goes on with this conversation, up to its `--state FILE`."""
    command = ["sayso", "chat"]
    if options.model:
        command += ["-m", options.model]
    if options.cwd != ".":
        command += ["--cwd", str(Path(options.cwd).resolve())]
    return command

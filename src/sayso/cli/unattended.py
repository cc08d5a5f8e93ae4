"""A turn where nobody can be asked: what waits is printed and kept, never prompted for.

Owns what a script reads from `sayso chat` without a terminal: words and requests on stdout, the rest on stderr.
"""

import sys
from collections.abc import Callable, Sequence

from rich.text import Text

from sayso.agent.agent import Inputs
from sayso.cli import Exit
from sayso.cli.card import card
from sayso.cli.driver import Driver
from sayso.cli.screen import Screen
from sayso.cli.sentence import ways
from sayso.errors import Parked
from sayso.event import ReplyEndEvent
from sayso.message import ReplyFinishedReason
from sayso.request import Request
from sayso.visible import visible

__all__ = ["exit_of", "one_turn", "show_waiting"]

_EXITS = {
    ReplyFinishedReason.COMPLETED: Exit.DONE,
    ReplyFinishedReason.INTERRUPTED: Exit.INTERRUPTED,
    ReplyFinishedReason.EXCEED_MAX_ITERS: Exit.ERROR,
    ReplyFinishedReason.ERROR: Exit.ERROR,
}


async def one_turn(driver: Driver, message: str, resume: Callable[[], Sequence[str]], place: Sequence[str]) -> Exit:
    """Take `message`, or go on without one where it is empty; print what waits.

    resume: gives the command by which a person goes on with this conversation. place: as `ways` takes it.
    """
    with driver.interruptible():
        inputs: Inputs = message or None
        try:
            await driver.drive(inputs)
        except Parked:
            driver.screen.fault("The message was not taken: answers are owed first.")
    waiting = driver.agent.requests()
    if waiting:
        show_waiting(driver.screen, waiting, resume(), place)
        return Exit.WAITING
    return exit_of(driver.ended)


def exit_of(ended: ReplyEndEvent | None) -> Exit:
    """The exit code for how the last reply ended; nothing to do is done."""
    return _EXITS[ended.finished_reason] if ended is not None else Exit.DONE


def show_waiting(screen: Screen, waiting: Sequence[Request], command: Sequence[str], place: Sequence[str] = ()) -> None:
    """Print each request with its id, and how to answer."""
    import shlex

    screen.calm()
    sys.stdout.flush()
    out = screen.words
    for request in waiting:
        out.print()
        out.print(card(request, out.width).body, highlight=False)
        out.print(Text(f"request {visible(request.id)}"), highlight=False, soft_wrap=True)
    count = "1 request waits" if len(waiting) == 1 else f"{len(waiting)} requests wait"
    out.print()
    out.print(Text(f"{count} for a person. Nothing of it has run. To answer:"), soft_wrap=True)
    for way in (*ways(waiting[0], place)[:2], shlex.join(command)):
        out.print(Text(f"  {visible(way)}", style="bold"), highlight=False, soft_wrap=True)

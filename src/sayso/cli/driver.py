"""An agent in hand: drives it with one input after the other and shows what happens.

Owns interrupting. Puts no question: who answers is the caller's.
"""

import asyncio
import contextlib
import getpass
import signal
from collections.abc import Iterator

from sayso.agent.agent import Inputs
from sayso.cli.party import Party
from sayso.cli.screen import Screen
from sayso.errors import Refused
from sayso.event import ReplyEndEvent, UserInterruptEvent
from sayso.message import ToolCallBlock

__all__ = ["Driver", "whoami"]


def whoami() -> str:
    """The person at this terminal, as the system knows them; "" where it does not."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


class Driver:
    """Feeds `agent` and shows its replies on `screen`.

    ended: how the last reply ended, None while it is parked.
    """

    def __init__(self, agent: Party, screen: Screen) -> None:
        self.agent = agent
        self.screen = screen
        self.ended: ReplyEndEvent | None = None
        self.by = whoami()
        self._driving: asyncio.Task[None] | None = None
        self._interrupting: asyncio.Task[None] | None = None

    async def drive(self, inputs: Inputs) -> None:
        """Take one input and go on until the reply ends or parks. Raises as `Agent.reply_stream` does."""
        self.ended = None
        self.screen.recall(self._calls())
        self._driving = asyncio.create_task(self._drive(inputs))
        try:
            (failure,) = await asyncio.gather(self._driving, return_exceptions=True)
        finally:
            self._driving = self._interrupting = None
            self.screen.calm()
        if isinstance(failure, BaseException) and not isinstance(failure, asyncio.CancelledError):
            raise failure

    async def _drive(self, inputs: Inputs) -> None:
        async for event in self.agent.reply_stream(inputs, by=self.by, via="terminal"):
            if isinstance(event, ReplyEndEvent):
                self.ended = event
            self.screen.event(event)

    async def follow(self) -> None:
        """Show what somebody else does with the session, until it waits or is done."""
        for call in self._calls():  # as they are now: whoever answered may have edited one
            self.screen.know(call.id, call.name, call.input)
        self.screen.busy("elsewhere")
        try:
            async for event in self.agent.follow():
                self.screen.event(event)
        finally:
            self.screen.calm()

    def _calls(self) -> list[ToolCallBlock]:
        """The calls of the reply under way."""
        context = self.agent.state.context
        return context[-1].get_content_blocks(ToolCallBlock) if context else []

    # -- interrupting --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """While inside, Ctrl-C stops the reply under way and nothing else."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self.interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def interrupt(self) -> None:
        """Stop the reply under way; asked again while it is stopping, stop waiting for it."""
        if self._driving is None:
            return
        if self._interrupting is None:
            self.screen.busy("stopping")
            self._interrupting = asyncio.create_task(self._interrupt())
        else:
            self._driving.cancel()

    async def _interrupt(self) -> None:
        reply_id = self.agent.state.reply_id or ""
        try:
            async for _ in self.agent.reply_stream(UserInterruptEvent(reply_id=reply_id), by=self.by, via="terminal"):
                pass
        except Refused as exc:
            self.screen.fault(str(exc))

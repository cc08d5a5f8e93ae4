"""A person and an agent in a terminal: the prompt, its commands, the pauses.

Owns the order of things: what waits is put to the person before anything else is asked of the agent.
"""

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.shortcuts import PromptSession, clear_title, set_title
from rich.text import Text

from sayso.agent.agent import Inputs
from sayso.cli import Exit
from sayso.cli.answer import Dialogue, Said
from sayso.cli.commands import Commands
from sayso.cli.driver import Driver
from sayso.cli.home import state_home
from sayso.cli.keyboard import Keyboard
from sayso.cli.party import Ended
from sayso.cli.prompt import DIM
from sayso.cli.screen import one_line
from sayso.cli.sentence import ways
from sayso.errors import Parked, Refused, SaysoError
from sayso.permission.context import PermissionContext, PermissionMode
from sayso.request import Request
from sayso.tool.toolkit import InvalidInput, Toolkit
from sayso.visible import visible

__all__ = ["Conversation"]


class Conversation:
    """One conversation at this terminal.

    resume: gives the command that goes on with it. policy: the rules besides its own. place: as `ways` takes it.
    """

    def __init__(
        self,
        driver: Driver,
        toolkit: Toolkit,
        *,
        model: str,
        cwd: Path,
        resume: Callable[[], Sequence[str]],
        policy: Callable[[], PermissionContext],
        place: Sequence[str] = (),
    ) -> None:
        self.driver = driver
        self.agent = driver.agent
        self.screen = driver.screen
        self.toolkit = toolkit
        self.model = model
        self.cwd = cwd
        self.resume = resume
        self.place = place
        self.keyboard = Keyboard(sys.stdin.fileno())
        self.dialogue = Dialogue(self.screen, self.keyboard, self._check, self._metadata_schema)
        self.commands = Commands(driver, policy)
        self._prompt: PromptSession[str] | None = None
        self._leaving = self._warned = False

    def _check(self, tool_name: str, text: str) -> str | None:
        tool = self.toolkit.get(tool_name)
        try:
            if tool is not None:
                self.toolkit.parse(tool, text)
        except InvalidInput as exc:
            return str(exc)
        return None

    def _metadata_schema(self, tool_name: str) -> object | None:
        tool = self.toolkit.get(tool_name)
        return None if tool is None else tool.metadata_schema

    # -- from the first line to the last ---------------------------------------------------------------

    async def run(self, message: str = "") -> Exit:
        """Talk until the person leaves."""
        self._greet()
        with self.driver.interruptible():
            try:
                if self.agent.state.context:
                    await self._turn("")
                while not self._leaving:
                    text = message or await self._read()
                    message = ""
                    await self._take(text.strip())
            finally:
                clear_title()
                self._farewell()
        return Exit.WAITING if self.agent.requests() else Exit.DONE

    async def _take(self, text: str) -> None:
        if text.startswith("/"):
            if text.split()[0] == "/answer":
                await self._settle()
            else:
                self._leaving = await self.commands.run(text)
        elif text:
            await self._turn(text)
        elif self.agent.requests():
            await self._settle()

    async def _turn(self, text: str) -> None:
        """Give the agent a message (or, with none, let it go on), then put to the person what waits."""
        try:
            await self._drive(text or None)
        except Parked:
            self.screen.note("Not sent: something waits for your answer first. Your message is kept.", "yellow")
            self.keyboard.set_aside(text)
            return
        await self._settle()

    async def _drive(self, inputs: Inputs) -> None:
        self._title("…")
        with self.keyboard.unattended():
            try:
                await self.driver.drive(inputs)
            except Refused:
                raise
            except SaysoError as exc:
                self.screen.fault(f"{type(exc).__name__}: {exc}")
        self._title("")

    async def _settle(self) -> None:
        """Put what waits to the person, one request after the other, until nothing does or it is left for later."""
        while waiting := self.agent.requests():
            self._title("waits for you")
            said = await self._put(waiting[0], len(waiting) - 1)
            if isinstance(said, Ended):
                await self._follow(said)
                continue
            if said is None:
                self._later(len(waiting))
                return
            try:
                await self._drive(said)
            except Refused as exc:
                self.screen.fault(f"That answer was not taken: {exc}")

    async def _put(self, request: Request, more: int) -> Said | Ended:
        """What the person says to a request; or, where somebody elsewhere was faster, how it was closed."""
        asking = asyncio.create_task(self.dialogue.answer(request, more=more))
        elsewhere = asyncio.create_task(self._closed_elsewhere(request.id))
        try:
            await asyncio.wait({asking, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else elsewhere.result()
        finally:
            for task in (asking, elsewhere):
                task.cancel()
            await asyncio.wait({asking, elsewhere})

    async def _closed_elsewhere(self, request_id: str) -> Ended:
        while True:
            await self.agent.changed()
            closed = await self.agent.ended(request_id)
            if closed is not None:
                return closed

    async def _follow(self, closed: Ended) -> None:
        """Show what became of an answer that was given elsewhere, until the session waits again or is done."""
        by, via = (f" by {closed.by}" if closed.by else ""), (f" via {closed.via}" if closed.via else "")
        self.screen.note(f"→ {closed.how}{by}{via}", "green")
        with self.keyboard.unattended():
            await self.driver.follow()
        await self.agent.load()

    def _later(self, count: int) -> None:
        what = "It stays" if count == 1 else f"All {count} stay"
        self.screen.note(f"{what} as it is. /answer comes back to it; from another terminal:")
        self.screen.note(f"  {ways(self.agent.requests()[0], self.place)[0]}", "")

    # -- the prompt ------------------------------------------------------------------------------------

    async def _read(self) -> str:
        """The person's next line; "/quit" at the end of input."""
        waiting = len(self.agent.requests())
        mode = self.agent.state.permission_context.mode
        before = f"{waiting} waiting · " if waiting else ""
        before += "" if mode is PermissionMode.DEFAULT else f"{mode} · "
        session = self._session()
        self.screen.side.print()
        # What was typed while the agent worked was meant for this prompt.
        self.keyboard.set_aside(self.keyboard.pending())
        self._warned = False
        try:
            return await session.prompt_async(
                [("fg:ansiyellow", before), ("bold fg:ansicyan", "› ")],
                default=self.keyboard.take_draft(),
                handle_sigint=False,
            )
        except EOFError:
            return "/quit"

    def _session(self) -> PromptSession[str]:
        if self._prompt is not None:
            return self._prompt
        bindings = KeyBindings()

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            event.app.current_buffer.validate_and_handle()

        @bindings.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.app.current_buffer.insert_text("\n")

        @bindings.add("c-c", eager=True)
        def _(event: KeyPressEvent) -> None:
            buffer = event.app.current_buffer
            if buffer.text:
                buffer.reset()
            elif self._warned:
                event.app.exit(exception=EOFError)
            else:
                self._warned = True

        path = state_home() / "history"
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._prompt = PromptSession(
            multiline=True,
            key_bindings=bindings,
            history=FileHistory(path),
            prompt_continuation="  ",
            placeholder=lambda: [(DIM, "Ctrl-C once more leaves")] if self._warned else [],
        )
        self._prompt.default_buffer.on_text_changed += self._stays
        return self._prompt

    def _stays(self, _: object) -> None:
        self._warned = False

    # -- first and last words --------------------------------------------------------------------------

    def _greet(self) -> None:
        self._title("")
        mode = self.agent.state.permission_context.mode
        head = Text.assemble(
            ("sayso", "bold cyan"), "  ", visible(self.model), ("  in ", "dim"), visible(_short(self.cwd))
        )
        if mode is not PermissionMode.DEFAULT:
            head.append(f"  mode {mode}", "yellow")
        self.screen.side.print(head, highlight=False)
        context = self.agent.state.context
        if context:
            self.screen.note(f"Going on with a conversation of {len(context)} messages; the last words were:")
            for message in context[-2:]:
                said = one_line(message.get_text_content(" "), self.screen.side.width - 12)
                self.screen.note(f"  {visible(message.name)}: {said or '…'}")
        else:
            self.screen.note("It asks before it acts. /help says what you can do here; Ctrl-D leaves.")

    def _farewell(self) -> None:
        tally = self.screen.tally
        counts = (
            (tally.replies, "reply", "replies"),
            (tally.tools, "tool run", "tool runs"),
            (tally.allowed, "allowed", "allowed"),
            (tally.refused, "refused", "refused"),
            (tally.answered, "answered", "answered"),
        )
        parts = [f"{n} {one if n == 1 else many}" for n, one, many in counts if n]
        if tokens := tally.input_tokens + tally.output_tokens:
            parts.append(f"{tokens:,} tokens")
        self.screen.note(" · ".join(parts) or "Nothing was done.")
        if self.agent.state.context:
            waiting = len(self.agent.requests())
            does = f"{waiting} waiting; to answer" if waiting else "To go on"
            self.screen.note(f"{does}: {shlex.join(self.resume())}", "yellow" if waiting else "dim")

    def _title(self, doing: str) -> None:
        set_title(visible(f"{doing} · sayso · {self.cwd.name}" if doing else f"sayso · {self.cwd.name}"))


def _short(path: Path) -> str:
    """The path with the person's home as ~."""
    home = Path(os.path.expanduser("~"))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)

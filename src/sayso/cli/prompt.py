"""Questions on a terminal that a stray key does not answer: one key, a line, a text, JSON.

Owns what counts as an answer: a key pressed after the question was on the screen and the keyboard was quiet; never
Enter, a paste, or what was typed ahead. Knows no request and no agent.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from prompt_toolkit.application import Application, get_app, run_in_terminal
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.containers import AnyContainer, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.shortcuts import PromptSession
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.validation import ValidationError, Validator

from sayso.cli.flow import folded
from sayso.cli.keyboard import Keyboard, words
from sayso.visible import visible

__all__ = [
    "DIM",
    "QUIET",
    "WAITING",
    "Back",
    "Guard",
    "Interrupted",
    "Option",
    "arguments",
    "columns",
    "editable",
    "framed",
    "key",
    "line",
    "page",
    "pager",
    "paragraph",
]

# A key answers only once the keyboard has been quiet for this long since the question appeared. Seconds.
QUIET = 0.5
_STRAY = 3  # characters
DIM = "fg:ansibrightblack"
WAITING = " ⋯ keys count once you stop typing"


class Interrupted(Exception):
    """Ctrl-C at a question: stop the reply."""


class Back(Exception):
    """The person left a sub-question without answering it. text: what was written so far."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True)
class Option:
    """A key and what it does."""

    key: str
    label: str


@dataclass
class Guard:
    """Whether a key now is meant for the question on the screen.

    Starts deaf and stays so until `QUIET` seconds without a key. Words that came before go to the draft.
    """

    keyboard: Keyboard
    armed: bool = False
    _early: str = ""
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def watch(self, app: Application[Any]) -> None:
        """Start waiting for quiet. To be called when the question is on the screen."""
        if not self.armed:
            self._early = self.keyboard.pending()
            self._wait(app)

    def _wait(self, app: Application[Any]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET, self._arm, app)

    def _arm(self, app: Application[Any]) -> None:
        self.armed = True
        app.invalidate()

    def take(self, event: KeyPressEvent) -> str | None:
        """The key pressed, or None where it came too early."""
        if self.armed:
            return event.data
        self._early += words(event.data)
        self._wait(event.app)
        return None

    def paste(self, event: KeyPressEvent) -> None:
        """A paste answers nothing, ever."""
        self._early += words(event.data)

    def done(self) -> None:
        """The question is answered or gone."""
        if self._timer is not None:
            self._timer.cancel()
        # A key or two were meant for the question, too soon; more were meant for a message.
        if len(self._early.strip()) > _STRAY or not self._early.isascii():
            self.keyboard.set_aside(self._early)


def framed(options: Sequence[Option], width: int, *, armed: bool, title: str = "") -> StyleAndTextTuples:
    """The choices, beside each other, or one a line under a title; dim while keys are not taken yet.

    width: columns that there are; none of the choices is cut.
    """
    out: StyleAndTextTuples = [*folded([("", f"{title}\n")], width)] if title else []
    bold, plain = ("bold", "") if armed else (DIM, DIM)
    column = 0
    for option in options:
        size = get_cwidth(f" {option.key} {option.label}")
        if title:
            out += folded([(bold, f" {option.key}"), (plain, f" {option.label}")], width, indent=3)
            out.append(("", "\n"))
            continue
        if column and column + size > width:
            out.append(("", "\n"))
            column = 0
        out += [(bold, f" {option.key}"), (plain, f" {option.label}  ")]
        column += size + 2
    out.append((DIM, ("" if title else "\n") + (" press a key" if armed else WAITING)))
    return out


def columns() -> int:
    """How wide the screen is on which a question is shown."""
    return get_app().output.get_size().columns


async def key(
    options: Sequence[Option],
    keyboard: Keyboard,
    *,
    armed: bool = False,
    title: str = "",
) -> str:
    """The key of one option; with a title each option is a line.

    armed: it was opened by a key of the person's, so it need not wait for quiet. Raises Interrupted on Ctrl-C.
    """
    guard = Guard(keyboard, armed=armed)
    keys = {o.key for o in options}
    bindings = KeyBindings()

    @bindings.add(Keys.Any)
    def _(event: KeyPressEvent) -> None:
        pressed = guard.take(event)
        if pressed is not None and pressed.lower() in keys:
            event.app.exit(result=pressed.lower())

    def text() -> StyleAndTextTuples:
        return framed(options, columns(), armed=guard.armed, title=title)

    return await page(Window(FormattedTextControl(text, show_cursor=False), wrap_lines=True), bindings, guard)


async def page(body: AnyContainer, bindings: KeyBindings, guard: Guard) -> str:
    """Show `body` under the conversation until a binding exits with a word; then erase it.

    Ctrl-C raises Interrupted, Enter and pastes do nothing unless `bindings` takes them.
    """
    base = KeyBindings()

    @base.add("c-c", eager=True)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=Interrupted())

    @base.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        guard.paste(event)

    @base.add("enter")
    def _(event: KeyPressEvent) -> None:
        guard.take(event)

    app: Application[str] = Application(
        Layout(body), key_bindings=merge_key_bindings([base, bindings]), erase_when_done=True
    )
    app.ttimeoutlen = 0.05
    try:
        return await app.run_async(pre_run=lambda: guard.watch(app), set_exception_handler=False, handle_sigint=False)
    finally:
        guard.done()


async def line(message: str, *, default: str = "") -> str:
    """One line of text, possibly empty. Raises Back on Ctrl-C, with what was written."""
    session: PromptSession[str] = PromptSession(erase_when_done=True)
    try:
        text = await session.prompt_async(
            [("bold", message)], default=default, key_bindings=_way_back(), handle_sigint=False
        )
    except EOFError:
        raise Back from None
    return text.strip()


async def paragraph(title: str, *, default: str = "") -> str:
    """Text of several lines. Raises Back on Ctrl-C, with what was written."""
    session: PromptSession[str] = PromptSession(
        multiline=True, erase_when_done=True, bottom_toolbar=f" {title}   Ctrl-S done   Ctrl-C back "
    )
    return await session.prompt_async("", default=default, key_bindings=_way_back(save=True), handle_sigint=False)


def _way_back(*, save: bool = False) -> KeyBindings:
    """Ctrl-C leaves with what was written; Ctrl-S, where asked for, is done with it."""
    bindings = KeyBindings()

    @bindings.add("c-c", eager=True)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=Back(event.app.current_buffer.text))

    if save:

        @bindings.add("c-s", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.current_buffer.validate_and_handle()

    return bindings


class _JsonObject(Validator):
    """Lets only a JSON object leave that `check` accepts; says where it is none."""

    def __init__(self, check: Callable[[str], str | None]) -> None:
        self.check = check

    def validate(self, document: Document) -> None:
        text = document.text
        try:
            value = json.loads(text)
        except json.JSONDecodeError as exc:
            message = f"no JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})"
            raise ValidationError(cursor_position=min(exc.pos, len(text)), message=message) from exc
        if not isinstance(value, dict):
            raise ValidationError(cursor_position=0, message="the arguments must be one JSON object: { ... }")
        if (wrong := self.check(text)) is not None:
            raise ValidationError(cursor_position=0, message=visible(wrong))


def editable(text: str) -> str:
    """JSON text in which what a terminal would obey is written as a JSON escape; the value stays the same."""
    out: list[str] = []
    for char in text:
        if visible(char) == char:
            out.append(char)
        else:
            out.append(json.dumps(char)[1:-1])
    return "".join(out)


async def arguments(text: str, *, check: Callable[[str], str | None] = lambda _: None) -> str:
    """JSON text, edited by the person; what they leave with is a JSON object that `check` accepts.

    check(text): why it cannot be used, or None. Raises Back on Ctrl-C, with what was written: nothing is lost.
    """
    session: PromptSession[str] = PromptSession(
        multiline=True,
        validator=_JsonObject(check),
        validate_while_typing=False,
        enable_open_in_editor=True,
        tempfile_suffix=".json",
        lexer=PygmentsLexer.from_filename("arguments.json"),
        erase_when_done=True,
        bottom_toolbar=" Ctrl-S use these arguments   Ctrl-X Ctrl-E open in $EDITOR   Ctrl-C back ",
    )
    return await session.prompt_async(
        "", default=editable(text), key_bindings=_way_back(save=True), handle_sigint=False
    )


async def pager(text: str) -> None:
    """Show visible text in the person's pager."""
    import pydoc

    await run_in_terminal(lambda: pydoc.pager(text), in_executor=True)

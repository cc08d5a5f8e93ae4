"""The terminal's input side: what was typed when, and for what.

Owns echo while an agent works, and the rule that a key pressed before a question was on the screen answers nothing.
What was typed too early is kept as a draft for the next message. Knows no question and no agent.
"""

import contextlib
import os
import re
import select
import termios
import tty
from collections.abc import Iterator

__all__ = ["Keyboard", "words"]

# What terminals send for keys and reports: it must not end in a draft.
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|O.|.)?")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CHUNK = 65536


class Keyboard:
    """The keyboard behind file descriptor `fd`, a terminal.

    draft: what was typed while no question and no prompt was there to take it.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.draft = ""

    @contextlib.contextmanager
    def unattended(self) -> Iterator[None]:
        """While inside, keys are neither shown nor gathered into lines; Ctrl-C still interrupts."""
        before = termios.tcgetattr(self.fd)
        tty.setcbreak(self.fd, termios.TCSANOW)
        try:
            yield
        finally:
            termios.tcsetattr(self.fd, termios.TCSANOW, before)

    def pending(self) -> str:
        """Take away everything that was typed until now, and give its words back; the rest is thrown away."""
        typed = b""
        while select.select([self.fd], [], [], 0)[0]:
            more = os.read(self.fd, _CHUNK)
            if not more:
                break
            typed += more
        termios.tcflush(self.fd, termios.TCIFLUSH)
        return words(typed.decode("utf-8", "replace"))

    def set_aside(self, typed: str) -> None:
        """Add words that nothing took to the draft."""
        self.draft = (self.draft + typed).lstrip()

    def take_draft(self) -> str:
        """The draft, once."""
        text, self.draft = self.draft.rstrip(), ""
        return text


def words(typed: str) -> str:
    """What was typed, without the keys and reports that are no words."""
    return _CONTROL.sub("", _SEQUENCE.sub("", typed.replace("\r", "\n")))

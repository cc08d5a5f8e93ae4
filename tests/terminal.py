"""A person at a terminal, for tests: a real pseudo-terminal, a real screen, keys as they are typed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pyte

SAYSO = [sys.executable, "-c", "import sys; from sayso.cli import main; sys.exit(main())"]
PATIENCE = 20.0  # seconds; what is waited for comes within one


class _Screen(pyte.HistoryScreen):
    """A screen that answers what programs ask a terminal, such as where the cursor is."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], object]) -> None:
        super().__init__(columns, rows, history=2000)
        self.answer = answer

    def write_process_input(self, data: str) -> None:
        self.answer(data)


class Terminal:
    """A program on a screen of `columns` x `rows`."""

    def __init__(self, arguments: list[str], cwd: Path, env: dict[str, str], columns: int, rows: int) -> None:
        self._screen = _Screen(columns, rows, lambda data: self.child.send(data))
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.child = pexpect.spawn(
            SAYSO[0], [*SAYSO[1:], *arguments], cwd=str(cwd), env=env, dimensions=(rows, columns), echo=True
        )

    @property
    def shown(self) -> str:
        """The text on the screen, and what scrolled away above it."""
        above = ["".join(line[x].data for x in range(self._screen.columns)) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display])

    def read(self, wait: float = 0.05) -> bool:
        """Take in what the program wrote; whether it is still there."""
        try:
            data: Any = self.child.read_nonblocking(65536, wait)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def until(self, *texts: str, count: int = 1) -> str:
        """Wait until the screen shows all of these, each `count` times; fails with what it shows instead."""
        return self.until_that(lambda shown: all(shown.count(text) >= count for text in texts), f"{texts} x {count}")

    def until_that(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until the screen is as it should be."""
        end = time.monotonic() + PATIENCE
        while not holds(self.shown):
            alive = self.read()
            if not holds(self.shown) and (not alive or time.monotonic() > end):
                raise AssertionError(f"never saw {what}; the screen shows:\n{self.shown}")
        return self.shown

    def ready(self) -> None:
        """Wait until a question takes keys."""
        self.until_that(lambda shown: "press a key" in shown or "Enter send" in shown, "a question that takes keys")

    def key(self, keys: str) -> None:
        """Type keys."""
        self.child.send(keys)

    def line(self, text: str) -> None:
        """Type a line, once the prompt is there."""
        self.until_that(
            lambda shown: (
                shown.rstrip().split("\n")[-1].lstrip().startswith("›")
                or "waiting · ›" in shown.rstrip().split("\n")[-1]
            ),
            "the prompt",
        )
        self.child.send(text + "\r")

    def end(self) -> int:
        """Wait for the program to end; its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.read():
            if time.monotonic() > deadline:
                raise AssertionError(f"it did not end; the screen shows:\n{self.shown}")
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -(self.child.signalstatus or 0))


class Desk:
    """A folder to work in, a home of its own, and the programs that run there."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.home = folder / "home"
        self.work.mkdir()
        self.home.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PAGER": "cat",
            "PYTHONUNBUFFERED": "1",
        }

    def script(self, *turns: Any) -> str:
        """The name of a model that says these turns; a tuple is a call: (tool, arguments)."""
        path = self.home / "script.json"
        said = [t if isinstance(t, str) else [_part(p) for p in (t if isinstance(t, list) else [t])] for t in turns]
        path.write_text(json.dumps(said), encoding="utf-8")
        return f"scripted:{path}"

    @contextmanager
    def terminal(self, *arguments: str, columns: int = 80, rows: int = 40) -> Iterator[Terminal]:
        """`sayso ...` at a terminal."""
        terminal = Terminal(list(arguments), self.work, self.env, columns, rows)
        try:
            yield terminal
        finally:
            terminal.child.close(force=True)

    def run(self, *arguments: str, input: str = "", patience: float = 60) -> "subprocess.CompletedProcess[str]":
        """`sayso ...` without a terminal."""
        return subprocess.run(
            [*SAYSO, *arguments],
            cwd=self.work,
            env=self.env,
            input=input,
            capture_output=True,
            text=True,
            timeout=patience,
        )

    def waiting(self) -> list[dict[str, Any]]:
        """What waits, as `sayso inbox --json` says."""
        return [json.loads(line) for line in self.run("inbox", "--json").stdout.splitlines()]


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    return {"tool": part[0], "input": part[1]}

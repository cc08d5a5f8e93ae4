"""One program, run so that what was judged is what runs, and so that nothing of it outlives the call.

Owns the environment, the working directory, the process group, its time and its end. Must not know shells, rules or
tools: it takes an argv and gives bytes.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

__all__ = ["Directory", "Ended", "Program", "scrubbed"]

_READ: Final = 65_536  # bytes: what a pipe holds on Linux
_DRAIN: Final = 1.0  # seconds to wait for more output once the program has ended
_DRAIN_LIMIT: Final = 1_000_000  # bytes; the pipe and its reader together hold less

# What makes a program do something else than its command line says: start another program, load a library, take
# options from elsewhere, read a command differently. Whether a command is harmless is judged without them.
_DROPPED_PREFIXES: Final = ("LD_", "DYLD_", "GIT_", "BASH_FUNC_")
_DROPPED_SUFFIXES: Final = ("PAGER",)
_DROPPED: Final = frozenset({
    "BASH_COMPAT", "BASH_ENV", "BASH_LOADABLES_PATH", "BASHOPTS", "BASH_XTRACEFD", "CDPATH", "ENV", "EXECIGNORE",
    "FIGNORE", "GCONV_PATH", "GLOBIGNORE", "GREP_OPTIONS", "IFS", "LESSCLOSE", "LESSOPEN", "OLDPWD", "POSIXLY_CORRECT",
    "PROMPT_COMMAND", "PS4", "RIPGREP_CONFIG_PATH", "SHELLOPTS", "TAR_OPTIONS", "TMOUT",
})  # fmt: skip
_SET: Final = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without what changes the meaning of a command; with git and pagers kept from asking or waiting."""
    kept = {
        name: value
        for name, value in environment.items()
        if name not in _DROPPED and not name.startswith(_DROPPED_PREFIXES) and not name.endswith(_DROPPED_SUFFIXES)
    }
    return kept | _SET


class Directory:
    """A working directory, known by what it is and not only by its name.

    path: canonical. `judged` notes which directory it names now; `opened` then opens that one or refuses.
    """

    def __init__(self, path: str | None) -> None:
        self.path = os.path.realpath(os.path.expanduser(path) if path is not None else os.getcwd())
        self._identity: tuple[int, int] | None = None

    def judged(self) -> None:
        """Note the directory that a call is judged in."""
        try:
            found = os.stat(self.path)
        except OSError:  # then it cannot be run in either, and `opened` says so
            self._identity = None
            return
        self._identity = (found.st_dev, found.st_ino)

    @contextmanager
    def opened(self) -> Iterator[str]:
        """A path that names this very directory while the context lasts. Raises OSError if there is none."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if self._identity is not None and self._identity != (found.st_dev, found.st_ino):
                raise FileNotFoundError(f"{self.path} is not the directory it was when the call was judged")
            by_descriptor = f"/proc/self/fd/{descriptor}"
            yield by_descriptor if os.path.exists(by_descriptor) else self.path
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    exit_code: as Python has it: negative for a signal. None if it was stopped for its time.
    left_behind: it had started processes in the background that were still there, and were stopped.
    """

    exit_code: int | None
    timed_out: bool
    left_behind: bool


class Program:
    """A running program in a session and process group of its own, without a terminal and without input.

    Iterate over `output()` to the end, then read `ended`. Its standard error is its standard output.
    """

    def __init__(self, process: Process, reader: asyncio.StreamReader, *, seconds: float, grace: float) -> None:
        self._process = process
        self._reader = reader
        self._reading: asyncio.Future[bytes] | None = None
        self._grace = grace
        self._deadline = _now() + seconds
        self._stopped = False
        self.ended: Ended | None = None

    @classmethod
    @asynccontextmanager
    async def start(
        cls, argv: Sequence[str], *, cwd: Directory, env: Mapping[str, str], seconds: float, grace: float = 2.0
    ) -> AsyncIterator[Program]:
        """Start `argv`; when the context is left, however it is left, every process of its group is gone.

        seconds: how long it may take; then the group gets SIGTERM, and after `grace` more seconds SIGKILL.
        Raises OSError if it cannot be started.
        """
        async with _pipe() as (reader, write_end):
            with cwd.opened() as directory:
                process = await asyncio.create_subprocess_exec(
                    *argv, cwd=directory, env=dict(env) | {"PWD": cwd.path},
                    stdin=DEVNULL, stdout=write_end, stderr=write_end, start_new_session=True,
                )  # fmt: skip
            write_end.close()
            program = cls(process, reader, seconds=seconds, grace=grace)
            try:
                yield program
            finally:
                await program._stop()

    async def output(self) -> AsyncGenerator[bytes, None]:
        """What it writes, as it comes; ends when the program has ended, or its time has."""
        ended = asyncio.ensure_future(self._process.wait())
        try:
            while data := await self._next(self._deadline, ended):
                yield data
            if data is not None:  # it closed its output, and may go on
                await asyncio.wait({ended}, timeout=max(0, self._deadline - _now()))
            timed_out = not ended.done()
            left_behind = await self._stop() and not timed_out
            drained = 0
            # A process that left the group may hold the pipe open for ever, or fill it: neither is waited for.
            while drained < _DRAIN_LIMIT and (data := await self._next(_now() + _DRAIN)):
                yield data
                drained += len(data)
            code = None if timed_out else self._process.returncode
            self.ended = Ended(exit_code=code, timed_out=timed_out, left_behind=left_behind)
        finally:
            ended.cancel()
            if self._reading is not None:
                self._reading.cancel()

    async def _next(self, until: float, ended: asyncio.Future[int] | None = None) -> bytes | None:
        """The next output, b"" when there will be none; None once the time is over or `ended` is done."""
        left = until - _now()
        if left <= 0 or (ended is not None and ended.done()):
            return None
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._reader.read(_READ))
        awaited: set[asyncio.Future[Any]] = {self._reading} if ended is None else {self._reading, ended}
        await asyncio.wait(awaited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if not self._reading.done():
            return None
        data = self._reading.result()
        self._reading = None
        return data

    async def _stop(self) -> bool:
        """End every process of the group; whether there was one besides a program that had ended."""
        if self._stopped or not _group_runs(self._process.pid):
            return False
        self._stopped = True
        self._signal(signal.SIGTERM)
        try:
            end = _now() + self._grace
            pause = 0.005
            # A group, unlike a child, cannot be waited for: it is looked at until it is gone.
            while _group_runs(self._process.pid) and (left := end - _now()) > 0:
                await asyncio.sleep(min(pause, left))
                pause = min(0.1, 2 * pause)
        finally:
            self._signal(signal.SIGKILL)
        await self._process.wait()
        return True

    def _signal(self, number: int) -> None:
        # Gone already, or another user's by now: there is nothing more that we could do to it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _group_runs(group: int) -> bool:
    """Whether a process of the group runs. One that has ended does not, though nobody may have asked how it ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # Where process 1 does not collect orphans at once, as in many containers, dead ones still make up a group.
    stats = [s for pid in _listed("/proc") if pid.isdigit() and (s := _stat(pid))]
    return not stats or any(s[2] == str(group) and s[0] not in "ZX" for s in stats)


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:  # no such thing on this system
        return []


def _stat(pid: str) -> list[str]:
    """State, parent, process group, ... of a process; empty once it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _now() -> float:
    return asyncio.get_running_loop().time()


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, IO[bytes]]]:
    """A pipe whose reading end is a stream that holds little: a program that writes more has to wait."""
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader(limit=_READ)
    with os.fdopen(write_end, "wb", buffering=0) as writing:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            yield reader, writing
        finally:
            transport.close()

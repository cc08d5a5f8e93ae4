"""A bell that one process rings and every other hears: named pipes in a directory. It must not know what for.

Whoever listens keeps one pipe in the directory; whoever rings writes a byte into each. A pipe whose listener died has
no reader, which the next ringer is told by the kernel and removes it. Named pipes, because they are in the standard
library on every Unix, have no limit on the length of a path (sockets have), and because the ringer decides when they
ring: a watch on the database's own files (inotify) would ring before a commit can be seen.
"""

import errno
import os
import select
import stat
from pathlib import Path

from sayso.ids import new_id

__all__ = ["Bell", "ring"]


class Bell:
    """One listener. Where the directory cannot hold a named pipe it hears only its own process (`poke`)."""

    def __init__(self, directory: Path) -> None:
        self._path: Path | None = None
        try:
            self._path, pipe = _hang(directory)
            self._reader = self._writer = pipe
        except OSError:
            # Some shared file systems have no named pipes, and some directories are not ours to write. Listeners
            # look at the log now and then anyway, so such a place costs time and loses nothing.
            self._reader, self._writer = os.pipe()
            os.set_blocking(self._writer, False)
        self._poll = select.poll()
        self._poll.register(self._reader, select.POLLIN)

    def poke(self) -> None:
        """Ring this one bell; from any thread of this process."""
        _write(self._writer)

    def hear(self, timeout: float) -> bool:
        """Return True once it rang, or False after `timeout` seconds."""
        if not self._poll.poll(timeout * 1000):
            return False
        os.read(self._reader, 1 << 16)  # whatever a pipe holds, as a rule; more would only ring again
        return True

    def close(self) -> None:
        """Take it down."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        for pipe in {self._reader, self._writer}:
            os.close(pipe)


def _hang(directory: Path) -> tuple[Path, int]:
    directory.mkdir(mode=0o700, exist_ok=True)
    name = new_id()
    draft = directory / f".{name}"
    os.mkfifo(draft, 0o600)
    # Open for both, because a pipe without a writer reports its end over and over.
    pipe = os.open(draft, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    # Visible only now: a ringer that finds no reader takes the listener for dead.
    return draft.rename(directory / name), pipe


def ring(directory: Path) -> None:
    """Ring every bell in the directory; nothing where nobody ever listened."""
    try:
        names = os.listdir(directory)
    except OSError:
        return  # Nobody ever listened; or the directory is another user's, whose listeners look now and then.
    for name in names:
        if not name.startswith("."):
            _ring_one(directory / name)


def _ring_one(path: Path) -> None:
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            path.unlink(missing_ok=True)
        # Otherwise it was taken down just now, or is another user's.
        return
    try:
        if stat.S_ISFIFO(os.fstat(pipe).st_mode):
            _write(pipe)
    finally:
        os.close(pipe)


def _write(pipe: int) -> None:
    try:
        os.write(pipe, b"\0")
    except BlockingIOError:
        return  # It is full of rings that nobody has heard yet: one more says nothing new.
    except BrokenPipeError:
        return  # The listener left between the opening and the writing.

"""Proof that a runner's process lives: a locked file that its death unlocks at once. It must not know what runners do.

The lock is flock's, on an open file of its own: it works between processes and between two runners of one process.
No clock is asked. A forked child closes what it inherited, or a parent's lock would outlive the parent.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sayso.errors import StoreError
from sayso.ids import new_id

__all__ = ["FileRunner", "hold", "is_held"]

_held: set[int] = set()
"""Open lock files of this process."""


def _let_go() -> None:
    # Closing, not unlocking: the lock belongs to the open file, which the parent still has.
    for lock in _held:
        os.close(lock)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


class FileRunner:
    """A runner that holds `<directory>/<id>.lock`."""

    def __init__(self, runner_id: str, path: Path, lock: int) -> None:
        self.id = runner_id
        self._path = path
        self._lock = lock
        self._process = os.getpid()

    @property
    def alive(self) -> bool:
        """Whether this process holds the lock, and others can see that it does."""
        if not self._is_ours():
            return False
        try:
            there = self._path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._lock))

    def release(self) -> None:
        """Stop being alive. A forked child has nothing to release."""
        if self._is_ours():
            self._path.unlink(missing_ok=True)
            _held.discard(self._lock)
            os.close(self._lock)

    def _is_ours(self) -> bool:
        return self._lock in _held and os.getpid() == self._process


@contextmanager
def hold(directory: Path) -> Iterator[FileRunner]:
    """Be alive while inside, under a new id. Raises `StoreError` where the directory cannot be written."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        _sweep(directory)
        runner = _lock_file(directory)
    except OSError as error:
        raise StoreError(f"cannot hold a runner's lock in {directory}: {error.strerror}") from error
    try:
        yield runner
    finally:
        runner.release()


def is_held(directory: Path, runner_id: str) -> bool:
    """Whether some process holds that runner's lock."""
    if runner_id != os.path.basename(runner_id):
        return False
    return _is_locked(directory / f"{runner_id}.lock")


def _lock_file(directory: Path) -> FileRunner:
    runner_id = new_id()
    draft, path = directory / f".{runner_id}", directory / f"{runner_id}.lock"
    lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Visible only once it is locked, or a sweep could take it for a dead runner's.
        draft.rename(path)
    except OSError:
        os.close(lock)
        draft.unlink()
        raise
    _held.add(lock)
    return FileRunner(runner_id, path, lock)


def _is_locked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"cannot tell whether the runner of {path} is alive: {error.strerror}") from error
    try:
        # Shared, so that two that ask at once do not take each other for the runner.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def _sweep(directory: Path) -> None:
    """Remove the files of runners that died without a word."""
    for path in directory.glob("*.lock"):
        if not _is_locked(path):
            path.unlink(missing_ok=True)

"""The database file: opens connections to it, lends them, and says in our words what went wrong with it.

It must not know what is read or written.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from sayso.errors import BrokenLog, StoreError
from sayso.store.sqlite_schema import bring_up_to_date

__all__ = ["Link", "SQLiteFile"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_PAUSE = 0.0005
"""Seconds between two tries for a lock. SQLite's own waiting backs off to 100 ms and so starves whoever waits longest:
with six processes writing all the time the slowest got 1 commit in 200 and waited 3 s; with this, all get the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A connection, and which file (device, inode) it is to."""

    connection: apsw.Connection
    file: tuple[int, int]


class SQLiteFile:
    """One path. Thread-safe; connections are opened when first needed.

    busy_timeout: seconds to wait while another process writes.
    """

    def __init__(self, path: str, busy_timeout: float) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._seen = False
        self._opening = threading.Lock()
        self._idle: deque[Link] = deque()

    def open(self) -> Link:
        """A new connection to the file, which is created at the first and never again.

        Raises `StoreError`, `NewerLog` or `BrokenLog`.
        """
        with self._opening:
            flags = apsw.SQLITE_OPEN_READWRITE
            if not self._seen:
                flags |= apsw.SQLITE_OPEN_CREATE
            elif not os.path.exists(self.path):
                raise StoreError(f"{self.path} is gone; put it back, nothing else holds what was in it")
            try:
                connection = apsw.Connection(self.path, flags=flags)
            except apsw.Error as error:
                raise self.explain(error) from error
            return self._prepare(connection)

    def _prepare(self, connection: apsw.Connection) -> Link:
        prepared = False
        try:
            connection.set_busy_handler(_patience(self._busy_timeout))
            self._bring_up_to_date(connection)
            found = os.stat(self.path)
            prepared = True
        except apsw.Error as error:
            raise self.explain(error) from error
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from error
        finally:
            if not prepared:
                connection.close()
        self._seen = True
        return Link(connection, (found.st_dev, found.st_ino))

    def _bring_up_to_date(self, connection: apsw.Connection) -> None:
        patience, tries = _patience(self._busy_timeout), 0
        while True:
            try:
                return bring_up_to_date(connection, self.path)
            except apsw.BusyError:
                # SQLite does not ask the busy handler when two processes turn one new file to WAL.
                if not patience(tries):
                    raise
            tries += 1

    def is_current(self, link: Link) -> bool:
        """Whether the path still names the file that the connection is to; a commit elsewhere would be lost."""
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        return link.file == (found.st_dev, found.st_ino)

    def run(self, call: Callable[Concatenate[apsw.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call it with a connection that nobody else uses meanwhile; raises `StoreError` for SQLite's errors."""
        link = self._borrow()
        sound = True
        try:
            return call(link.connection, *args, **kwargs)
        except apsw.Error as error:
            sound = False
            raise self.explain(error) from error
        finally:
            if sound:
                self._idle.append(link)
            else:
                link.connection.close()

    def _borrow(self) -> Link:
        try:
            link = self._idle.pop()
        except IndexError:
            return self.open()
        if self.is_current(link):
            return link
        link.connection.close()
        return self.open()

    def close_idle(self) -> None:
        """Close the connections that were lent and came back; the next question opens a new one."""
        while self._idle:
            self._idle.pop().connection.close()

    def explain(self, error: apsw.Error) -> StoreError:
        """SQLite's error as ours: what is wrong with which file, and what to do."""
        path = self.path
        match error:
            case apsw.BusyError() | apsw.LockedError():
                return StoreError(f"{path} is locked: another process kept it for more than {self._busy_timeout:g} s")
            case apsw.FullError():
                return StoreError(f"{path}: the disk is full, so nothing of this was written; make room and try again")
            case apsw.ReadOnlyError() | apsw.PermissionsError():
                return StoreError(f"{path} is read-only for this process; let it write the file and its directory")
            case apsw.CantOpenError():
                return StoreError(f"{path} cannot be opened; its directory must exist and be writable")
            case apsw.CorruptError() | apsw.NotADBError():
                return BrokenLog(f"{path} is damaged ({error}); restore it from a backup")
            case _:
                return StoreError(f"{path}: {error}")


def _patience(seconds: float) -> Callable[[int], bool]:
    deadline = 0.0

    def wait(tries: int) -> bool:
        nonlocal deadline
        if tries == 0:
            deadline = time.monotonic() + seconds
        time.sleep(_PAUSE)
        return time.monotonic() < deadline

    return wait

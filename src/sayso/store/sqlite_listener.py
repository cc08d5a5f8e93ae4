"""Learns of commits by any process, and tells who waits in this one. It must not know who commits.

Every commit rings a bell (bell.py); the listener then reads which sessions changed after the last change it told of.
One thread, asleep while nobody waits. A committer that is killed between its commit and its ring leaves the others
unaware, so the listener also looks by itself, once a second while somebody waits.
"""

import math
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from sayso.errors import StoreError
from sayso.store import sqlite_query
from sayso.store.bell import Bell
from sayso.store.sqlite_file import SQLiteFile
from sayso.store.watch import Watch

__all__ = ["Listener"]

_LOOK = 1.0
"""Seconds between two looks without a ring; also the delay where the file system has no named pipes."""


class Listener:
    """The listener of one store object."""

    def __init__(self, file: SQLiteFile, bells: Path) -> None:
        self._file = file
        self._bells = bells
        self._watch = Watch()
        self._lock = threading.Lock()
        self._told: float = math.inf
        self._wanted = threading.Event()
        self._bell: Bell | None = None
        self._thread: threading.Thread | None = None

    @property
    def closed(self) -> bool:
        return self._watch.closed

    async def wait(self, session_id: str, after: int, position: int) -> None:
        """Return once the session is longer than `after`, which it was not at that position of the whole log."""
        with self._watch.waiting(session_id, after) as told:
            self._listen(position)
            await told

    def changes(self, position: int) -> AsyncIterator[str]:
        """Every change after that position of the whole log."""
        changes = self._watch.changes(position)
        self._listen(position)
        return changes

    def close(self) -> None:
        """Stop; whoever waits is told that the store was closed. Blocks."""
        self._watch.close()
        self._wanted.set()
        with self._lock:
            bell, thread = self._bell, self._thread
            self._bell = None
        if bell is not None and thread is not None:
            bell.poke()
            thread.join()
            bell.close()

    def _listen(self, position: int) -> None:
        """See to it that everything after that position is told."""
        with self._lock:
            if self._watch.closed:
                return
            self._told = min(self._told, position)
            if self._bell is None:
                self._bell = Bell(self._bells)
                self._thread = threading.Thread(
                    target=self._run, args=(self._bell,), name="sayso-listener", daemon=True
                )
                self._thread.start()
            self._wanted.set()
            # Something may have been told between that position and now, to everybody but the one who came now.
            self._bell.poke()

    def _run(self, bell: Bell) -> None:
        while True:
            self._wanted.wait()
            bell.hear(_LOOK)
            if self._watch.closed:
                return
            # Cleared before it is looked at: who comes in between sets it again.
            self._wanted.clear()
            if self._watch.active:
                self._wanted.set()
                self._look()
            else:
                self._forget()

    def _forget(self) -> None:
        with self._lock:
            if not self._watch.active:
                self._told = math.inf

    def _look(self) -> None:
        with self._lock:
            start, self._told = self._told, math.inf
        try:
            commits = self._file.run(sqlite_query.changed, start)
        except StoreError as error:
            self._watch.fail(error)
            commits = []
        self._watch.tell(commits)
        with self._lock:
            # Whoever came meanwhile may need an earlier one.
            self._told = min(self._told, commits[-1][2] if commits else start)

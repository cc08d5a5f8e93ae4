"""Learns of commits by any process, and tells who waits in this one. It must not know who commits.

Every commit notifies; the listener then reads which sessions changed after the last change it told of. A lost
connection is opened again, and what was committed meanwhile is read then, so nothing is missed and nobody who waits
has to know. One thread and one connection, from the first who waits on.
"""

import os
import select
import threading
from collections.abc import AsyncIterator

import psycopg

from sayso.errors import StoreError
from sayso.store import postgres_query
from sayso.store.postgres_database import Link, PostgresDatabase
from sayso.store.watch import Watch

__all__ = ["PostgresListener"]

_BACKOFF = (0.05, 5.0)
"""Seconds before the first try to connect again, and at most between two."""


class PostgresListener:
    """The listener of one store object."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._watch = Watch()
        self._lock = threading.Lock()
        self._told = 0
        self._rang = True
        self._thread: threading.Thread | None = None
        self._ear, self._mouth = -1, -1

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
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            os.write(self._mouth, b"\0")
            thread.join()
            os.close(self._ear)
            os.close(self._mouth)

    def _listen(self, position: int) -> None:
        """See to it that everything after that position is told."""
        with self._lock:
            if self._watch.closed:
                return
            if self._thread is None:
                self._told = position
                self._ear, self._mouth = os.pipe()
                os.set_blocking(self._mouth, False)
                self._thread = threading.Thread(target=self._run, name="sayso-listener", daemon=True)
                self._thread.start()
            elif position < self._told:
                # What came in between was told to everybody but the one who came now.
                self._told = position
                self._poke()

    def _poke(self) -> None:
        try:
            os.write(self._mouth, b"\0")
        except BlockingIOError:
            return  # it is full of pokes already

    def _run(self) -> None:
        pause = _BACKOFF[0]
        while not self._watch.closed:
            try:
                link = self._database.open()
            except StoreError:
                self._sleep([], pause)
                pause = min(2 * pause, _BACKOFF[1])
                continue
            pause = _BACKOFF[0]
            try:
                self._follow(link)
            except psycopg.Error:
                self._sleep([], pause)
            finally:
                link.close()

    def _follow(self, link: Link) -> None:
        link.add_notify_handler(lambda _: self._ring())
        link.execute("LISTEN sayso")
        self._rang = True
        while not self._watch.closed:
            while self._rang:
                # Lowered before it is looked at: a notification that comes in between raises it again.
                self._rang = False
                self._look(link)
            self._sleep([link.fileno()], None)
            # Reads what came, raises where the connection is gone, and calls the handler.
            link.execute("")

    def _ring(self) -> None:
        self._rang = True

    def _sleep(self, sockets: list[int], seconds: float | None) -> None:
        ready, _, _ = select.select([*sockets, self._ear], [], [], seconds)
        if self._ear in ready:
            os.read(self._ear, 1 << 12)
            self._rang = True

    def _look(self, link: Link) -> None:
        with self._lock:
            start = self._told
        commits = postgres_query.changed(link, start)
        self._watch.tell(commits)
        with self._lock:
            # Whoever came meanwhile may need an earlier one.
            if commits and self._told == start:
                self._told = commits[-1][2]

"""Proof that a runner's process lives: an advisory lock of a database session. It must not know what runners do.

The server releases the lock when the connection ends. No clock is asked. A forked child lets go of the socket that it
inherited, or a parent's connection would outlive the parent.
"""

import os
import select
import threading
from contextlib import suppress
from hashlib import sha256

import psycopg

from sayso.errors import StoreError
from sayso.ids import new_id
from sayso.store.postgres_database import Link, PostgresDatabase

__all__ = ["PostgresRunner", "key_of", "lock_of", "take"]

_sockets: set[int] = set()
"""Sockets of the runners of this process."""


def _let_go() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for socket in _sockets:
        # Replaced, not closed: a number that is free would soon be another file's.
        os.dup2(nothing, socket)
    os.close(nothing)
    _sockets.clear()


os.register_at_fork(after_in_child=_let_go)


def key_of(runner_id: str) -> tuple[int, int]:
    """The two 32-bit halves of a runner's lock."""
    digest = sha256(b"sayso runner " + runner_id.encode()).digest()
    return int.from_bytes(digest[:4]), int.from_bytes(digest[4:8])


def lock_of(runner_id: str) -> int:
    """A runner's lock, as the functions for advisory locks take it."""
    high, low = key_of(runner_id)
    return int.from_bytes((high << 32 | low).to_bytes(8), signed=True)


class PostgresRunner:
    """A runner that holds an advisory lock on a connection of its own."""

    def __init__(self, runner_id: str, link: Link) -> None:
        self.id = runner_id
        self._link = link
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._socket = link.fileno()
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        _sockets.add(self._socket)

    @property
    def alive(self) -> bool:
        """Whether the connection that holds the lock is there, as far as this machine has heard."""
        if os.getpid() != self._process:
            return False
        with self._lock:
            if not self._link.closed and self._poll.poll(0):
                self._hear()
            return not self._link.closed

    def lose(self) -> None:
        """The server says that the lock is free, whatever the connection looks like from here."""
        with self._lock:
            self._lose()

    def release(self) -> None:
        """Stop being alive. Blocks for a question to the server. A forked child has nothing to release."""
        if os.getpid() == self._process:
            with self._lock:
                _sockets.discard(self._socket)
                # Said, because the server may learn of the closing only a moment later. Where it cannot be said the
                # connection is lost, and the lock with it.
                with suppress(psycopg.Error):
                    self._link.execute("SELECT pg_advisory_unlock_all()")
                self._link.close()

    def _hear(self) -> None:
        # Nothing was asked, so there is a notice to read, or the end of the connection.
        try:
            self._link.pgconn.consume_input()
        except psycopg.Error:
            self._lose()
        else:
            if self._poll.poll(0):
                self._lose()

    def _lose(self) -> None:
        _sockets.discard(self._socket)
        self._link.close()


def take(database: PostgresDatabase) -> PostgresRunner:
    """A runner that is alive until it is released, under a new id. Blocks. Raises `StoreError` where no lock is had."""
    runner_id = new_id()
    link = database.open()
    held = False
    try:
        # The server waits longer for a silent network than this side does: it must not free the lock first.
        for setting in ("tcp_keepalives_idle = 15", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3"):
            link.execute(f"SET {setting}")
        found = link.execute("SELECT pg_try_advisory_lock(%s)", (lock_of(runner_id),)).fetchone()
        held = bool(found and found[0])
    except psycopg.Error as error:
        raise database.explain(error) from None
    finally:
        if not held:
            link.close()
    if not held:
        raise StoreError(f"{database.where}: the lock of a new runner is held by somebody else; try again")
    return PostgresRunner(runner_id, link)

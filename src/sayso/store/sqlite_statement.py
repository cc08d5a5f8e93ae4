"""What is written to a log in SQLite: each class is one thing to write, inside a transaction that somebody else owns.

Everything that can be refused is checked before the first change, so that a refusal leaves nothing behind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from sayso.errors import BrokenLog
from sayso.store.base import Entry, Index, Snapshot, Waiting
from sayso.store.chain import FIRST, link
from sayso.store.outcome import outcomes_of
from sayso.store.refusal import conflict, no_such_snapshot, refuse_strangers
from sayso.store.sqlite_schema import SEQ_BITS

__all__ = ["Append", "SaveSnapshot"]

# Its number, its length, the hash of its last entry, and whether requests of it are open.
_SESSION = """
    SELECT number, length, (SELECT hash FROM entries WHERE position = (number << ?) + length - 1),
        EXISTS (SELECT * FROM requests WHERE requests.session_id = sessions.session_id AND open)
    FROM sessions WHERE session_id = ?"""
_NEW_SESSION = """
    INSERT INTO sessions (agent, title, state, runner, length, updated_at, created_at, session_id, change)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(change), 0) + 1 FROM sessions))"""
_NEXT_CHANGE = """
    UPDATE sessions SET agent = ?, title = ?, state = ?, runner = ?, length = ?, updated_at = ?,
        change = (SELECT max(change) + 1 FROM sessions)
    WHERE number = ?"""
_OPEN_REQUEST = """
    INSERT INTO requests (request_id, kind, tool, created_at, expires_at, body, session_id, open)
    VALUES (?, ?, ?, ?, ?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET kind = excluded.kind, tool = excluded.tool, created_at = excluded.created_at,
        expires_at = excluded.expires_at, body = excluded.body, open = 1,
        closed_at = NULL, how = NULL, by = NULL, via = NULL"""
_CLOSE_REQUEST = """
    UPDATE requests SET open = 0, expires_at = NULL, closed_at = ?, how = ?, by = ?, via = ? WHERE request_id = ?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """`Store.append`. Raises `Conflict`, `Refused` or `BrokenLog`, each before anything was changed."""

    session_id: str
    facts: Sequence[bytes]
    at: int
    time: str
    index: Index

    def write(self, connection: apsw.Connection) -> tuple[Entry, ...]:
        """The new entries."""
        found = connection.execute(_SESSION, (SEQ_BITS, self.session_id)).get
        number, length, last_hash, parked = found or (None, 0, FIRST, False)
        if length != self.at:
            raise conflict(self.session_id, length=length, at=self.at)
        if self.index.waiting:
            self._refuse_strangers(connection)
        entries = self._entries(self._checked(last_hash))
        number = self._replace_session(connection, number)
        if entries:
            rows = [(number << SEQ_BITS | each.seq, each.at, each.fact, each.hash) for each in entries]
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
        if parked or self.index.waiting:
            self._replace_waiting(connection)
        return tuple(entries)

    def _checked(self, last_hash: bytes | None) -> bytes:
        if self.at == 0:
            return FIRST
        if last_hash is None:
            raise BrokenLog(f"entry {self.at - 1} of session {self.session_id!r} is missing; nothing can follow it")
        return last_hash

    def _entries(self, previous: bytes) -> list[Entry]:
        entries = []
        for seq, fact in enumerate(self.facts, self.at):
            previous = link(previous, self.session_id, seq, self.time, fact)
            entries.append(Entry(self.session_id, seq, self.time, fact, previous))
        return entries

    def _replace_session(self, connection: apsw.Connection, number: int | None) -> int:
        index, length = self.index, self.at + len(self.facts)
        said = (index.agent, index.title, index.state, index.runner, length, self.time)
        if number is not None:
            connection.execute(_NEXT_CHANGE, (*said, number))
            return number
        connection.execute(_NEW_SESSION, (*said, self.time, self.session_id))
        return connection.last_insert_rowid()

    def _refuse_strangers(self, connection: apsw.Connection) -> None:
        owners = {}
        for request in self.index.waiting:
            owner = connection.execute(
                "SELECT session_id FROM requests WHERE request_id = ?", (request.request_id,)
            ).get
            if owner is not None:
                owners[request.request_id] = owner
        refuse_strangers(self.session_id, self.index, owners)

    def _replace_waiting(self, connection: apsw.Connection) -> None:
        """Write what differs, so that an append to a parked session does not write its requests again."""
        rows = connection.execute(
            "SELECT request_id, kind, tool, created_at, expires_at, body FROM requests WHERE session_id = ? AND open",
            (self.session_id,),
        )
        old = {row[0]: row for row in rows}
        for request in self.index.waiting:
            new = _row(request)
            if old.pop(request.request_id, None) != new:
                connection.execute(_OPEN_REQUEST, (*new, self.session_id))
        for request_id, how, by, via in outcomes_of(self.index, old):
            connection.execute(_CLOSE_REQUEST, (self.time, how, by, via, request_id))


def _row(request: Waiting) -> tuple[str, str, str, str, str | None, bytes]:
    return request.request_id, request.kind, request.tool, request.created_at, request.expires_at, request.body


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSnapshot:
    """`Store.save_snapshot`. Raises `Refused` where the log is not that long."""

    session_id: str
    snapshot: Snapshot

    def write(self, connection: apsw.Connection) -> None:
        """Replace the session's snapshot."""
        kept = self.snapshot
        connection.execute(
            "INSERT OR REPLACE INTO snapshots (number, length, version, body)"
            " SELECT number, ?, ?, ? FROM sessions WHERE session_id = ? AND length >= ?",
            (kept.length, kept.version, kept.body, self.session_id, kept.length),
        )
        if not connection.changes():
            raise no_such_snapshot(self.session_id, kept.length)

"""What is written to a log in Postgres: a group of appends, inside a transaction that somebody else owns.

A group is read in one round trip and written in one, however many appends it has. Each member is checked
before anything of it is kept, so that one that is refused leaves nothing behind and disturbs no neighbour.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sayso.errors import BrokenLog, Conflict, LockLost, Refused
from sayso.store.base import Entry, Index, Snapshot, Waiting
from sayso.store.chain import FIRST, link
from sayso.store.outcome import outcomes_of
from sayso.store.postgres_database import Link
from sayso.store.postgres_runner import lock_of
from sayso.store.postgres_schema import LOCK
from sayso.store.refusal import conflict, lock_lost, no_such_snapshot, refuse_strangers

__all__ = ["Append", "SaveSnapshot", "Statement", "write"]

_KNOWN = """
    SELECT session_id, number, length, (
        SELECT hash FROM sayso_entries WHERE sayso_entries.number = sayso_sessions.number AND seq = length - 1)
    FROM sayso_sessions WHERE session_id = ANY(%s)"""
_COUNTS = """
    SELECT coalesce(max(change), 0), (SELECT coalesce(max(number), 0) FROM sayso_sessions), pg_current_xact_id()::text
    FROM sayso_sessions"""
_OPEN = """
    SELECT request_id, session_id, kind, tool, created_at, expires_at, body FROM sayso_requests
    WHERE session_id = ANY(%s) AND open"""
_OWNERS = "SELECT request_id, session_id FROM sayso_requests WHERE request_id = ANY(%s)"
# Those locks that nobody holds: they could be taken, for this transaction.
_FREE = "SELECT key FROM unnest(%s::bigint[]) AS key WHERE pg_try_advisory_xact_lock(key)"
_SESSION = """
    INSERT INTO sayso_sessions (number, session_id, agent, title, state, runner, length, created_at, updated_at, change)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (number) DO UPDATE SET agent = excluded.agent, title = excluded.title, state = excluded.state,
        runner = excluded.runner, length = excluded.length, updated_at = excluded.updated_at,
        change = excluded.change"""
_REQUEST = """
    INSERT INTO sayso_requests (request_id, kind, tool, created_at, expires_at, body, session_id, open)
    VALUES (%s, %s, %s, %s, %s, %s, %s, true)
    ON CONFLICT (request_id) DO UPDATE SET kind = excluded.kind, tool = excluded.tool,
        created_at = excluded.created_at, expires_at = excluded.expires_at, body = excluded.body, open = true,
        closed_at = NULL, how = NULL, by = NULL, via = NULL"""
_CLOSE = """
    UPDATE sayso_requests SET open = false, expires_at = NULL, closed_at = %s, how = %s, by = %s, via = %s
    WHERE request_id = %s"""
_SNAPSHOT = """
    UPDATE sayso_sessions SET snapshot_length = %s, snapshot_version = %s, snapshot = %s WHERE number = %s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """`Store.append`."""

    session_id: str
    facts: Sequence[bytes]
    at: int
    time: str
    index: Index
    held: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSnapshot:
    """`Store.save_snapshot`."""

    session_id: str
    snapshot: Snapshot


Statement = Append | SaveSnapshot


@dataclass(slots=True)
class _Session:
    """A session as it is with what the members before wrote."""

    number: int
    length: int = 0
    last_hash: bytes | None = FIRST
    open: dict[str, Waiting] = field(default_factory=dict)


class _Group:
    """What is known of the sessions of a group, and the rows to write."""

    def __init__(self, connection: Link, statements: Sequence[Statement]) -> None:
        ids = list({each.session_id for each in statements})
        named = [r.request_id for each in statements if isinstance(each, Append) for r in each.index.waiting]
        held = {lock_of(each.held): each.held for each in statements if isinstance(each, Append) and each.held}
        # One round trip for all questions. The lock is held until the commit: whoever reads after it sees every change
        # up to the last one's number.
        with connection.pipeline():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            counted = connection.execute(_COUNTS)
            known = connection.execute(_KNOWN, (ids,))
            waiting = connection.execute(_OPEN, (ids,))
            owners = connection.execute(_OWNERS, (named,)) if named else None
            free = connection.execute(_FREE, (list(held),)) if held else None
        self._change, self._number, self.transaction = counted.fetchone() or (0, 0, "")
        self._sessions = {row[0]: _Session(*row[1:]) for row in known}
        for row in waiting:
            self._sessions[row[1]].open[row[0]] = Waiting(**dict(zip(_FIELDS, row, strict=True)))
        self._owners: dict[str, str] = dict(owners.fetchall()) if owners is not None else {}
        self._lost = {held[key] for (key,) in free} if free is not None else set[str]()
        self._rows: dict[str, list[tuple[object, ...]]] = {"sessions": [], "entries": [], "snapshots": []}
        # One list, because a request may be opened and closed in one group.
        self._requests: list[tuple[bool, tuple[object, ...]]] = []

    def add(self, statement: Statement) -> tuple[Entry, ...]:
        """The new entries. Raises `Conflict`, `LockLost`, `Refused` or `BrokenLog` before anything of it is kept."""
        session = self._sessions.get(statement.session_id)
        if isinstance(statement, SaveSnapshot):
            kept = statement.snapshot
            if session is None or session.length < kept.length:
                raise no_such_snapshot(statement.session_id, kept.length)
            self._rows["snapshots"].append((kept.length, kept.version, kept.body, session.number))
            return ()
        length = session.length if session else 0
        if length != statement.at:
            raise conflict(statement.session_id, length=length, at=statement.at)
        if statement.held in self._lost:
            raise lock_lost(statement.held)
        refuse_strangers(statement.session_id, statement.index, self._owners)
        if session is None:
            self._number += 1
            session = self._sessions[statement.session_id] = _Session(self._number)
        return self._append(session, statement)

    def _append(self, session: _Session, append: Append) -> tuple[Entry, ...]:
        previous = FIRST if append.at == 0 else session.last_hash
        if previous is None:
            raise BrokenLog(f"entry {append.at - 1} of session {append.session_id!r} is missing; nothing can follow it")
        entries = []
        for seq, fact in enumerate(append.facts, append.at):
            previous = link(previous, append.session_id, seq, append.time, fact)
            entries.append(Entry(append.session_id, seq, append.time, fact, previous))
        session.length, session.last_hash = append.at + len(entries), previous
        self._change += 1
        said, time = append.index, append.time
        row = (session.number, append.session_id, said.agent, said.title, said.state, said.runner)
        self._rows["sessions"].append((*row, session.length, time, time, self._change))
        self._rows["entries"] += [(session.number, each.seq, each.at, each.fact, each.hash) for each in entries]
        self._replace_waiting(session, append)
        return tuple(entries)

    def _replace_waiting(self, session: _Session, append: Append) -> None:
        """Write what differs, so that an append to a parked session does not write its requests again."""
        old, session.open = session.open, {each.request_id: each for each in append.index.waiting}
        for request_id, new in session.open.items():
            self._owners[request_id] = append.session_id
            if old.pop(request_id, None) != new:
                row = (request_id, new.kind, new.tool, new.created_at, new.expires_at, new.body, append.session_id)
                self._requests.append((True, row))
        for request_id, how, by, via in outcomes_of(append.index, old):
            self._requests.append((False, (append.time, how, by, via, request_id)))

    def flush(self, connection: Link) -> None:
        """Write all rows, and notify who listens once they are committed."""
        with connection.pipeline(), connection.cursor() as cursor:
            if self._rows["sessions"]:
                cursor.executemany(_SESSION, self._rows["sessions"])
                cursor.execute("NOTIFY sayso")
            if self._rows["entries"]:
                cursor.executemany("INSERT INTO sayso_entries VALUES (%s, %s, %s, %s, %s)", self._rows["entries"])
            for opens, row in self._requests:
                cursor.execute(_REQUEST if opens else _CLOSE, row)
            if self._rows["snapshots"]:
                cursor.executemany(_SNAPSHOT, self._rows["snapshots"])


_FIELDS = ("request_id", "session_id", "kind", "tool", "created_at", "expires_at", "body")


def write(connection: Link, statements: Sequence[Statement]) -> tuple[list[tuple[Entry, ...] | Exception], str]:
    """What became of each: its new entries, or the `Conflict`, `LockLost`, `Refused` or `BrokenLog` that it met.

    And the id of the transaction, by which the server can be asked whether it was committed.
    """
    group = _Group(connection, statements)
    outcomes: list[tuple[Entry, ...] | Exception] = []
    for statement in statements:
        try:
            outcomes.append(group.add(statement))
        except (Conflict, LockLost, Refused, BrokenLog) as refusal:
            outcomes.append(refusal)
    group.flush(connection)
    return outcomes, group.transaction

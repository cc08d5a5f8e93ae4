"""What is read from a log in SQLite. Each function is one question to one connection, in at most two statements.

A log only grows and an answered request keeps its row, so two statements need no transaction to agree.
"""

from collections.abc import Sequence

import apsw

from sayso.errors import BrokenLog
from sayso.store.base import Closed, Entry, SessionRow, Snapshot, Waiting
from sayso.store.refusal import no_such_page
from sayso.store.sqlite_schema import SEQ_BITS

__all__ = [
    "changed",
    "closed",
    "due",
    "find",
    "find_closed",
    "position",
    "read",
    "session",
    "sessions",
    "snapshot",
    "waiting",
]

_WAITING = "SELECT request_id, session_id, kind, tool, created_at, expires_at, body FROM requests"
_CLOSED = "SELECT request_id, session_id, kind, tool, created_at, closed_at, how, by, via, body FROM requests"
_ROW = "SELECT session_id, agent, title, state, length, created_at, updated_at, runner FROM sessions"


def read(connection: apsw.Connection, session_id: str, after: int, limit: int | None) -> Sequence[Entry]:
    """The entries with seq >= after, at most `limit`. Raises `BrokenLog` where one of them is missing."""
    found = connection.execute("SELECT number, length FROM sessions WHERE session_id = ?", (session_id,)).get
    if found is None:
        return []
    number, length = found
    after = max(after, 0)
    start = number << SEQ_BITS
    if limit is not None:
        length = min(length, after + max(limit, 0))
    rows = connection.execute(
        "SELECT position - ?, at, fact, hash FROM entries WHERE position >= ? AND position < ? ORDER BY position",
        (start, start + after, start + length),
    )
    entries = [Entry(session_id, seq, at, fact, digest) for seq, at, fact, digest in rows]
    for seq, entry in enumerate(entries, after):
        if entry.seq != seq:
            raise _missing(session_id, seq, length)
    if after + len(entries) < length:
        raise _missing(session_id, after + len(entries), length)
    return entries


def _missing(session_id: str, seq: int, length: int) -> BrokenLog:
    return BrokenLog(f"entry {seq} of session {session_id!r} is missing; its log should have {length} entries")


def snapshot(connection: apsw.Connection, session_id: str) -> Snapshot | None:
    """The cached fold of a session."""
    found = connection.execute(
        "SELECT snapshots.length, version, body FROM sessions JOIN snapshots USING (number) WHERE session_id = ?",
        (session_id,),
    ).get
    return Snapshot(*found) if found else None


def waiting(
    connection: apsw.Connection,
    *,
    session_id: str | None,
    kind: str | None,
    tool: str | None,
    after: str | None,
    limit: int,
    newest_first: bool,
) -> Sequence[Waiting]:
    """One page of open requests, by created_at and request_id. Raises `Refused` where `after` was never a request."""
    where, values = ["open"], []
    for column, value in (("session_id", session_id), ("kind", kind), ("tool", tool)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if after is not None:
        created_at = connection.execute("SELECT created_at FROM requests WHERE request_id = ?", (after,)).get
        if created_at is None:
            raise no_such_page("request", after)
        where.append(f"(created_at, request_id) {'<' if newest_first else '>'} (?, ?)")
        values += [created_at, after]
    order = "DESC" if newest_first else "ASC"
    rows = connection.execute(
        f"{_WAITING} WHERE {' AND '.join(where)} ORDER BY created_at {order}, request_id {order} LIMIT ?",
        (*values, max(limit, 0)),
    )
    return [_waiting(*row) for row in rows]


def find(connection: apsw.Connection, request_id: str) -> Waiting | None:
    """One open request."""
    found = connection.execute(f"{_WAITING} WHERE request_id = ? AND open", (request_id,)).get
    return _waiting(*found) if found else None


def closed(
    connection: apsw.Connection,
    *,
    session_id: str | None,
    tool: str | None,
    how: str | None,
    by: str | None,
    since: str | None,
    after: str | None,
    limit: int,
) -> Sequence[Closed]:
    """One page of closed requests, the last first. Raises `Refused` where `after` is no closed request."""
    where, values = ["NOT open"], []
    for column, value in (("session_id", session_id), ("tool", tool), ("how", how), ("by", by)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if since is not None:
        where.append("closed_at >= ?")
        values.append(since)
    if after is not None:
        closed_at = connection.execute("SELECT closed_at FROM requests WHERE request_id = ?", (after,)).get
        if closed_at is None:
            raise no_such_page("closed request", after)
        where.append("(closed_at, request_id) < (?, ?)")
        values += [closed_at, after]
    rows = connection.execute(
        f"{_CLOSED} WHERE {' AND '.join(where)} ORDER BY closed_at DESC, request_id DESC LIMIT ?",
        (*values, max(limit, 0)),
    )
    return [_closed(*row) for row in rows]


def find_closed(connection: apsw.Connection, request_id: str) -> Closed | None:
    """One closed request."""
    found = connection.execute(f"{_CLOSED} WHERE request_id = ? AND NOT open", (request_id,)).get
    return _closed(*found) if found else None


def due(connection: apsw.Connection, before: str, after: Waiting | None, limit: int) -> Sequence[Waiting]:
    """One page of open requests that expire by then, the one due first first."""
    where = " AND (expires_at, request_id) > (?, ?)" if after is not None else ""
    last = (after.expires_at, after.request_id) if after is not None else ()
    rows = connection.execute(
        f"{_WAITING} WHERE open AND expires_at <= ?{where} ORDER BY expires_at, request_id LIMIT ?",
        (before, *last, max(limit, 0)),
    )
    return [_waiting(*row) for row in rows]


def sessions(connection: apsw.Connection, state: str | None, after: str | None, limit: int) -> Sequence[SessionRow]:
    """One page of sessions, the one changed last first. Raises `Refused` where there is no session `after`."""
    where, values = [], []
    if state is not None:
        where.append("state = ?")
        values.append(state)
    if after is not None:
        change = connection.execute("SELECT change FROM sessions WHERE session_id = ?", (after,)).get
        if change is None:
            raise no_such_page("session", after)
        where.append("change < ?")
        values.append(change)
    condition = f"WHERE {' AND '.join(where)}" if where else ""
    rows = connection.execute(f"{_ROW} {condition} ORDER BY change DESC LIMIT ?", (*values, max(limit, 0)))
    return [_session(*row) for row in rows]


def session(connection: apsw.Connection, session_id: str) -> SessionRow | None:
    """One session."""
    found = connection.execute(f"{_ROW} WHERE session_id = ?", (session_id,)).get
    return _session(*found) if found else None


def position(connection: apsw.Connection, session_id: str | None = None) -> tuple[int, int]:
    """The length of that session (0 for an unknown one), and the number of the last change of the whole log."""
    found = connection.execute(
        "SELECT coalesce((SELECT length FROM sessions WHERE session_id = ?), 0),"
        " coalesce((SELECT max(change) FROM sessions), 0)",
        (session_id,),
    ).get
    length, change = found
    return length, change


def changed(connection: apsw.Connection, after: float) -> list[tuple[str, int, int]]:
    """The sessions changed after that change: session_id, length, change."""
    rows = connection.execute(
        "SELECT session_id, length, change FROM sessions WHERE change > ? ORDER BY change", (after,)
    )
    return [(session_id, length, change) for session_id, length, change in rows]


def _waiting(
    request_id: str, session_id: str, kind: str, tool: str, created_at: str, expires_at: str | None, body: bytes
) -> Waiting:
    return Waiting(
        request_id=request_id,
        session_id=session_id,
        kind=kind,
        tool=tool,
        created_at=created_at,
        expires_at=expires_at,
        body=body,
    )


def _closed(
    request_id: str,
    session_id: str,
    kind: str,
    tool: str,
    created_at: str,
    closed_at: str,
    how: str,
    by: str,
    via: str,
    body: bytes,
) -> Closed:
    return Closed(
        request_id=request_id,
        session_id=session_id,
        kind=kind,
        tool=tool,
        created_at=created_at,
        closed_at=closed_at,
        how=how,
        by=by,
        via=via,
        body=body,
    )


def _session(
    session_id: str,
    agent: str,
    title: str,
    state: str,
    length: int,
    created_at: str,
    updated_at: str,
    runner: str | None,
) -> SessionRow:
    return SessionRow(
        session_id=session_id,
        agent=agent,
        title=title,
        state=state,
        length=length,
        created_at=created_at,
        updated_at=updated_at,
        runner=runner,
    )

"""What is read from a log in Postgres. Each function is one question to one connection, in at most two statements.

A log only grows and an answered request keeps its row, so two statements need no transaction to agree.
"""

from collections.abc import Sequence
from typing import LiteralString

from psycopg.rows import class_row

from sayso.errors import BrokenLog
from sayso.store.base import Closed, Entry, SessionRow, Snapshot, Waiting
from sayso.store.postgres_database import Link
from sayso.store.refusal import no_such_page

__all__ = [
    "changed",
    "closed",
    "due",
    "find",
    "find_closed",
    "is_held",
    "position",
    "read",
    "session",
    "sessions",
    "snapshot",
    "waiting",
]

_WAITING: LiteralString = "SELECT request_id, session_id, kind, tool, created_at, expires_at, body FROM sayso_requests"
_CLOSED: LiteralString = (
    "SELECT request_id, session_id, kind, tool, created_at, closed_at, how, by, via, body FROM sayso_requests"
)
_ROW: LiteralString = (
    "SELECT session_id, agent, title, state, length, created_at, updated_at, runner FROM sayso_sessions"
)


def _conditions(*pairs: tuple[LiteralString, object]) -> tuple[LiteralString, list[object]]:
    given = [pair for pair in pairs if pair[1] is not None]
    return "".join([" AND " + condition for condition, _ in given]), [value for _, value in given]


def read(link: Link, session_id: str, after: int, limit: int | None) -> Sequence[Entry]:
    """The entries with seq >= after, at most `limit`. Raises `BrokenLog` where one of them is missing."""
    found = link.execute("SELECT number, length FROM sayso_sessions WHERE session_id = %s", (session_id,)).fetchone()
    if found is None:
        return []
    number, length = found
    after = max(after, 0)
    if limit is not None:
        length = min(length, after + max(limit, 0))
    rows = link.execute(
        "SELECT seq, at, fact, hash FROM sayso_entries WHERE number = %s AND seq >= %s AND seq < %s ORDER BY seq",
        (number, after, length),
    )
    entries = [Entry(session_id, seq, at, fact, digest) for seq, at, fact, digest in rows]
    for seq in range(after, length):
        if seq - after >= len(entries) or entries[seq - after].seq != seq:
            raise BrokenLog(f"entry {seq} of session {session_id!r} is missing; its log should have {found[1]} entries")
    return entries


def snapshot(link: Link, session_id: str) -> Snapshot | None:
    """The cached fold of a session."""
    found = link.execute(
        "SELECT snapshot_length, snapshot_version, snapshot FROM sayso_sessions"
        " WHERE session_id = %s AND snapshot IS NOT NULL",
        (session_id,),
    ).fetchone()
    return Snapshot(*found) if found else None


def waiting(
    link: Link,
    *,
    session_id: str | None,
    kind: str | None,
    tool: str | None,
    after: str | None,
    limit: int,
    newest_first: bool,
) -> Sequence[Waiting]:
    """One page of open requests, by created_at and request_id. Raises `Refused` where `after` was never a request."""
    where, values = _conditions(("session_id = %s", session_id), ("kind = %s", kind), ("tool = %s", tool))
    if after is not None:
        found = link.execute("SELECT created_at FROM sayso_requests WHERE request_id = %s", (after,)).fetchone()
        if found is None:
            raise no_such_page("request", after)
        where += (
            " AND (created_at, request_id) < (%s, %s)" if newest_first else " AND (created_at, request_id) > (%s, %s)"
        )
        values += [found[0], after]
    order: LiteralString = "created_at DESC, request_id DESC" if newest_first else "created_at, request_id"
    with link.cursor(row_factory=class_row(Waiting)) as cursor:
        question = f"{_WAITING} WHERE open{where} ORDER BY {order} LIMIT %s"
        return cursor.execute(question, (*values, max(limit, 0))).fetchall()


def find(link: Link, request_id: str) -> Waiting | None:
    """One open request."""
    with link.cursor(row_factory=class_row(Waiting)) as cursor:
        return cursor.execute(f"{_WAITING} WHERE request_id = %s AND open", (request_id,)).fetchone()


def closed(
    link: Link,
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
    where, values = _conditions(
        ("session_id = %s", session_id),
        ("tool = %s", tool),
        ("how = %s", how),
        ("by = %s", by),
        ("closed_at >= %s", since),
    )
    if after is not None:
        last = find_closed(link, after)
        if last is None:
            raise no_such_page("closed request", after)
        where += " AND (closed_at, request_id) < (%s, %s)"
        values += [last.closed_at, after]
    with link.cursor(row_factory=class_row(Closed)) as cursor:
        question = f"{_CLOSED} WHERE NOT open{where} ORDER BY closed_at DESC, request_id DESC LIMIT %s"
        return cursor.execute(question, (*values, max(limit, 0))).fetchall()


def find_closed(link: Link, request_id: str) -> Closed | None:
    """One closed request."""
    with link.cursor(row_factory=class_row(Closed)) as cursor:
        return cursor.execute(f"{_CLOSED} WHERE request_id = %s AND NOT open", (request_id,)).fetchone()


def due(link: Link, before: str, after: Waiting | None, limit: int) -> Sequence[Waiting]:
    """One page of open requests that expire by then, the one due first first."""
    where: LiteralString = " AND (expires_at, request_id) > (%s, %s)" if after is not None else ""
    last = (after.expires_at, after.request_id) if after is not None else ()
    with link.cursor(row_factory=class_row(Waiting)) as cursor:
        question = f"{_WAITING} WHERE open AND expires_at <= %s{where} ORDER BY expires_at, request_id LIMIT %s"
        return cursor.execute(question, (before, *last, max(limit, 0))).fetchall()


def sessions(link: Link, state: str | None, after: str | None, limit: int) -> Sequence[SessionRow]:
    """One page of sessions, the one changed last first. Raises `Refused` where there is no session `after`."""
    change = None
    if after is not None:
        found = link.execute("SELECT change FROM sayso_sessions WHERE session_id = %s", (after,)).fetchone()
        if found is None:
            raise no_such_page("session", after)
        change = found[0]
    where, values = _conditions(("state = %s", state), ("change < %s", change))
    with link.cursor(row_factory=class_row(SessionRow)) as cursor:
        question = f"{_ROW} WHERE true{where} ORDER BY change DESC LIMIT %s"
        return cursor.execute(question, (*values, max(limit, 0))).fetchall()


def session(link: Link, session_id: str) -> SessionRow | None:
    """One session."""
    with link.cursor(row_factory=class_row(SessionRow)) as cursor:
        return cursor.execute(f"{_ROW} WHERE session_id = %s", (session_id,)).fetchone()


def position(link: Link, session_id: str | None = None) -> tuple[int, int]:
    """The length of that session (0 for an unknown one), and the number of the last change of the whole log."""
    found = link.execute(
        "SELECT coalesce((SELECT length FROM sayso_sessions WHERE session_id = %s), 0),"
        " coalesce((SELECT max(change) FROM sayso_sessions), 0)",
        (session_id,),
    ).fetchone()
    return (found[0], found[1]) if found else (0, 0)


def changed(link: Link, after: int) -> list[tuple[str, int, int]]:
    """The sessions changed after that change: session_id, length, change."""
    rows = link.execute(
        "SELECT session_id, length, change FROM sayso_sessions WHERE change > %s ORDER BY change", (after,)
    )
    return [(session_id, length, change) for session_id, length, change in rows]


def is_held(link: Link, high: int, low: int) -> bool:
    """Whether anybody holds the advisory lock of these two halves of a key, in this database."""
    found = link.execute(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        " AND classid = %s::bigint::oid AND objid = %s::bigint::oid)",
        (high, low),
    ).fetchone()
    return bool(found and found[0])

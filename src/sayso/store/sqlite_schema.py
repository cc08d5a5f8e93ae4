"""The tables of a log in SQLite, and the way from each older shape to this one. It must not know who uses them.

A database is ours by its application id; its shape is counted in `user_version`, which is the number of migrations
that have run. A migration that was released is never edited: the next shape is one more at the end.
"""

from typing import TYPE_CHECKING

from sayso.errors import NewerLog, StoreError

if TYPE_CHECKING:
    import apsw

__all__ = ["APPLICATION_ID", "MIGRATIONS", "SEQ_BITS", "bring_up_to_date"]

APPLICATION_ID = 0x73617973
"""`says`, at offset 68 of the file (https://sqlite.org/fileformat2.html#application_id)."""

SEQ_BITS = 32
"""An entry's position is its session's number, then this many bits of seq: a session's entries lie side by side."""

_FIRST = (
    """CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        title TEXT NOT NULL,
        state TEXT NOT NULL,
        runner TEXT,
        length INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        change INTEGER NOT NULL UNIQUE -- counts the changes of the whole log; that of the last one to this session
    ) STRICT""",
    "CREATE INDEX sessions_by_state ON sessions (state, change)",
    """CREATE TABLE entries (
        position INTEGER PRIMARY KEY, -- session number << 32 | seq
        at TEXT NOT NULL,
        fact BLOB NOT NULL,
        hash BLOB NOT NULL
    ) STRICT""",
    # A request that was closed keeps its row: who answered it, and when, is what the next to answer is told.
    """CREATE TABLE requests (
        request_id TEXT NOT NULL PRIMARY KEY,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        tool TEXT NOT NULL,
        created_at TEXT NOT NULL,
        expires_at TEXT,
        body BLOB NOT NULL,
        open INTEGER NOT NULL,
        closed_at TEXT,
        how TEXT,
        by TEXT,
        via TEXT
    ) STRICT""",
    "CREATE INDEX open_requests ON requests (created_at, request_id) WHERE open",
    "CREATE INDEX open_requests_by_session ON requests (session_id, created_at, request_id) WHERE open",
    "CREATE INDEX open_requests_by_kind ON requests (kind, created_at, request_id) WHERE open",
    "CREATE INDEX open_requests_by_tool ON requests (tool, created_at, request_id) WHERE open",
    "CREATE INDEX open_requests_by_expiry ON requests (expires_at, request_id) WHERE open AND expires_at IS NOT NULL",
    "CREATE INDEX closed_requests ON requests (closed_at, request_id) WHERE NOT open",
    "CREATE INDEX closed_requests_by_session ON requests (session_id, closed_at, request_id) WHERE NOT open",
    """CREATE TABLE snapshots (
        number INTEGER PRIMARY KEY,
        length INTEGER NOT NULL,
        version INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)


def bring_up_to_date(connection: "apsw.Connection", path: str) -> None:
    """Create the tables in a new file, or migrate an older one.

    Raises `NewerLog` for a later shape and `StoreError` for a database that is not a log; neither is touched.
    """
    if _version(connection, path) == len(MIGRATIONS):
        return
    # Persistent, and it cannot be changed inside a transaction.
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Looked at again: another process may have been faster.
        for migration in MIGRATIONS[_version(connection, path) :]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: "apsw.Connection", path: str) -> int:
    ours = connection.pragma("application_id") == APPLICATION_ID
    if not ours:
        if connection.execute("SELECT EXISTS (SELECT * FROM sqlite_schema)").get:
            raise StoreError(f"{path} is another program's database; give Sayso a path of its own")
        return 0
    version = connection.pragma("user_version")
    if not isinstance(version, int) or not 0 <= version <= len(MIGRATIONS):
        raise NewerLog(
            f"{path} was written by a later version of Sayso (its shape is {version}, this one knows up to "
            f"{len(MIGRATIONS)}); upgrade Sayso to use it. It was not touched"
        )
    return version

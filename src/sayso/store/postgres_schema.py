"""The tables of a log in Postgres, and the way from each older shape to this one. It must not know who uses them.

A database is ours once it has the table `sayso_meta`, whose `version` is the number of migrations that have run. A
migration that was released is never edited: the next shape is one more at the end.
"""

from typing import TYPE_CHECKING, LiteralString

from sayso.errors import NewerLog

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["LOCK", "MIGRATIONS", "bring_up_to_date"]

LOCK = 0x7361_7973_6F00
"""The advisory lock under which a database is written or migrated; whoever holds it numbers the changes."""

# Collated "C", because times and ids are compared byte by byte, whatever language the database speaks.
_FIRST: tuple[LiteralString, ...] = (
    """CREATE TABLE sayso_sessions (
        number bigint PRIMARY KEY,
        session_id text COLLATE "C" NOT NULL UNIQUE,
        agent text NOT NULL,
        title text NOT NULL,
        state text NOT NULL,
        runner text,
        length bigint NOT NULL,
        created_at text NOT NULL,
        updated_at text NOT NULL,
        change bigint NOT NULL UNIQUE,
        snapshot_length bigint,
        snapshot_version bigint,
        snapshot bytea
    )""",
    "CREATE INDEX sayso_sessions_by_state ON sayso_sessions (state, change)",
    """CREATE TABLE sayso_entries (
        number bigint NOT NULL,
        seq bigint NOT NULL,
        at text NOT NULL,
        fact bytea NOT NULL,
        hash bytea NOT NULL,
        PRIMARY KEY (number, seq)
    )""",
    """CREATE TABLE sayso_requests (
        request_id text COLLATE "C" PRIMARY KEY,
        session_id text COLLATE "C" NOT NULL,
        kind text NOT NULL,
        tool text NOT NULL,
        created_at text COLLATE "C" NOT NULL,
        expires_at text COLLATE "C",
        body bytea NOT NULL,
        open boolean NOT NULL,
        closed_at text COLLATE "C",
        how text,
        by text,
        via text
    )""",
    "CREATE INDEX sayso_open ON sayso_requests (created_at, request_id) WHERE open",
    "CREATE INDEX sayso_open_by_session ON sayso_requests (session_id, created_at, request_id) WHERE open",
    "CREATE INDEX sayso_open_by_kind ON sayso_requests (kind, created_at, request_id) WHERE open",
    "CREATE INDEX sayso_open_by_tool ON sayso_requests (tool, created_at, request_id) WHERE open",
    "CREATE INDEX sayso_due ON sayso_requests (expires_at, request_id) WHERE open AND expires_at IS NOT NULL",
    "CREATE INDEX sayso_closed ON sayso_requests (closed_at, request_id) WHERE NOT open",
    "CREATE INDEX sayso_closed_by_session ON sayso_requests (session_id, closed_at, request_id) WHERE NOT open",
)

_SECOND: tuple[LiteralString, ...] = (
    # What is open changes faster than any statistics of it. Those of a moment when nothing was open make every list and
    # every append scan all that is open now (20 ms at 20,000). Without any, half the table is assumed, and each index
    # fits one question.
    "ALTER TABLE sayso_requests ALTER COLUMN open SET STATISTICS 0",
    "ALTER TABLE sayso_requests ALTER COLUMN open TYPE boolean",  # forgets the older ones; rewrites nothing
    # The first page starts behind the entries of what was answered, until a vacuum: a fifth of a million are too many.
    "ALTER TABLE sayso_requests SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)",
    "CREATE INDEX sayso_closed_by_person ON sayso_requests (by, closed_at, request_id) WHERE NOT open",
    "CREATE INDEX sayso_closed_by_how ON sayso_requests (how, closed_at, request_id) WHERE NOT open",
)

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (_FIRST, _SECOND)


def bring_up_to_date(connection: "Connection[tuple[object, ...]]", where: str) -> None:
    """Create the tables, or migrate older ones, under a lock that keeps every other process from doing the same.

    Raises `NewerLog` where a later version of Sayso made them, before anything was changed.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute("CREATE TABLE IF NOT EXISTS sayso_meta (version integer NOT NULL)")
        found = connection.execute("SELECT version FROM sayso_meta").fetchone()
        version = int(str(found[0])) if found else 0
        if version > len(MIGRATIONS):
            raise NewerLog(
                f"{where} was written by a later version of Sayso (its shape is {version}, this one knows up to "
                f"{len(MIGRATIONS)}); upgrade Sayso to use it. It was not touched"
            )
        if version == len(MIGRATIONS):
            return
        for migration in MIGRATIONS[version:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute("DELETE FROM sayso_meta")
        connection.execute("INSERT INTO sayso_meta VALUES (%s)", (len(MIGRATIONS),))

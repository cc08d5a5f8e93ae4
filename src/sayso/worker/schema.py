"""The tables of the queue: Procrastinate's own, made by its own statements, and kept up with its releases.

Which of its migrations are in is noted in `sayso_queue`. Those that Procrastinate names `pre` suit older workers too
and are made by whoever comes first; those that it names `post` are made by `sayso store migrate`, once the last
older worker has ended.
"""

from collections.abc import Sequence
from pathlib import Path

import psycopg
from procrastinate.schema import SchemaManager

from sayso.errors import StoreError, StoreGone
from sayso.store.postgres_schema import LOCK

__all__ = ["bring_up_to_date"]

_Link = psycopg.Connection[tuple[object, ...]]


def bring_up_to_date(dsn: str, where: str, *, post: bool = False) -> Sequence[str]:
    """Create or migrate the tables; the names of the migrations made. Blocks.

    post: also those for which no older worker may be left. Raises StoreError where that cannot be done.
    """
    try:
        with psycopg.connect(dsn, connect_timeout=5) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            return _migrate(connection, post)
    except psycopg.OperationalError as error:
        raise StoreGone(f"{where} cannot be reached ({str(error).strip().splitlines()[0]})") from None
    except psycopg.Error as error:
        raise StoreError(f"{where}: its tables cannot be made: {str(error).strip().splitlines()[0]}") from None


def _migrate(connection: _Link, post: bool) -> Sequence[str]:
    there = sorted(path.name for path in Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    connection.execute("CREATE TABLE IF NOT EXISTS sayso_queue (migration text PRIMARY KEY)")
    known = {str(name) for (name,) in connection.execute("SELECT migration FROM sayso_queue")}
    if not known:
        connection.execute(SchemaManager.get_schema().encode())
        todo = there  # the whole has every one of them in it
    else:
        todo = [name for name in there if name not in known and (post or "_post_" not in name)]
        for name in todo:
            connection.execute((Path(SchemaManager.get_migrations_path()) / name).read_bytes())
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO sayso_queue VALUES (%s)", [(name,) for name in todo])
    return todo

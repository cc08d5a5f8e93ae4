"""The database: opens connections to it, lends them, and says in our words what went wrong with it.

It must not know what is read or written. No message shows the DSN, which may hold a password.
"""

import threading
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from sayso.errors import StoreError, StoreGone
from sayso.store.postgres_schema import bring_up_to_date
from sayso.store.refusal import closed

__all__ = ["Link", "PostgresDatabase", "options_of"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
Link = psycopg.Connection[tuple[Any, ...]]

# Of SQLSTATE: connection exceptions, and the three that a server gives while it stops or starts.
_GOING = ("08", "57P01", "57P02", "57P03")

# This side must notice a silent network before the server does (runner.py sets its side), and frees the lock.
_KEEPALIVE = {"keepalives_idle": 2, "keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": 5000}


def options_of(dsn: str, timeout: float) -> dict[str, Any]:
    """What every connection is opened with besides the DSN, which comes first: a network that is gone is noticed."""
    options: dict[str, Any] = {"connect_timeout": max(2, int(timeout)), **_KEEPALIVE}
    parts = conninfo_to_dict(dsn)
    return {name: value for name, value in options.items() if name not in parts}


class PostgresDatabase:
    """One database. Thread-safe; connections are opened when first needed. timeout: seconds to wait for one."""

    def __init__(self, dsn: str, timeout: float, readers: int) -> None:
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.Error:
            # libpq quotes the part that it cannot read, and that may be the password.
            raise StoreError("the DSN cannot be read; write postgresql://user@host:port/database") from None
        host, port = parts.get("host") or "local socket", parts.get("port") or "5432"
        self.where = f"Postgres database {parts.get('dbname') or 'of the user'!s} at {host}:{port}"
        self._dsn = dsn
        self._options = options_of(dsn, timeout)
        self._lock = threading.Lock()
        self._ready = False
        self._timeout = timeout
        self._pool: ConnectionPool[Link] = ConnectionPool(
            dsn,
            kwargs={**self._options, "autocommit": True},
            min_size=0,
            max_size=readers,
            timeout=timeout,
            # Its own attempts come further and further apart, and nobody else tries meanwhile: after a long outage the
            # next caller would wait for one of them. Given up early, the next caller tries at once.
            reconnect_timeout=timeout,
            check=ConnectionPool.check_connection,
            open=False,
        )

    def open(self) -> Link:
        """A connection of the caller's own, in autocommit, to tables of our shape. Raises `StoreError`."""
        try:
            connection = psycopg.connect(self._dsn, autocommit=True, **self._options)
        except psycopg.Error as error:
            raise self.explain(error) from None
        ready = False
        try:
            with self._lock:
                if not self._ready:
                    bring_up_to_date(connection, self.where)
                    self._ready = True
            ready = True
        except psycopg.Error as error:
            raise self.explain(error) from None
        finally:
            if not ready:
                connection.close()
        return connection

    def run(self, call: Callable[Concatenate[Link, _P], _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call it with a connection that nobody else uses meanwhile; raises `StoreError` for the database's errors."""
        if not self._ready:
            self.open().close()
        try:
            self._pool.open()
            with self._pool.connection() as connection:
                return call(connection, *args, **kwargs)
        except PoolClosed:
            raise closed() from None
        except PoolTimeout:
            raise StoreGone(
                f"{self.where}: no connection within {self._timeout:g} s; see that the server runs and has some free"
            ) from None
        except psycopg.Error as error:
            raise self.explain(error) from None

    def close(self) -> None:
        """Close the connections that are lent; the others are their owners'."""
        self._pool.close()

    def explain(self, error: psycopg.Error) -> StoreError:
        """The database's error as ours. Its own text names host and user, and never the password."""
        match error:
            case psycopg.errors.DiskFull():
                return StoreError(f"{self.where}: its disk is full, so nothing of this was written; make room")
            case psycopg.errors.ReadOnlySqlTransaction():
                return StoreError(f"{self.where} is read-only (a replica?); use the DSN of the primary")
            case psycopg.errors.InsufficientPrivilege():
                return StoreError(f"{self.where}: this user may not do that; grant it the tables sayso_*")
            case psycopg.errors.InvalidPassword() | psycopg.errors.InvalidAuthorizationSpecification():
                return StoreError(f"{self.where}: user or password was refused; correct them in the DSN")
            case psycopg.OperationalError() if error.sqlstate is None:
                return StoreGone(f"{self.where} cannot be reached; start it, or correct the host and port in the DSN")
            case psycopg.OperationalError() if (error.sqlstate or "").startswith(_GOING):
                return StoreGone(f"{self.where} is shutting down or starting; it may be back in a moment")
            case _:
                first = str(error).strip().split("\n")[0]
                return StoreError(f"{self.where}: {first or type(error).__name__}")

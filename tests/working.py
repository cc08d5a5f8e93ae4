"""Small worlds for tests of workers: workers in this process and as real ones, and a door to the database to shut."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sayso.host import Host
from sayso.store import PostgresStore
from sayso.worker import Worker, fronting
from sayso.worker.queue import Queue

_T = TypeVar("_T")


@contextlib.asynccontextmanager
async def worker(host: Host, *, trouble: list[BaseException] | None = None) -> AsyncIterator[None]:
    """A worker in this process, over the host's own store."""
    assert isinstance(host.store, PostgresStore)
    stop, ready, heard = asyncio.Event(), asyncio.Event(), trouble if trouble is not None else []
    async with Queue(host.store) as queue:
        working = Worker(host, queue, grace=2, on_trouble=lambda _, problem: heard.append(problem))
        task = asyncio.create_task(working.run(stop, ready.set))
        await ready.wait()
        try:
            yield
        finally:
            stop.set()
            await task
            await host.store.close()


@contextlib.asynccontextmanager
async def front(host: Host) -> AsyncIterator[Host]:
    """A host that takes what people say, and drives nothing."""
    assert isinstance(host.store, PostgresStore)
    try:
        async with fronting(host, host.store), host:
            yield host
    finally:
        await host.store.close()


async def until(look: Callable[[], Awaitable[_T]], seconds: float = 30) -> _T:
    """What `look` finds, once it finds something."""
    async with asyncio.timeout(seconds):
        while not (found := await look()):  # noqa: ASYNC110 - other processes write files, which wake nobody
            await asyncio.sleep(0.02)
        return found


class WorkerProcess:
    """`sayso worker APP` as a real process. `said`: what it printed, both ways."""

    def __init__(self, app: str, folder: Path, **environment: str) -> None:
        self.log = folder / f"worker{len(list(folder.glob('worker*.log')))}.log"
        tests = str(Path(__file__).parent)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sayso.cli", "worker", app, "--grace", "2"],
                env={**os.environ, "PYTHONPATH": tests, **environment},
                stdout=log,
                stderr=log,
            )

    @property
    def said(self) -> str:
        return self.log.read_text()

    async def ready(self) -> "WorkerProcess":
        async def look() -> bool:
            assert self.process.poll() is None, self.said
            return "Working for" in self.said

        await until(look)
        return self

    async def end(self) -> int:
        """Its exit code after SIGTERM."""
        self.process.terminate()
        return await asyncio.to_thread(self.process.wait, 30)


class Door:
    """A way to a Postgres that can be shut and opened again: a socket that passes everything on while it is open."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self._target = Path(str(conninfo_to_dict(dsn)["host"])) / ".s.PGSQL.5432"
        self.dsn = make_conninfo(dsn, host=str(folder))
        self._path = folder / ".s.PGSQL.5432"
        self._server: asyncio.Server | None = None
        self._inside: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._enter, str(self._path))

    async def shut(self) -> None:
        """Everybody inside is thrown out, and nobody comes in."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._path.unlink(missing_ok=True)
        for task in self._inside:
            task.cancel()
        if self._inside:
            await asyncio.wait(self._inside)

    def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass(reader, writer))
        self._inside.add(task)
        task.add_done_callback(self._inside.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_unix_connection(str(self._target))
        ways = [asyncio.create_task(_copy(*way)) for way in ((reader, there), (there_reader, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for end in (writer, there):
                end.close()
            await asyncio.wait(ways)
            for end in (writer, there):
                with contextlib.suppress(OSError):
                    await end.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()

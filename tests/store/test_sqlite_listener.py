"""Who is told of commits by other processes, and what it costs."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from sayso.errors import StoreError
from sayso.store import SQLiteStore, sqlite_listener
from sayso.store.sqlite_file import SQLiteFile
from sayso.store.sqlite_listener import Listener
from sayso.store.sqlite_statement import Append
from stores import IDLE, NOON, add, parked, request_of


@pytest.fixture
def only_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by himself in the time that a test takes."""
    monkeypatch.setattr(sqlite_listener, "_LOOK", 600.0)


@pytest.mark.usefixtures("only_rings")
def test_it_is_the_ring_of_a_commit_that_ends_a_wait(tmp_path: Path) -> None:
    async def story() -> None:
        writer, watchers = SQLiteStore(tmp_path / "log.db"), [SQLiteStore(tmp_path / "log.db") for _ in range(2)]
        for at in range(100):
            waits = [asyncio.create_task(each.wait(f"s{at % 3}", after=at // 3)) for each in watchers]
            if at % 2:
                await asyncio.wait(waits, timeout=0.001)
            await add(writer, f"s{at % 3}", b"a", at=at // 3)
            await asyncio.wait_for(asyncio.gather(*waits), 10)
        for each in (writer, *watchers):
            await each.close()

    asyncio.run(story())


@pytest.mark.usefixtures("only_rings")
def test_many_who_come_and_go_while_others_write_are_all_told(tmp_path: Path) -> None:
    async def follow(store: SQLiteStore, session_id: str) -> None:
        for length in range(20):
            await store.wait(session_id, after=length)

    async def write(store: SQLiteStore, session_id: str) -> None:
        for at in range(20):
            await add(store, session_id, b"a", at=at)

    async def story() -> None:
        writer, watcher = SQLiteStore(tmp_path / "log.db"), SQLiteStore(tmp_path / "log.db")
        names = [f"s{n}" for n in range(20)]
        async with asyncio.timeout(30):
            await asyncio.gather(*(follow(watcher, name) for name in names), *(write(writer, name) for name in names))
        await writer.close()
        await watcher.close()

    asyncio.run(story())


class Interrupted(SQLiteFile):
    """A file that does something else first, whenever it was read."""

    meanwhile: Callable[[], object] | None = None

    def run(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = super().run(call, *args, **kwargs)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return result


@pytest.mark.usefixtures("only_rings")
def test_who_comes_while_the_listener_looks_is_told_of_what_others_were_told_before(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        file = Interrupted(str(store.path), 5)
        listener = Listener(file, tmp_path / "log.db-bells")
        await add(store, "first", b"a")
        changes = listener.changes(1)
        await add(store, "s", b"a")  # the second change of the log
        assert await anext(changes) == "s"
        came = threading.Event()
        late: list[asyncio.Task[None]] = []

        def come() -> None:
            # This one asked for the length of s before it changed.
            late.append(asyncio.create_task(listener.wait("s", 0, position=1)))
            asyncio.get_running_loop().call_soon(came.set)

        loop = asyncio.get_running_loop()
        file.meanwhile = lambda: (loop.call_soon_threadsafe(come), came.wait(10))
        await add(store, "t", b"a")
        assert await asyncio.wait_for(anext(changes), 10) == "t"
        await asyncio.wait_for(late[0], 10)
        await asyncio.to_thread(listener.close)
        file.close_idle()
        await store.close()

    asyncio.run(story())


def test_a_commit_whose_process_was_killed_before_it_could_ring_is_noticed_all_the_same(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        wait = asyncio.create_task(store.wait("s", after=1))
        await asyncio.wait([wait], timeout=0.02)
        silent = apsw.Connection(str(store.path))
        with silent:
            Append(session_id="s", facts=[b"b"], at=1, time=NOON, index=IDLE).write(silent)
        silent.close()
        await asyncio.wait_for(wait, 10)
        await store.close()

    asyncio.run(story())


def test_a_store_that_cannot_be_read_tells_so_to_who_waits(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        changes = store.changes()
        wait = asyncio.create_task(store.wait("s", after=1))
        await asyncio.wait([wait], timeout=0.02)
        store.path.rename(tmp_path / "away.db")
        async with asyncio.timeout(10):
            with pytest.raises(StoreError, match="gone"):
                await wait
            with pytest.raises(StoreError, match="gone"):
                await anext(changes)
            (tmp_path / "away.db").rename(store.path)
            await add(store, "s", b"b", at=1)
            while True:
                try:
                    assert await anext(changes) == "s"
                    break
                except StoreError:
                    continue  # told once more before the file was back
        await store.close()

    asyncio.run(story())


def test_a_hundred_parked_sessions_cost_no_thread_and_no_task(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        for n in range(100):
            await add(store, f"s{n}", b"asked", at=0, index=parked(request_of(f"s{n}", f"r{n}")))
        assert (len(asyncio.all_tasks()), threading.active_count()) == (tasks, threads)
        await store.close()

    asyncio.run(story())


def test_closing_leaves_no_thread_no_open_file_and_only_the_log(tmp_path: Path) -> None:
    async def story() -> None:
        before = set(os.listdir("/dev/fd"))
        store = SQLiteStore(tmp_path / "log.db")
        async with store.runner():
            await add(store, "s", b"a")
            await asyncio.wait([asyncio.create_task(store.wait("s", after=0))])
            store.changes()
        await store.close()
        assert set(os.listdir("/dev/fd")) == before

    asyncio.run(story())
    assert {path.name for path in tmp_path.iterdir()} == {"log.db", "log.db-bells", "log.db-runners"}
    assert list(tmp_path.glob("log.db-*/*")) == []

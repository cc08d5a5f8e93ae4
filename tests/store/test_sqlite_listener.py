"""Who is told of commits by other processes, and what it costs."""

import asyncio
import os
from pathlib import Path

import apsw
import pytest

from sayso.errors import StoreError
from sayso.store import SQLiteStore
from sayso.store.sqlite_statement import Append
from stores import IDLE, NOON, add, parked, request_of


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
        tasks, threads = len(asyncio.all_tasks()), len(os.listdir("/proc/self/task"))
        for n in range(100):
            await add(store, f"s{n}", b"asked", at=0, index=parked(request_of(f"s{n}", f"r{n}")))
        assert (len(asyncio.all_tasks()), len(os.listdir("/proc/self/task"))) == (tasks, threads)
        await store.close()

    asyncio.run(story())


def test_closing_leaves_no_thread_no_open_file_and_only_the_log(tmp_path: Path) -> None:
    async def story() -> None:
        before = set(os.listdir("/proc/self/fd"))
        store = SQLiteStore(tmp_path / "log.db")
        async with store.runner():
            await add(store, "s", b"a")
            await asyncio.wait([asyncio.create_task(store.wait("s", after=0))])
            store.changes()
        await store.close()
        assert set(os.listdir("/proc/self/fd")) == before

    asyncio.run(story())
    assert {path.name for path in tmp_path.iterdir()} == {"log.db", "log.db-bells", "log.db-runners"}
    assert list(tmp_path.glob("log.db-*/*")) == []

"""An SQLite store whose file cannot be used: a clear error, nothing half-applied, and on when the reason is gone."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from disks import Disk
from sayso.errors import StoreError
from sayso.store import Snapshot, SQLiteStore
from sayso.store.chain import verify
from stores import add, parked, request_of

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """File permissions hold inside, also where the tests are run by root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that an unprivileged user may reach."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        yield Path(directory)


async def facts(store: SQLiteStore, session_id: str = "s") -> list[bytes]:
    return [each.fact for each in await store.read(session_id)]


async def written_and_closed(path: Path, *facts: bytes) -> None:
    store = SQLiteStore(path)
    await add(store, "s", *facts)
    await store.close()


# Full and broken disks


def test_a_full_disk_is_a_clear_error_with_nothing_half_applied_and_it_goes_on_when_there_is_room(
    tmp_path: Path, disk: Disk
) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        disk.full = True
        for _ in range(2):
            with pytest.raises(StoreError, match=r"log.db: the disk is full.*make room"):
                await add(store, "s", b"b", b"c", at=1, index=parked(request_of("s", "r")))
        assert await facts(store) == [b"a"]
        assert list(await store.waiting()) == []
        disk.full = False
        await add(store, "s", b"b", at=1)
        assert await facts(store) == [b"a", b"b"]
        assert verify(await store.read("s")) is None
        await store.close()

    asyncio.run(story())


def test_everybody_who_waits_for_a_commit_is_told_that_the_disk_is_full(tmp_path: Path, disk: Disk) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        disk.full = True
        appends = [add(store, f"s{n}", b"a", at=0) for n in range(10)]
        outcomes = await asyncio.gather(*appends, store.save_snapshot("s", Snapshot(1, 1, b"")), return_exceptions=True)
        assert {type(each) for each in outcomes} == {StoreError}
        disk.full = False
        assert [row.session_id for row in await store.sessions()] == ["s"]
        await store.close()

    asyncio.run(story())


def test_an_append_that_could_not_be_synced_is_not_acknowledged(tmp_path: Path, disk: Disk) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a", at=0)
        disk.breaks = True
        with pytest.raises(StoreError, match=r"log.db: .*the disk broke"):
            await add(store, "s", b"b", at=1)
        disk.breaks = False
        assert await facts(store) == [b"a"]
        await add(store, "s", b"c", at=1)
        assert await facts(store) == [b"a", b"c"]
        await store.close()

    asyncio.run(story())


# Files that cannot be used


def test_a_file_that_may_not_be_written_can_be_read_and_is_written_once_it_may(public: Path) -> None:
    async def story() -> None:
        path = public / "log.db"
        await written_and_closed(path, b"a")
        path.chmod(0o444)
        with unprivileged():
            store = SQLiteStore(path)
            assert await facts(store) == [b"a"]
            with pytest.raises(StoreError, match="read-only for this process"):
                await add(store, "s", b"b", at=1)
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            file.chmod(0o666)
        with unprivileged():
            await add(store, "s", b"b", at=1)
            assert await facts(store) == [b"a", b"b"]
            await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("where", ["no/such/directory/log.db", "."])
def test_a_path_where_no_file_can_be_is_a_clear_error(tmp_path: Path, where: str) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / where)
        with pytest.raises(StoreError, match="cannot be opened; its directory must exist"):
            await add(store, "s", b"a", at=0)
        with pytest.raises(StoreError, match="cannot be opened"):
            await store.waiting()
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_store_without_a_file_is_refused_and_the_other_store_is_named(path: str) -> None:
    with pytest.raises(ValueError, match="MemoryStore"):
        SQLiteStore(path)


def test_a_store_stays_with_its_file_when_the_program_changes_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore("log.db")
    monkeypatch.chdir("/")
    asyncio.run(add(store, "s", b"a"))
    assert (tmp_path / "log.db").exists()
    asyncio.run(store.close())


def test_a_file_that_another_process_keeps_locked_is_a_clear_error_after_a_while_and_can_be_read_meanwhile(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db", busy_timeout=0.05)
        await add(store, "s", b"a")
        other = apsw.Connection(str(store.path))
        other.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(*(add(store, f"s{n}", b"a", at=0) for n in range(9)), return_exceptions=True)
        assert {str(each) for each in outcomes} == {
            f"{store.path} is locked: another process kept it for more than 0.05 s"
        }
        assert await facts(store) == [b"a"]
        other.execute("ROLLBACK")
        other.close()
        await add(store, "s", b"b", at=1)
        await store.close()

    asyncio.run(story())


def test_a_file_that_is_gone_is_missed_and_not_made_anew_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        store.path.rename(tmp_path / "away.db")
        for use in (add(store, "s", b"b", at=1), store.read("s"), store.waiting()):
            with pytest.raises(StoreError, match=r"log.db is gone; put it back"):
                await use
        assert not store.path.exists()
        (tmp_path / "away.db").rename(store.path)
        await add(store, "s", b"b", at=1)
        assert await facts(store) == [b"a", b"b"]
        await store.close()

    asyncio.run(story())


def test_a_backup_put_in_the_place_of_the_file_is_what_is_read_and_written_from_then_on(tmp_path: Path) -> None:
    async def story() -> None:
        await written_and_closed(tmp_path / "backup.db", b"old")
        await written_and_closed(tmp_path / "log.db", b"old", b"new")
        store = SQLiteStore(tmp_path / "log.db")
        assert await facts(store) == [b"old", b"new"]
        (tmp_path / "backup.db").rename(store.path)
        assert await facts(store) == [b"old"]
        await add(store, "s", b"other", at=1)
        assert await facts(store) == [b"old", b"other"]
        await store.close()
        again = SQLiteStore(tmp_path / "log.db")
        assert await facts(again) == [b"old", b"other"]
        await again.close()

    asyncio.run(story())


# Forks and other loops

FORKED = """
import asyncio, os, sys
from sayso.errors import StoreError
from sayso.store import Index, SQLiteStore

async def append(store, at):
    await store.append("s", [b"a"], at=at, time="", index=Index(agent="", title="", state="idle"))

store, untouched = SQLiteStore(sys.argv[1]), SQLiteStore(sys.argv[1])
asyncio.run(append(store, 0))
if os.fork() == 0:
    try:
        asyncio.run(append(store, 1))
    except StoreError as error:
        print(error, flush=True)
    asyncio.run(store.close())
    asyncio.run(append(untouched, 1))
    asyncio.run(untouched.close())
    os._exit(0)
os.wait()
asyncio.run(append(store, 2))
asyncio.run(store.close())
"""


def test_after_a_fork_the_child_is_told_to_make_its_own_store(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKED, str(tmp_path / "log.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "make a new SQLiteStore in the child" in done.stdout
    store = SQLiteStore(tmp_path / "log.db")
    log = asyncio.run(store.read("s"))
    asyncio.run(store.close())
    assert (len(log), verify(log)) == (3, None)


FORGOTTEN = """
import asyncio, sys
from sayso.store import Index, SQLiteStore

async def main():
    store = SQLiteStore(sys.argv[1])
    changes = store.changes()
    await store.append("s", [b"a"], at=0, time="", index=Index(agent="", title="", state="idle"))
    await anext(changes)

asyncio.run(main())
"""


def test_a_program_that_forgets_to_close_ends_all_the_same_and_without_a_word(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", FORGOTTEN, str(tmp_path / "log.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

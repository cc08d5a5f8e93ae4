"""An SQLite file that is not what was written to it."""

import asyncio
import os
import subprocess
from pathlib import Path

import apsw
import pytest

from sayso.errors import BrokenLog
from sayso.store import SQLiteStore
from sayso.store.chain import verify
from stores import IDLE, NOON, add


async def facts(store: SQLiteStore, session_id: str = "s") -> list[bytes]:
    return [each.fact for each in await store.read(session_id)]


def damage(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


async def written_and_closed(path: Path, *facts: bytes) -> None:
    store = SQLiteStore(path)
    await add(store, "s", *facts)
    await store.close()


def test_a_last_entry_that_was_torn_by_a_crash_is_as_if_it_had_never_been_written(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        await add(store, "s", b"b", at=1)
        # A power cut: what is on disk is copied, with the end of the last write missing.
        for suffix in ("", "-wal"):
            await asyncio.to_thread(subprocess.run, ["cp", f"{store.path}{suffix}", f"{tmp_path}/torn.db{suffix}"])
        await store.close()
        torn = tmp_path / "torn.db-wal"
        os.truncate(torn, torn.stat().st_size - 100)
        store = SQLiteStore(tmp_path / "torn.db")
        assert await facts(store) == [b"a"]
        await add(store, "s", b"B", at=1)
        assert verify(await store.read("s")) is None
        await store.close()

    asyncio.run(story())


def test_a_damaged_page_is_a_broken_log_and_names_the_file(tmp_path: Path) -> None:
    async def story() -> None:
        path = tmp_path / "log.db"
        await written_and_closed(path, *(b"x" * 1000 for _ in range(50)))
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        store = SQLiteStore(path)
        for use in (store.read("s"), add(store, "s", b"b", at=50)):
            with pytest.raises(BrokenLog, match=r"log.db is damaged .* restore it"):
                await use
        await store.close()

    asyncio.run(story())


def test_a_file_that_is_no_database_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_text("Dear diary, " * 100)
    store = SQLiteStore(path)
    with pytest.raises(BrokenLog, match=r"log\.db is damaged"):
        asyncio.run(add(store, "s", b"a", at=0))
    asyncio.run(store.close())
    assert path.read_text() == "Dear diary, " * 100


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_an_entry_that_was_removed_from_the_file_is_missed_by_name(tmp_path: Path, seq: int) -> None:
    async def story() -> None:
        await written_and_closed(tmp_path / "log.db", b"a", b"b", b"c")
        damage(tmp_path / "log.db", f"DELETE FROM entries WHERE fact = x'{b'abc'[seq]:x}'")
        store = SQLiteStore(tmp_path / "log.db")
        with pytest.raises(BrokenLog, match=f"entry {seq} of session 's' is missing"):
            await store.read("s")
        await store.close()

    asyncio.run(story())


def test_nothing_is_appended_to_a_log_whose_end_was_cut_off(tmp_path: Path) -> None:
    async def story() -> None:
        await written_and_closed(tmp_path / "log.db", b"a", b"b")
        damage(tmp_path / "log.db", "DELETE FROM entries WHERE fact = x'62'")
        store = SQLiteStore(tmp_path / "log.db")
        with pytest.raises(BrokenLog, match="entry 1 of session 's' is missing; nothing can follow it"):
            await add_without_reading(store)
        await store.close()

    async def add_without_reading(store: SQLiteStore) -> None:
        await store.append("s", [b"c"], at=2, time=NOON, index=IDLE)

    asyncio.run(story())


def test_an_entry_that_was_changed_in_the_file_is_found_by_the_chain(tmp_path: Path) -> None:
    async def story() -> None:
        await written_and_closed(tmp_path / "log.db", b"a", b"b", b"c")
        damage(tmp_path / "log.db", "UPDATE entries SET fact = x'42' WHERE fact = x'62'")
        store = SQLiteStore(tmp_path / "log.db")
        assert verify(await store.read("s")) == 1
        await store.close()

    asyncio.run(story())

"""The shape of a log's database: who may touch which."""

import asyncio
from pathlib import Path

import apsw
import pytest

from sayso.errors import NewerLog, StoreError
from sayso.store import SQLiteStore
from sayso.store.sqlite_schema import MIGRATIONS
from stores import add


def execute(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


async def use_and_close(path: Path) -> None:
    store = SQLiteStore(path)
    try:
        await add(store, "s", b"a")
    finally:
        await store.close()


def test_a_log_of_a_later_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    asyncio.run(use_and_close(path))
    execute(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(NewerLog, match="later version of Sayso"):
        asyncio.run(use_and_close(path))
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    execute(path, "CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        asyncio.run(use_and_close(path))
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(b"")
    asyncio.run(use_and_close(path))
    execute(path, "SELECT fact FROM entries")


def test_a_creation_that_was_cut_short_is_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    execute(path, "PRAGMA journal_mode = WAL")  # as far as another process came before it was killed
    asyncio.run(use_and_close(path))


def test_a_log_is_told_from_other_databases_by_its_application_id(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    asyncio.run(use_and_close(path))
    assert path.read_bytes()[68:72] == b"says"

"""What a store in Postgres promises beyond the contract of every store."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from postgres import fresh_database
from sayso.errors import Conflict, NewerLog, StoreError
from sayso.store.postgres import PostgresStore
from stores import add


def cut(dsn: str) -> None:
    """End every other connection to that database."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_an_error_of_a_database_that_is_not_there_names_it_and_shows_no_password() -> None:
    async def story() -> None:
        store = PostgresStore("postgresql://ann:sesame@127.0.0.1:1/ops")
        with pytest.raises(StoreError, match=r"'?ops'? at 127[.]0[.]0[.]1:1 cannot be reached") as raised:
            await add(store, "s", b"a", at=0)
        assert "sesame" not in str(raised.value)
        await store.close()

    asyncio.run(story())


def test_a_runner_whose_connection_was_ended_is_not_alive() -> None:
    async def story() -> None:
        dsn = fresh_database()
        store = PostgresStore(dsn)
        async with store.runner() as runner:
            before = runner.alive
            cut(dsn)
            assert [before, runner.alive] == [True, False]
            assert not await store.is_alive(runner.id)
        await store.close()

    asyncio.run(story())


def test_who_waits_hears_of_commits_after_its_connection_was_ended() -> None:
    async def story() -> None:
        dsn = fresh_database()
        watcher, writer = PostgresStore(dsn), PostgresStore(dsn)
        wait = asyncio.create_task(watcher.wait("s", after=0))
        await watcher.read("s")
        cut(dsn)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(wait), 0.01)
        await add(writer, "s", b"a", at=0)
        async with asyncio.timeout(10):
            await wait
        await watcher.close()
        await writer.close()

    asyncio.run(story())


def test_of_fifty_racing_appenders_on_one_length_one_wins() -> None:
    async def story() -> None:
        store = PostgresStore(fresh_database())
        outcomes = await asyncio.gather(*(add(store, "s", b"a", at=0) for _ in range(50)), return_exceptions=True)
        assert [sum(isinstance(each, kind) for each in outcomes) for kind in (tuple, Conflict)] == [1, 49]
        assert len(await store.read("s")) == 1
        await store.close()

    asyncio.run(story())


def test_two_that_create_the_tables_at_once_both_succeed() -> None:
    dsn = fresh_database()

    def use(name: str) -> None:
        async def story() -> None:
            store = PostgresStore(dsn)
            await add(store, name, b"a", at=0)
            await store.close()

        asyncio.run(story())

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, ("s", "t"))) == [None, None]


def test_a_database_of_a_later_version_is_refused() -> None:
    async def story() -> None:
        dsn = fresh_database()
        with psycopg.connect(dsn) as connection:
            connection.execute("CREATE TABLE sayso_meta (version integer NOT NULL)")
            connection.execute("INSERT INTO sayso_meta VALUES (999)")
        store = PostgresStore(dsn)
        with pytest.raises(NewerLog, match="later version of Sayso"):
            await store.read("s")
        await store.close()

    asyncio.run(story())

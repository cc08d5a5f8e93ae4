"""Group commit: everything that waits at one moment shares one commit, and one member cannot hurt another."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from disks import Commits, Disk
from sayso.errors import Conflict, Refused
from sayso.store import Entry, Index, SQLiteStore
from stores import IDLE, NOON, add, parked, request_of


@contextmanager
def held_up(path: Path) -> Iterator[None]:
    """No commit gets through meanwhile: another connection is writing."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


async def together(
    store: SQLiteStore, appends: Sequence[tuple[str, bytes, int]], *, durable: bool = True, index: Index = IDLE
) -> list[tuple[Entry, ...] | BaseException]:
    """Appends (session, fact, at) that all wait before the first can be committed."""
    with held_up(store.path):
        tasks = [
            asyncio.create_task(store.append(session, [fact], at=at, time=NOON, index=index, durable=durable))
            for session, fact, at in appends
        ]
        done, _ = await asyncio.wait(tasks, timeout=0.001)
        assert not done
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_appends_that_wait_together_are_committed_together(tmp_path: Path, commits: Commits, disk: Disk) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "first", b"a")
        commits.count, disk.syncs = 0, 0
        await together(store, [(f"s{n}", b"a", 0) for n in range(64)])
        # The writer may have taken a part of them before it was held up.
        assert commits.count <= 2
        assert disk.syncs <= 2
        assert len(await store.sessions(limit=100)) == 65
        await store.close()

    asyncio.run(story())


def test_appends_one_after_the_other_are_each_on_disk_before_they_return(tmp_path: Path, disk: Disk) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        for at in (1, 2, 3):
            before = disk.syncs
            await add(store, "s", b"a", at=at)
            assert disk.syncs == before + 1
        await store.close()

    asyncio.run(story())


def test_what_is_not_durable_does_not_wait_for_the_disk_and_goes_there_with_the_next_that_is(
    tmp_path: Path, disk: Disk
) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        before = disk.syncs
        for at in (1, 2, 3):
            await store.append("s", [b"a"], at=at, time=NOON, index=IDLE, durable=False)
        assert disk.syncs == before
        await add(store, "t", b"a")
        assert disk.syncs == before + 1
        await store.close()

    asyncio.run(story())


def test_one_durable_append_makes_its_whole_group_durable(tmp_path: Path, disk: Disk) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a")
        before = disk.syncs
        with held_up(store.path):
            appends = [
                asyncio.create_task(store.append(f"s{n}", [b"a"], at=0, time=NOON, index=IDLE, durable=n == 5))
                for n in range(10)
            ]
            await asyncio.wait(appends, timeout=0.001)
        await asyncio.gather(*appends)
        assert 1 <= disk.syncs - before <= 2
        await store.close()

    asyncio.run(story())


def test_a_conflict_or_a_refusal_in_a_group_does_not_disturb_the_others(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "s", b"a", index=parked(request_of("s", "r")))
        outcomes = await together(store, [("t", b"a", 0), ("s", b"late", 0), ("t", b"twice", 0), ("t", b"b", 1)])
        assert [type(each) for each in outcomes] == [tuple, Conflict, Conflict, tuple]
        strangers = parked(request_of("u", "r"))
        outcomes = await together(store, [("u", b"a", 0), ("v", b"a", 0)], index=strangers)
        assert [type(each) for each in outcomes] == [Refused, Refused]
        assert [each.fact for each in await store.read("t")] == [b"a", b"b"]
        assert [row.session_id for row in await store.sessions()] == ["t", "s"]
        await store.close()

    asyncio.run(story())


def test_a_value_that_sqlite_cannot_take_fails_its_own_append_alone(tmp_path: Path) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "first", b"a")
        outcomes = await together(store, [("t", b"a", 0), ("half a pair \ud83d", b"a", 0), ("u", b"a", 0)])
        assert [type(each) for each in outcomes] == [tuple, UnicodeEncodeError, tuple]
        assert [row.session_id for row in await store.sessions()] == ["u", "t", "first"]
        await store.close()

    asyncio.run(story())


def test_a_very_long_queue_is_committed_in_several_groups(tmp_path: Path, commits: Commits) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "first", b"a")
        commits.count = 0
        await together(store, [(f"s{n}", b"a", 0) for n in range(600)])
        assert 3 <= commits.count <= 4
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("waiting", [1, 20])
def test_closing_waits_for_what_is_on_its_way(tmp_path: Path, waiting: int) -> None:
    async def story() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        await add(store, "first", b"a")
        with held_up(store.path):
            tasks = [asyncio.create_task(add(store, f"s{n}", b"a", at=0)) for n in range(waiting)]
            await asyncio.wait(tasks, timeout=0.001)
            closing = asyncio.create_task(store.close())
            await asyncio.wait([closing], timeout=0.001)
            assert not closing.done()
        await asyncio.gather(closing, *tasks)
        again = SQLiteStore(tmp_path / "log.db")
        assert len(await again.sessions()) == waiting + 1
        await again.close()

    asyncio.run(story())

"""The store whose process dies at a chosen append."""

import asyncio

import pytest

from sayso.errors import Conflict
from sayso.store import MemoryStore, Snapshot, Store
from sayso.store.faulty import Crash, CrashingStore
from stores import IDLE, NOON, add


def crash(store: CrashingStore) -> None:
    async def story() -> None:
        for at in range(5):
            await store.append("s", [b"a"], at=at, time=NOON, index=IDLE)

    with pytest.raises(Crash):
        asyncio.run(story())


@pytest.mark.parametrize(("after", "written"), [(False, 2), (True, 3)])
def test_it_dies_before_or_after_the_chosen_append(after: bool, written: int) -> None:
    inner = MemoryStore()
    store = CrashingStore(inner, 3, after=after)
    crash(store)
    assert (store.crashed, store.appends) == (True, 3)
    assert len(asyncio.run(inner.read("s"))) == written


def test_a_dead_process_does_nothing_more() -> None:
    inner = MemoryStore()
    store = CrashingStore(inner, 1, after=True)
    crash(store)
    for use in (
        add(store, "s", b"b", at=1),
        store.read("s"),
        store.save_snapshot("s", Snapshot(1, 1, b"")),
        store.due(before=NOON),
    ):
        with pytest.raises(Crash):
            asyncio.run(use)
    asyncio.run(store.close())
    assert len(asyncio.run(inner.read("s"))) == 1


def test_without_a_place_to_die_it_only_counts() -> None:
    store: Store = CrashingStore(MemoryStore(), None)
    assert isinstance(store, CrashingStore)
    asyncio.run(add(store, "s", b"a"))
    with pytest.raises(Conflict):
        asyncio.run(add(store, "s", b"a", at=7))
    assert (store.appends, store.crashed) == (2, False)


def test_a_crash_is_not_an_exception_that_a_program_would_catch() -> None:
    assert not issubclass(Crash, Exception)

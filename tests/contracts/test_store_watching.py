"""What every store promises to who waits for a log to grow, and to who closes it."""

import asyncio

import pytest

from sayso.errors import StoreError
from stores import IDLE, Place, add


def test_waiting_for_an_entry_that_is_there_returns_at_once(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b")
        await store.wait("s", after=1)

    asyncio.run(story())


def test_a_wait_is_over_once_any_store_object_appended_enough(place: Place) -> None:
    async def story() -> None:
        watcher, writer = place.open(), place.open()
        async with asyncio.timeout(10):
            waits = {after: asyncio.create_task(watcher.wait("s", after=after)) for after in (0, 1, 2)}
            await add(writer, "t", b"other session")
            await add(writer, "s", b"a", b"b")
            await waits[0]
            await waits[1]
            assert not waits[2].done()
            await add(writer, "s", b"c")
            await waits[2]

    asyncio.run(story())


def test_every_append_of_a_conversation_is_followed_by_who_waits_for_the_next(place: Place) -> None:
    async def story() -> None:
        watcher, writer = place.open(), place.open()

        async def follow() -> int:
            length = 0
            while length < 50:
                await watcher.wait("s", after=length)
                length = len(await watcher.read("s"))
            return length

        async with asyncio.timeout(10):
            following = asyncio.create_task(follow())
            for at in range(50):
                await add(writer, "s", b"a", at=at)
            assert await following == 50

    asyncio.run(story())


def test_a_wait_that_is_cancelled_disturbs_nobody(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        async with asyncio.timeout(10):
            stays = asyncio.create_task(store.wait("s", after=0))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(store.wait("s", after=0), 0.05)
            await add(store, "s", b"a")
            await stays

    asyncio.run(story())


def test_changes_tell_every_change_since_they_were_asked_for(place: Place) -> None:
    async def story() -> None:
        watcher, writer = place.open(), place.open()
        await add(writer, "before", b"a")
        changes = watcher.changes()
        await add(writer, "s", b"a")
        await add(writer, "t", b"a")
        await add(writer, "s", index=IDLE)
        async with asyncio.timeout(10):
            told = [await anext(changes), await anext(changes)]
            assert set(told) == {"s", "t"}
            await add(writer, "u", b"a")
            while told[-1] != "u":
                told.append(await anext(changes))
            assert "before" not in told

    asyncio.run(story())


def test_a_session_that_changes_often_before_anybody_looks_is_told_of_without_piling_up(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        changes = store.changes()
        for at in range(20):
            await add(store, "s", b"a", at=at)
        await add(store, "t", b"a")
        async with asyncio.timeout(10):
            told = [await anext(changes)]
            while told[-1] != "t":
                told.append(await anext(changes))
        assert len(told) <= 21
        assert set(told) == {"s", "t"}

    asyncio.run(story())


def test_closing_ends_who_waits_and_refuses_everything_after(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a")
        changes = store.changes()
        wait = asyncio.create_task(store.wait("t", after=0))
        change = asyncio.ensure_future(anext(changes, "ended"))
        await store.read("s")
        await store.close()
        async with asyncio.timeout(10):
            with pytest.raises(StoreError, match="closed"):
                await wait
            assert await change == "ended"
        for use in (store.read("s"), store.wait("s", after=0), add(store, "s", b"b", at=1), store.waiting()):
            with pytest.raises(StoreError, match="closed"):
                await use
        await store.close()

    asyncio.run(story())


def test_what_was_accepted_before_closing_is_written(shared_place: Place) -> None:
    async def story() -> None:
        store = shared_place.open()
        appends = [asyncio.create_task(add(store, f"s{n}", b"a", at=0)) for n in range(20)]
        # The appends are handed over at their first step.
        await asyncio.gather(*(store.is_alive("nobody") for _ in appends))
        await store.close()
        await asyncio.gather(*appends)
        assert len(await shared_place.open().sessions()) == 20

    asyncio.run(story())


def test_a_store_object_outlives_the_event_loops_that_use_it(place: Place) -> None:
    store = place.open()
    for at in range(3):
        asyncio.run(add(store, "s", b"a", at=at))
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(store.wait("s", after=at + 1), 0.02))
    assert len(asyncio.run(store.read("s"))) == 3

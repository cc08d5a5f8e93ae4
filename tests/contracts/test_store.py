"""What every store promises of the log, its snapshots and its runners. One suite, run on each adapter."""

import asyncio

import pytest

from sayso.errors import Conflict, LockLost, Refused
from sayso.store import Snapshot
from sayso.store.chain import verify
from stores import IDLE, NOON, Place, add, parked, request_of


def test_what_was_appended_is_read_in_order_with_the_times_and_hashes_that_were_returned(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        first = await add(store, "s", b"a", b"b", time="2026-12-01T12:00:00.000+00:00")
        second = await add(store, "s", b"c", time="2026-12-01T12:00:01.000+00:00")
        log = await store.read("s")
        assert tuple(log) == first + second
        assert [(each.seq, each.fact, each.at[17:19]) for each in log] == [
            (0, b"a", "00"),
            (1, b"b", "00"),
            (2, b"c", "01"),
        ]
        assert verify(log) is None

    asyncio.run(story())


def test_reading_after_n_starts_at_seq_n(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b", b"c")
        assert [each.fact for each in await store.read("s", after=2)] == [b"c"]
        assert list(await store.read("s", after=3)) == []
        assert list(await store.read("s", after=9)) == []

    asyncio.run(story())


def test_a_session_nobody_wrote_to_has_an_empty_log_and_no_row(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        assert list(await store.read("nobody")) == []
        assert await store.session("nobody") is None
        assert await store.snapshot("nobody") is None

    asyncio.run(story())


def test_the_logs_of_two_sessions_do_not_mix(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for turn in range(3):
            await add(store, "s", b"s%d" % turn)
            await add(store, "t", b"t%d" % turn)
        assert [each.fact for each in await store.read("s")] == [b"s0", b"s1", b"s2"]
        assert [each.fact for each in await store.read("t")] == [b"t0", b"t1", b"t2"]

    asyncio.run(story())


@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_append_at_another_length_is_a_conflict_and_writes_nothing(place: Place, at: int) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b")
        with pytest.raises(Conflict, match=f"session 's' has 2 entries, not {at}"):
            await add(store, "s", b"x", at=at, index=parked(request_of("s", "r")))
        row = await store.session("s")
        assert row is not None
        assert (len(await store.read("s")), row.length, row.state) == (2, 2, "idle")
        assert list(await store.waiting()) == []

    asyncio.run(story())


def test_of_many_writers_at_one_length_exactly_one_wins(place: Place) -> None:
    async def story() -> None:
        stores = [place.open(), place.open()]
        for at in range(5):
            tries = [add(stores[n % 2], "s", b"%d" % n, at=at) for n in range(10)]
            outcomes = await asyncio.gather(*tries, return_exceptions=True)
            won = [each for each in outcomes if isinstance(each, tuple)]
            assert len(won) == 1
            assert sum(isinstance(each, Conflict) for each in outcomes) == 9
            assert (await stores[0].read("s", after=at))[0] == won[0][0]

    asyncio.run(story())


def test_a_cancelled_append_leaves_only_when_it_is_decided_whether_it_was_written(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for turn in range(20):
            length = len(await store.read("s"))
            append = asyncio.create_task(add(store, "s", b"a", at=length))
            while not append.done():
                await asyncio.wait([append], timeout=0.0001)
                append.cancel()
            # Were it still on its way, this would be a conflict.
            await add(store, "s", b"%d" % turn)
        assert verify(await store.read("s")) is None

    asyncio.run(story())


def test_what_is_not_durable_yet_is_seen_by_everybody_at_once(place: Place) -> None:
    async def story() -> None:
        writer, reader = place.open(), place.open()
        await writer.append("s", [b"a"], at=0, time=NOON, index=IDLE, durable=False)
        assert [each.fact for each in await reader.read("s")] == [b"a"]

    asyncio.run(story())


def test_the_hash_chain_names_the_first_entry_that_was_changed_removed_or_inserted(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b", b"c", b"d")
        log = list(await store.read("s"))
        assert verify([*log[:1], log[1]._replace(fact=b"B"), *log[2:]]) == 1
        assert verify([*log[:2], *log[3:]]) == 2
        assert verify([*log[:3], log[2]._replace(seq=3), log[3]._replace(seq=4)]) == 3

    asyncio.run(story())


def test_a_snapshot_is_kept_until_the_next_one(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b")
        assert await store.snapshot("s") is None
        await store.save_snapshot("s", Snapshot(1, 7, b"one"))
        await store.save_snapshot("s", Snapshot(2, 7, b"two"))
        assert await place.open().snapshot("s") == Snapshot(2, 7, b"two")

    asyncio.run(story())


def test_a_snapshot_of_more_than_the_log_holds_is_refused(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a")
        with pytest.raises(Refused, match="'s' does not have 2 entries"):
            await store.save_snapshot("s", Snapshot(2, 1, b""))
        with pytest.raises(Refused, match="'nobody' does not have 1 entries"):
            await store.save_snapshot("nobody", Snapshot(1, 1, b""))
        assert await store.snapshot("s") is None

    asyncio.run(story())


def test_a_runner_is_alive_while_it_is_inside_and_not_after(place: Place) -> None:
    async def story() -> None:
        store, other = place.open(), place.open()
        async with store.runner() as first, store.runner() as second:
            assert first.id != second.id
            assert [first.alive, second.alive] == [True, True]
            assert await other.is_alive(first.id)
            assert await store.is_alive(first.id)
            assert await store.is_alive(second.id)
        assert [first.alive, second.alive] == [False, False]
        assert not await store.is_alive(first.id)
        assert not await other.is_alive(second.id)
        assert not await store.is_alive("never was")

    asyncio.run(story())


def test_a_runner_that_leaves_by_an_exception_is_not_alive(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        left: list[str] = []

        async def fail() -> None:
            async with store.runner() as runner:
                left.append(runner.id)
                raise KeyError

        with pytest.raises(KeyError):
            await fail()
        assert not await store.is_alive(left[0])

    asyncio.run(story())


def test_an_append_held_by_a_runner_that_is_gone_adds_nothing(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        async with store.runner() as runner:
            await store.append("s", [b"start"], at=0, time=NOON, index=IDLE, held=runner.id)
        with pytest.raises(LockLost, match="lost its lock"):
            await store.append("s", [b"start"], at=1, time=NOON, index=IDLE, held=runner.id)
        assert [entry.fact for entry in await store.read("s")] == [b"start"]
        await add(store, "s", b"what was brought back")

    asyncio.run(story())

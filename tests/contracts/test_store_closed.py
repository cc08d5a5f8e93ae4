"""What every store promises of requests that wait no more."""

import asyncio

import pytest

from sayso.errors import Refused
from sayso.store import Index, Outcome
from stores import IDLE, Place, add, park, request_of

LATER = "2026-12-01T12:{:02}:00.000+00:00"


def ended(*outcomes: Outcome) -> Index:
    return Index(agent="ops", title="", state="idle", outcomes=outcomes)


def test_a_closed_request_says_how_it_ended_by_whom_and_when(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r", tool="pay"))
        await add(store, "s", b"yes", time=LATER.format(5), index=ended(Outcome("r", "approved", "ann", "web")))
        closed = await store.find_closed("r")
        assert closed is not None
        assert (closed.request_id, closed.session_id, closed.tool, closed.how) == ("r", "s", "pay", "approved")
        assert (closed.by, closed.via, closed.body) == ("ann", "web", b"{}")
        assert (closed.created_at[11:16], closed.closed_at[11:16]) == ("12:00", "12:05")
        assert await store.find("r") is None

    asyncio.run(story())


def test_a_request_that_is_gone_without_a_word_was_withdrawn(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r"))
        await add(store, "s", b"stopped", index=IDLE)
        closed = await store.find_closed("r")
        assert closed is not None
        assert (closed.how, closed.by) == ("withdrawn", "")

    asyncio.run(story())


def test_an_open_request_is_not_closed_and_an_unknown_one_is_neither(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r"))
        assert await store.find_closed("r") is None
        assert await store.find_closed("never") is None

    asyncio.run(story())


def test_a_request_that_opens_again_is_closed_no_more(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r"))
        await add(store, "s", b"yes", index=ended(Outcome("r", "approved", "ann", "web")))
        await park(store, request_of("s", "r"))
        assert await store.find_closed("r") is None
        assert list(await store.closed()) == []
        await add(store, "s", b"stopped", index=IDLE)
        closed = await store.find_closed("r")
        assert closed is not None
        assert (closed.how, closed.by) == ("withdrawn", "")

    asyncio.run(story())


def test_the_history_lists_the_last_closed_first_page_by_page(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for n in range(5):
            await park(store, request_of(f"s{n}", f"r{n}"))
            index = ended(Outcome(f"r{n}", "approved", "ann", "web"))
            await add(store, f"s{n}", b"yes", time=LATER.format(n), index=index)
        first = [c.request_id for c in await store.closed(limit=2)]
        assert first == ["r4", "r3"]
        assert [c.request_id for c in await store.closed(after=first[-1], limit=9)] == ["r2", "r1", "r0"]
        with pytest.raises(Refused, match="no closed request 'never'"):
            await store.closed(after="never")

    asyncio.run(story())


def test_the_history_filters_by_session_tool_outcome_person_and_time(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        cases = [("a", "pay", "approved", "ann"), ("b", "pay", "refused", "bob"), ("c", "mail", "approved", "bob")]
        for n, (name, tool, how, by) in enumerate(cases):
            await park(store, request_of(f"s-{name}", name, tool=tool))
            await add(store, f"s-{name}", b"said", time=LATER.format(n), index=ended(Outcome(name, how, by, "web")))
        assert [c.request_id for c in await store.closed(session_id="s-b")] == ["b"]
        assert [c.request_id for c in await store.closed(tool="pay")] == ["b", "a"]
        assert [c.request_id for c in await store.closed(how="approved")] == ["c", "a"]
        assert [c.request_id for c in await store.closed(by="bob")] == ["c", "b"]
        assert [c.request_id for c in await store.closed(since=LATER.format(1))] == ["c", "b"]

    asyncio.run(story())


def test_a_log_is_read_in_part(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", b"b", b"c", b"d")
        assert [e.fact for e in await store.read("s", limit=1)] == [b"a"]
        assert [e.fact for e in await store.read("s", after=1, limit=2)] == [b"b", b"c"]
        assert [e.fact for e in await store.read("s", after=3, limit=5)] == [b"d"]
        assert list(await store.read("s", limit=0)) == []

    asyncio.run(story())

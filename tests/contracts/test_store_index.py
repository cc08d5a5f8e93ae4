"""What every store promises of its index: requests and sessions."""

import asyncio

import pytest

from sayso.errors import Refused
from sayso.store import Index
from stores import IDLE, Place, add, ids, park, parked, request_of


def test_an_append_replaces_what_the_index_said_of_the_session(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", index=parked(request_of("s", "r1"), request_of("s", "r2")))
        await add(store, "s", b"b", index=parked(request_of("s", "r2"), request_of("s", "r3")))
        assert ids(await store.waiting()) == ["r2", "r3"]
        await add(store, "s", b"c", index=IDLE)
        assert list(await store.waiting()) == []

    asyncio.run(story())


def test_an_append_without_facts_replaces_the_index_alone(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", index=Index(agent="ops", title="old", state="working", runner="r"))
        assert await add(store, "s", index=Index(agent="ops", title="new", state="idle")) == ()
        row = await store.session("s")
        assert row is not None
        assert (row.length, row.title, row.state, row.runner) == (1, "new", "idle", None)

    asyncio.run(story())


def test_a_request_that_changes_while_it_waits_is_shown_as_it_is_now(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r", tool="bash"))
        later = request_of("s", "r", tool="write", due="2026-12-02T00:00:00.000+00:00")
        await park(store, later)
        assert await store.find("r") == later
        assert list(await store.waiting(tool="bash")) == []

    asyncio.run(story())


def test_a_session_row_says_who_drives_it_how_long_it_is_and_when_it_changed(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await add(store, "s", b"a", time="2026-12-01T12:00:00.000+00:00")
        index = Index(agent="ops", title="Restart", state="working", runner="runner-1")
        await add(store, "s", b"b", time="2026-12-01T12:05:00.000+00:00", index=index)
        row = await store.session("s")
        assert row is not None
        assert (row.session_id, row.agent, row.title, row.state) == ("s", "ops", "Restart", "working")
        assert (row.length, row.runner) == (2, "runner-1")
        assert (row.created_at[11:16], row.updated_at[11:16]) == ("12:00", "12:05")

    asyncio.run(story())


def test_waiting_requests_come_oldest_first_and_newest_first_if_asked(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "b", minute=2), request_of("s", "a", minute=3))
        await park(store, request_of("t", "d", minute=1), request_of("t", "c", minute=2))
        assert ids(await store.waiting()) == ["d", "b", "c", "a"]
        assert ids(await store.waiting(newest_first=True)) == ["a", "c", "b", "d"]

    asyncio.run(story())


@pytest.mark.parametrize("newest_first", [False, True])
def test_pages_of_waiting_requests_join_without_gap_or_repetition(place: Place, newest_first: bool) -> None:
    async def story() -> None:
        store = place.open()
        for n in range(7):
            await park(store, request_of(f"s{n}", f"r{n}", minute=n // 3))
        whole = ids(await store.waiting(newest_first=newest_first))
        paged: list[str] = []
        while page := ids(await store.waiting(after=paged[-1] if paged else None, limit=2, newest_first=newest_first)):
            assert len(page) <= 2
            paged += page
        assert paged == whole
        assert len(whole) == 7

    asyncio.run(story())


def test_a_page_may_follow_a_request_that_was_answered_meanwhile(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for n in range(4):
            await park(store, request_of(f"s{n}", f"r{n}", minute=n))
        assert ids(await store.waiting(limit=2)) == ["r0", "r1"]
        await add(store, "s1", b"answered", index=IDLE)
        assert ids(await store.waiting(after="r1", limit=2)) == ["r2", "r3"]

    asyncio.run(story())


def test_a_page_that_follows_nothing_is_refused(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r"))
        with pytest.raises(Refused, match="no request 'x'"):
            await store.waiting(after="x")
        with pytest.raises(Refused, match="no session 'x'"):
            await store.sessions(after="x")

    asyncio.run(story())


def test_waiting_requests_are_filtered_by_session_kind_and_tool_together(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r1", tool="bash"), request_of("s", "r2", kind="ask", tool="ask_user"))
        await park(store, request_of("t", "r3", tool="bash"), request_of("t", "r4", kind="external", tool="bash"))
        assert ids(await store.waiting(session_id="s")) == ["r1", "r2"]
        assert ids(await store.waiting(kind="confirm")) == ["r1", "r3"]
        assert ids(await store.waiting(tool="bash")) == ["r1", "r3", "r4"]
        assert ids(await store.waiting(session_id="t", kind="external", tool="bash")) == ["r4"]
        assert ids(await store.waiting(session_id="nobody")) == []

    asyncio.run(story())


def test_a_request_is_found_by_its_id_as_long_as_it_waits(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        request = request_of("s", "r", due="2026-12-02T00:00:00.000+00:00")
        await park(store, request)
        assert await store.find("r") == request
        await add(store, "s", b"answered", index=IDLE)
        assert await store.find("r") is None

    asyncio.run(story())


def test_a_request_of_another_session_cannot_wait_here_and_nothing_is_written(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "r"))
        for stranger in (request_of("t", "r"), request_of("s", "r5")):
            with pytest.raises(Refused, match="is of session 's' and cannot wait in 't'"):
                await add(store, "t", b"asked", index=parked(stranger))
        with pytest.raises(Refused, match="named twice"):
            await add(store, "t", b"asked", index=parked(request_of("t", "r6"), request_of("t", "r6")))
        assert list(await store.read("t")) == []
        assert ids(await store.waiting()) == ["r"]

    asyncio.run(story())


def test_due_are_the_open_requests_whose_expiry_has_come_earliest_first(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        await park(store, request_of("s", "late", due="2026-12-01T12:00:02.000+00:00"), request_of("s", "never"))
        await park(store, request_of("t", "early", due="2026-12-01T12:00:01.000+00:00"))
        await park(store, request_of("u", "future", due="2026-12-01T12:00:03.000+00:00"))
        await park(store, request_of("v", "gone", due="2026-12-01T12:00:00.000+00:00"))
        await add(store, "v", b"answered", index=IDLE)
        assert ids(await store.due(before="2026-12-01T12:00:02.000+00:00")) == ["early", "late"]
        assert ids(await store.due(before="2026-12-01T12:00:02.000+00:00", limit=1)) == ["early"]

    asyncio.run(story())


def test_sessions_are_listed_the_one_changed_last_first_page_by_page(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for session_id in ("s", "t", "u", "s"):
            await add(store, session_id, b"a")
        assert [row.session_id for row in await store.sessions()] == ["s", "u", "t"]
        assert [row.session_id for row in await store.sessions(limit=2)] == ["s", "u"]
        assert [row.session_id for row in await store.sessions(after="u", limit=2)] == ["t"]
        assert list(await store.sessions(after="t")) == []

    asyncio.run(story())


def test_sessions_are_filtered_by_state(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for session_id in ("s", "t", "u"):
            await park(store, request_of(session_id, f"of {session_id}"))
        await add(store, "t", b"answered", index=IDLE)
        assert [row.session_id for row in await store.sessions(state="parked")] == ["u", "s"]
        assert [row.session_id for row in await store.sessions(state="parked", after="u")] == ["s"]
        assert [row.session_id for row in await store.sessions(state="idle")] == ["t"]

    asyncio.run(story())


def test_a_page_of_what_is_due_follows_one_that_was_answered_meanwhile(place: Place) -> None:
    async def story() -> None:
        store = place.open()
        for name, second in (("a", 1), ("b", 1), ("c", 2), ("d", 3)):
            await park(store, request_of(f"s-{name}", name, due=f"2026-12-01T12:00:0{second}.000+00:00"))
        due = "2026-12-01T12:00:02.000+00:00"
        (first,) = await store.due(before=due, limit=1)
        await add(store, "s-a", b"expired")
        assert [first.request_id, *ids(await store.due(before=due, after=first))] == ["a", "b", "c"]
        (last,) = [each for each in await store.due(before=due) if each.request_id == "c"]
        assert ids(await store.due(before=due, after=last)) == []

    asyncio.run(story())

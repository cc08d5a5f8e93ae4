"""Who waits in this process, and who is told."""

import asyncio
import gc

from sayso.store.watch import Watch


def test_who_stops_listening_without_a_word_is_forgotten() -> None:
    watch = Watch()
    changes = watch.changes(0)
    assert watch.active
    del changes
    gc.collect()
    assert [watch.active] == [False]


def test_who_waited_in_a_loop_that_is_closed_holds_up_nobody() -> None:
    async def first_step() -> None:
        waiting.__enter__()

    watch = Watch()
    waiting = watch.waiting("s", 0)
    asyncio.run(first_step())

    async def story() -> None:
        with watch.waiting("s", 0) as told:
            watch.tell([("s", 1, 1)])
            await told

    asyncio.run(story())


def test_a_change_that_was_there_before_the_listener_is_not_told() -> None:
    async def story() -> None:
        watch = Watch()
        changes = watch.changes(5)
        watch.tell([("old", 1, 5), ("new", 1, 6)])
        watch.close()
        assert [session_id async for session_id in changes] == ["new"]

    asyncio.run(story())


def test_a_thread_may_tell_while_a_loop_waits() -> None:
    async def story() -> None:
        watch = Watch()
        with watch.waiting("s", 0) as told:
            await asyncio.gather(told, asyncio.to_thread(watch.tell, [("s", 1, 1)]))

    asyncio.run(story())

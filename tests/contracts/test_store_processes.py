"""What every store that is shared between processes promises to each of them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso.store.base import Store
from sayso.store.chain import verify
from stores import Place

CHILD = Path(__file__).with_name("store_child.py")


@dataclass(frozen=True)
class Child:
    """A process that runs store_child.py."""

    process: "subprocess.Popen[str]"

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        print(word, file=self.process.stdin, flush=True)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def hear_the_rest(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.read().split()


@pytest.fixture
def children() -> Iterator[Callable[..., Child]]:
    with_streams: list[subprocess.Popen[str]] = []

    def start(place: Place, *action: str) -> Child:
        command = [sys.executable, str(CHILD), place.where, *action]
        with_streams.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return Child(with_streams[-1])

    yield start
    for process in with_streams:
        process.kill()
        process.communicate()


def test_a_commit_of_another_process_ends_a_wait_and_is_told_as_a_change(
    shared_place: Place, children: Callable[..., Child]
) -> None:
    async def story() -> None:
        store = shared_place.open()
        changes = store.changes()
        wait = asyncio.create_task(store.wait("s", after=2))
        children(shared_place, "append", "s")
        async with asyncio.timeout(20):
            assert await anext(changes) == "s"
            await wait
        assert len(await store.read("s")) >= 3

    asyncio.run(story())


def test_whatever_a_killed_process_was_told_is_written_is_there_and_the_chain_holds(
    shared_place: Place, children: Callable[..., Child]
) -> None:
    acknowledged = -1
    for more in (3, 40, 7):
        child = children(shared_place, "append", "s")
        for _ in range(more):
            acknowledged = int(child.hear())
        child.kill()
        acknowledged = max([acknowledged, *map(int, child.hear_the_rest())])
        log = asyncio.run(shared_place.open().read("s"))
        # One more may be there: committed, and killed before it could say so.
        assert acknowledged + 1 <= len(log) <= acknowledged + 2
        assert [each.fact for each in log] == [b'{"at":%d}' % seq for seq in range(len(log))]
        assert verify(log) is None


def test_of_several_processes_at_one_length_exactly_one_wins(
    shared_place: Place, children: Callable[..., Child]
) -> None:
    racers = [children(shared_place, "race", "s") for _ in range(3)]
    assert [racer.hear() for racer in racers] == ["ready"] * 3
    for at in range(20):
        for racer in racers:
            racer.tell(str(at))
        assert sorted(racer.hear() for racer in racers) == ["lost", "lost", "won"]
    log = asyncio.run(shared_place.open().read("s"))
    assert (len(log), verify(log)) == (20, None)


def assert_gone(store: Store, runner_id: str) -> None:
    """A server on another machine hears of a death when the connection breaks, which may be a moment later."""
    end = time.monotonic() + 10
    while asyncio.run(store.is_alive(runner_id)):
        assert time.monotonic() < end, "its lock was not released"


def test_a_runner_whose_process_was_killed_is_not_alive(shared_place: Place, children: Callable[..., Child]) -> None:
    child = children(shared_place, "hold")
    runner_id = child.hear()
    store = shared_place.open()
    assert asyncio.run(store.is_alive(runner_id))
    child.kill()
    assert_gone(store, runner_id)


def test_a_forked_child_does_not_keep_its_parents_runner_alive(
    shared_place: Place, children: Callable[..., Child]
) -> None:
    child = children(shared_place, "hold_and_fork")
    runner_id, grandchild = child.hear(), int(child.hear())
    store = shared_place.open()
    assert asyncio.run(store.is_alive(runner_id))
    child.kill()
    os.kill(grandchild, 0)  # it is still there, with everything it inherited
    assert_gone(store, runner_id)

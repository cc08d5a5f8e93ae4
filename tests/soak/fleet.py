"""Worker processes over one Postgres, killed at random moments, and the Postgres restarted, until all work is done.

Clients begin sessions and answer what they ask, each answer given by every client and twice. A call in doubt is
answered by looking into the file of payments, as a person would at their bank. Run as a program:
python -m soak.fleet --workers 4 --sessions 500 --seconds 300
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from postgres import OwnServer
from sayso.errors import Refused, StoreError
from sayso.host import Host
from sayso.message import ToolResultBlock
from sayso.request import Answer, Request
from sayso.store import PostgresStore, Store
from sayso.store.chain import verify
from sayso.worker import Queue


@dataclass
class Found:
    """What a run found. Everything from `twice` on must be zero."""

    kills: int = 0
    restarts: int = 0
    sessions: int = 0
    effects: int = 0
    answers: int = 0
    refused: int = 0
    doubts: int = 0
    seconds: float = 0.0
    twice: int = 0
    missing: int = 0
    unfinished: int = 0
    broken_logs: int = 0
    results_not_one: int = 0

    @property
    def faults(self) -> int:
        """How much of it should not be."""
        return self.twice + self.missing + self.unfinished + self.broken_logs + self.results_not_one


class Fleet:
    """The workers: real processes of `sayso worker`."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "FLEET_DSN": dsn,
            "FLEET_LEDGER": str(folder / "ledger"),
            "PYTHONPATH": str(Path(__file__).parent.parent),
        }
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """One more worker."""
        command = [sys.executable, "-m", "sayso.cli", "worker", "soak.fleet_app:host", "--concurrency", "10"]
        with (self._folder / "workers.log").open("ab") as log:
            process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)
        self.workers.append(process)

    def kill(self, rng: random.Random) -> None:
        """One of them, at once; another takes its place."""
        victim = self.workers.pop(rng.randrange(len(self.workers)))
        victim.kill()
        victim.wait()
        self.start()

    def kill_all(self) -> None:
        """All that are left, at once."""
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def end(self) -> list[int]:
        """Their exit codes after SIGTERM."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        return [worker.wait(30) for worker in self.workers]


class Clients:
    """People at several surfaces: none of them drives anything."""

    def __init__(self, ledger: Path, found: Found) -> None:
        self._ledger = ledger
        self._found = found
        self.doubted: set[str] = set()

    async def begin(self, host: Host, session_id: str) -> None:
        """Begin a session; tried again while the database is away."""
        while True:
            try:
                await host.submit(session_id, "pay twice")
                return
            except StoreError:
                await asyncio.sleep(0.1)
            except Refused:
                return  # the attempt before this one was written after all

    @asynccontextmanager
    async def answering(self, hosts: Sequence[Host]) -> AsyncIterator[None]:
        """Inside, what asks is answered at each of the hosts."""
        over = asyncio.Event()
        tasks = [asyncio.create_task(self._answer_all(host, f"client{n}", over)) for n, host in enumerate(hosts)]
        try:
            yield
        finally:
            over.set()
            await asyncio.wait(tasks)
        for task in tasks:
            task.result()

    async def _answer_all(self, host: Host, name: str, over: asyncio.Event) -> None:
        """Answer what asks, twice, until told that it is over."""
        while not over.is_set():
            try:
                for request in await host.pending(limit=200):
                    answer = self._decide(request)
                    for _ in range(2):
                        await self._give(host, answer, name)
            except StoreError:
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.02)

    async def _give(self, host: Host, answer: Answer, name: str) -> None:
        try:
            await host.answer(answer, by=name, via="soak")
            self._found.answers += 1
        except Refused:
            self._found.refused += 1

    def _decide(self, request: Request) -> Answer:
        """Yes; but of a call that may have run, only if the ledger has fewer lines of the session than calls before."""
        go = True
        if request.in_doubt:
            self.doubted.add(request.id)
            done = sum(line.startswith(f"{request.session_id} ") for line in self._ledger.read_text().splitlines())
            go = done <= int(request.call_id[1:])
        return Answer(request_id=request.id, digest=request.digest, decision="approve" if go else "reject")


async def soak(
    folder: Path, *, workers: int, sessions: int, seconds: float, restarts: float, kills: float, seed: int
) -> Found:
    """Work through `sessions` sessions, for at least `seconds`, with a kill every `kills` and a restart of the database
    every `restarts` seconds, about; then look."""
    rng, found, began = random.Random(seed), Found(sessions=sessions), time.monotonic()
    database = OwnServer(folder)
    ledger = folder / "ledger"
    ledger.touch()
    fleet, clients = Fleet(folder, database.dsn), Clients(ledger, found)
    try:
        for _ in range(workers):
            fleet.start()
        async with _surfaces(database.dsn, ledger) as hosts, clients.answering(hosts):
            harm = asyncio.create_task(_harm(fleet, database, found, rng, kills=kills, restarts=restarts))
            await _begin(clients, hosts[0], sessions, seconds)
            harm.cancel()
            await asyncio.wait([harm])
            await asyncio.wait_for(_all_idle(hosts[0].store, sessions), 120)
            codes = await asyncio.to_thread(fleet.end)
            assert codes == [0] * workers, codes
            found.doubts, found.seconds = len(clients.doubted), time.monotonic() - began
            await _look(hosts[0].store, ledger, found)
    finally:
        fleet.kill_all()
        await asyncio.to_thread(database.stop, "immediate")
    return found


@asynccontextmanager
async def _surfaces(dsn: str, ledger: Path) -> AsyncIterator[list[Host]]:
    """Three hosts that only take what people say, each with a store of its own."""
    os.environ.update(FLEET_DSN=dsn, FLEET_LEDGER=str(ledger))
    from soak.fleet_app import build

    async with AsyncExitStack() as stack:
        stores = [PostgresStore(dsn) for _ in range(3)]
        hosts = [Host(store, {"payer": build}, tick=60) for store in stores]
        for store, host in zip(stores, hosts, strict=True):
            stack.push_async_callback(store.close)
            host.hand_over(await stack.enter_async_context(Queue(store)))
        yield hosts


async def _begin(clients: Clients, host: Host, sessions: int, seconds: float) -> None:
    """Spread over the time, so that there is always work while something is harmed."""
    began = time.monotonic()
    for n in range(sessions):
        await clients.begin(host, f"s{n}")
        await asyncio.sleep(max(0.0, began + seconds * (n + 1) / sessions - time.monotonic()))


async def _harm(
    fleet: Fleet, database: OwnServer, found: Found, rng: random.Random, *, kills: float, restarts: float
) -> None:
    next_restart = time.monotonic() + rng.uniform(0.5, 1.5) * restarts
    while True:
        await asyncio.sleep(rng.uniform(0.5, 1.5) * kills)
        fleet.kill(rng)
        found.kills += 1
        if time.monotonic() > next_restart:
            restarting = asyncio.to_thread(database.restart, rng.choice(["fast", "immediate"]))
            await asyncio.shield(asyncio.ensure_future(restarting))
            found.restarts += 1
            next_restart = time.monotonic() + rng.uniform(0.5, 1.5) * restarts


async def _all_idle(store: Store, sessions: int) -> None:
    while True:
        try:
            states = [await store.sessions(state=state, limit=1) for state in ("working", "parked")]
            if not any(states) and await store.session(f"s{sessions - 1}") is not None:
                return
        except StoreError:
            pass  # the database is away: asked again below
        await asyncio.sleep(0.2)


async def _look(store: Store, ledger: Path, found: Found) -> None:
    """What is in the ledger and in the logs."""
    from soak.fleet_app import build

    done = _payments(ledger)
    found.effects = sum(done.values())
    for n in range(found.sessions):
        found.twice += done[f"s{n}"] > 2
        found.missing += done[f"s{n}"] < 2
        found.broken_logs += verify(await store.read(f"s{n}")) is not None
        agent = build(store, f"s{n}")
        await agent.load()
        said = agent.state.context[-1]
        found.unfinished += said.finished_reason != "completed"
        found.results_not_one += sorted(b.id for b in said.get_content_blocks(ToolResultBlock)) != ["c0", "c1"]


def _payments(ledger: Path) -> Counter[str]:
    return Counter(line.split()[0] for line in ledger.read_text().splitlines())


def main() -> int:
    """Print what was found; fail if an invariant does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=300, help="over which sessions begin, and things are harmed")
    parser.add_argument("--kills", type=float, default=1.0, help="seconds between two SIGKILLs of a worker, about")
    parser.add_argument("--restarts", type=float, default=20.0, help="seconds between two restarts of the database")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = vars(parser.parse_args())
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        found = asyncio.run(soak(Path(folder), **args))
    print(f"seed {args['seed']}: " + ", ".join(f"{name} {value:.4g}" for name, value in asdict(found).items()))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())

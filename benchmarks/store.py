"""What a log costs: commits beside the bare limit, group commit, and many parked sessions in one file.

    python benchmarks/store.py                       100,000 parked sessions
    python benchmarks/store.py --parked 1000000      what is promised (takes some minutes and 2 GB of disk)
    python benchmarks/store.py --directory /mnt/ssd  on another disk than the temporary directory's

Every comparison is made in this run, in rounds that take turns, so that the machine's noise falls on both sides.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import apsw

from sayso.store import Index, MemoryStore, SQLiteStore, Store, Waiting

NOW = "2026-12-01T12:00:00.000+00:00"
FACT = b'{"text":"' + b"x" * 989 + b'"}'
WORKING = Index(agent="ops", title="Restart the web server", state="working", runner="0" * 24)
failed: list[str] = []


def report(what: str, value: float, unit: str, *, most: float | None = None, least: float | None = None) -> None:
    """One line; a promise that is not kept is remembered."""
    kept = (most is None or value <= most) and (least is None or value >= least)
    promise = "" if most is None else f"at most {most:g}"
    promise += "" if least is None else f"at least {least:g}"
    print(f"{what:<68} {value:>9,.4g} {unit:<10} {promise:<14} {'' if kept else 'NOT KEPT'}".rstrip(), flush=True)
    if not kept:
        failed.append(what)


def memory_kib() -> int:
    """What this process holds of the machine's memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


async def milliseconds(times: int, call: Callable[[int], Awaitable[object]]) -> list[float]:
    """How long each call took, sorted."""
    taken = []
    for n in range(times):
        start = time.perf_counter()
        await call(n)
        taken.append((time.perf_counter() - start) * 1e3)
    return sorted(taken)


class Bare:
    """The least that a durable commit costs here: one insert of the same bytes, one fsync, no thread."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        for statement in ("journal_mode = WAL", "synchronous = FULL"):
            self.connection.execute(f"PRAGMA {statement}").fetchall()
        self.connection.execute("CREATE TABLE facts (fact BLOB)")

    async def commit(self, _: int = 0) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute("INSERT INTO facts VALUES (?)", (FACT,))
        self.connection.execute("COMMIT")


async def write(store: Store, session_id: str, appends: int) -> None:
    for at in range(appends):
        await store.append(session_id, [FACT], at=at, time=NOW, index=WORKING)


async def append_alone(store: Store, session_id: str, at: int) -> None:
    await store.append(session_id, [FACT], at=at, time=NOW, index=WORKING)


async def bench_memory() -> None:
    for size, most in ((1000, None), (300, 15)):
        store, taken = MemoryStore(), []
        facts = [b'"' + b"y" * (size - 2) + b'"'] * 3
        for turn in range(10):
            start = time.perf_counter()
            for n in range(300):
                await store.append(f"s{n % 30}", facts, at=(turn * 10 + n // 30) * 3, time=NOW, index=WORKING)
            taken.append((time.perf_counter() - start) / 300 * 1e6)
        report(f"MemoryStore: append of 3 facts of {size} bytes", statistics.median(taken), "us", most=most)


async def bench_commits(directory: Path, rounds: int) -> None:
    store, bare = SQLiteStore(directory / "commits.db"), Bare(directory / "bare.db")
    bares: list[float] = []
    alone: list[float] = []
    rates: dict[int, list[float]] = {1: [], 20: [], 64: []}
    for turn in range(rounds):
        bares += await milliseconds(200, bare.commit)
        alone += await milliseconds(200, partial(append_alone, store, f"alone{turn}"))
        for writers, rate in rates.items():
            each = 640 // writers
            start = time.perf_counter()
            await asyncio.gather(*(write(store, f"{turn}/{writers}/{n}", each) for n in range(writers)))
            rate.append(each * writers / (time.perf_counter() - start))
    limit = 1e3 / statistics.fmean(bares)
    report("bare apsw, one commit after the other", limit, "commits/s")
    for writers, rate in rates.items():
        now = statistics.median(rate)
        report(f"SQLiteStore, {writers} writers at once", now, "appends/s")
        report(f"  beside bare commits, {writers} writers", now / limit, "x")
    one, many = statistics.median(rates[1]), statistics.median(rates[64])
    report("64 sessions at once beside 64 one after the other", many / one, "x", least=5)
    ratio = statistics.median(alone) / statistics.median(bares)
    report("an append alone beside a bare commit of its bytes, median", ratio, "x", most=2)
    await store.close()
    bare.connection.close()


async def bench_wake(directory: Path) -> None:
    store, other = SQLiteStore(directory / "wake.db"), SQLiteStore(directory / "wake.db")
    await write(other, "s", 1)
    taken = []
    for at in range(1, 200):
        wait = asyncio.create_task(store.wait("s", after=at))
        await asyncio.wait([wait], timeout=0.002)
        await other.append("s", [FACT], at=at, time=NOW, index=WORKING)
        start = time.perf_counter()
        await wait
        taken.append((time.perf_counter() - start) * 1e3)
    report("from an append's return to the end of another store's wait, median", statistics.median(taken), "ms")
    reads = await milliseconds(500, lambda _: store.session("s"))
    report("a small read, median", statistics.median(reads), "ms")
    await store.close()
    await other.close()


async def bench_growth(directory: Path) -> None:
    store, sizes = SQLiteStore(directory / "growth.db"), []
    for turn in range(1000):
        if turn in (10, 110, 890, 990):
            sizes.append(file_size(store.path))
        await store.append("s", [FACT] * 3, at=turn * 3, time=NOW, index=WORKING, durable=False)
    early, late = (sizes[1] - sizes[0]) / 100, (sizes[3] - sizes[2]) / 100
    report("bytes on disk of an append of 3 kB, early in a session", early, "bytes")
    report("  late in the session, beside early", late / early, "x", most=1.1)
    await store.close()


def file_size(path: Path) -> int:
    """Of the database when everything is in it."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    pages = connection.pragma("page_count")
    connection.close()
    assert isinstance(pages, int)
    return pages * 4096


def parked(n: int) -> Index:
    """Session n, waiting for a yes to one call."""
    request = Waiting(
        request_id=f"{n:024x}",
        session_id=f"session-{n}",
        kind="ask" if n % 1000 == 0 else "confirm",
        tool="rare" if n % 10_000 == 0 else "bash",
        created_at=f"2026-12-01T{n // 60_000 % 24:02}:{n // 1000 % 60:02}:{n % 60:02}.{n % 1000:03}+00:00",
        expires_at=f"2026-12-02T{n % 24:02}:{n % 60:02}:00.000+00:00",
        body=b'{"preview":"' + b"p" * 500 + b'"}',
    )
    return Index(agent="ops", title=f"Task {n}", state="parked", waiting=(request,))


async def fill(path: Path, count: int) -> None:
    store, order = SQLiteStore(path), list(range(count))
    random.Random(1).shuffle(order)
    for start in range(0, count, 2000):
        await asyncio.gather(
            *(
                store.append(f"session-{n}", [FACT], at=0, time=NOW, index=parked(n), durable=False)
                for n in order[start : start + 2000]
            )
        )
    await store.close()


async def bench_parked(path: Path, count: int) -> None:
    """In a process of its own, which starts with nothing of the file in memory."""
    idle = SQLiteStore(path.with_name("empty.db"))
    await write(idle, "s", 100)
    await idle.waiting()
    before, store = memory_kib(), SQLiteStore(path)
    pick = random.Random(2).sample(range(count), 200)
    one = f"of {count:,} parked sessions"
    first = await milliseconds(1, lambda _: store.waiting())
    report(f"waiting(), first page {one}, first call", first[0], "ms", most=20)
    for what, page in (
        ("", lambda _: store.waiting()),
        (", newest first", lambda _: store.waiting(newest_first=True)),
        (" of a rare tool", lambda _: store.waiting(tool="rare")),
        (" of a rare kind", lambda _: store.waiting(kind="ask")),
    ):
        report(f"waiting(), first page{what}, slowest of 20", (await milliseconds(20, page))[-1], "ms", most=20)
    pages = await milliseconds(100, lambda n: store.waiting(after=f"{pick[n]:024x}"))
    report("waiting(), any page, slowest of 100", pages[-1], "ms", most=20)
    pages = await milliseconds(20, lambda _: store.due(before="2026-12-02T01:00:00.000+00:00"))
    report("due(), 100 of them, slowest of 20", pages[-1], "ms", most=20)
    pages = await milliseconds(20, lambda _: store.sessions(state="working"))
    report("sessions(state), slowest of 20", pages[-1], "ms", most=20)
    reads = await milliseconds(200, lambda n: store.read(f"session-{pick[n]}"))
    report("read() of any session, slowest of 200", reads[-1], "ms", most=20)
    appends = await milliseconds(
        200, lambda n: store.append(f"session-{pick[n]}", [FACT], at=1, time=NOW, index=WORKING)
    )
    report("append() to any session, median of 200", statistics.median(appends), "ms")
    report("append() to any session, slowest of 200", appends[-1], "ms", most=20)
    grown = (memory_kib() - before) * 1024
    report("memory per parked session", grown / count, "bytes")
    report("memory of all of them, SQLite's caches included", grown / 2**20, "MiB", most=32)
    await store.close()
    await idle.close()


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--parked", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--directory", type=Path)
    options.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.measure:
        asyncio.run(bench_parked(chosen.measure, chosen.parked))
        sys.exit(bool(failed))
    with tempfile.TemporaryDirectory(dir=chosen.directory) as name:
        directory = Path(name)
        asyncio.run(bench_memory())
        asyncio.run(bench_commits(directory, chosen.rounds))
        asyncio.run(bench_wake(directory))
        asyncio.run(bench_growth(directory))
        start = time.perf_counter()
        path = directory / "parked.db"
        asyncio.run(fill(path, chosen.parked))
        rate = chosen.parked / (time.perf_counter() - start)
        report("parking sessions, not durable, 2,000 at once", rate, "appends/s")
        report("bytes on disk per parked session (1.5 kB said)", path.stat().st_size / chosen.parked, "bytes")
        command = [sys.executable, __file__, "--parked", str(chosen.parked), "--measure", str(path)]
        measured = subprocess.run(command, check=False).returncode
    sys.exit(bool(failed) or measured)


if __name__ == "__main__":
    main()

"""What a log in Postgres costs: commits beside the bare limit, many parked sessions, and work by number of workers.

    python benchmarks/postgres.py                      20,000 parked sessions
    python benchmarks/postgres.py --parked 1000000     what is promised (takes some minutes and 6 GB of disk)
    python benchmarks/postgres.py --only workers       one part: commits, wake, parked or workers

It starts a Postgres of its own with its default settings. Every comparison is made in this run, in rounds that take
turns, so that the machine's noise falls on both sides.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import psycopg

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from postgres import fresh_database  # noqa: E402 - tests' own way to a server
from sayso.host import Host  # noqa: E402
from sayso.message import ToolCallBlock  # noqa: E402
from sayso.request import Answer  # noqa: E402
from sayso.store import PostgresStore, Store  # noqa: E402
from sayso.testing import ScriptedModel  # noqa: E402
from sayso.worker import fronting  # noqa: E402
from store import FACT, NOW, WORKING, failed, memory_kib, milliseconds, report, write  # noqa: E402

CALLS = 200


def spread(what: str, taken: list[float], *, most: float | None = None) -> None:
    """Median and 99th percentile of sorted milliseconds."""
    report(f"{what}, median", statistics.median(taken), "ms", most=most)
    report("  p99", taken[int(len(taken) * 0.99) - 1], "ms")


async def bench_commits(rounds: int) -> None:
    dsn = fresh_database()
    store = PostgresStore(dsn)
    bare = psycopg.connect(dsn)
    bare.execute("CREATE TABLE bare (fact bytea)")
    bare.commit()
    limits: list[float] = []
    rates: dict[int, list[float]] = {1: [], 20: [], 200: []}
    for turn in range(rounds):
        start = time.perf_counter()
        for _ in range(400):
            bare.execute("INSERT INTO bare VALUES (%s)", (FACT,))
            bare.commit()
        limits.append(400 / (time.perf_counter() - start))
        for writers, rate in rates.items():
            each = max(4, 800 // writers)
            start = time.perf_counter()
            await asyncio.gather(*(write(store, f"{turn}/{writers}/{n}", each) for n in range(writers)))
            rate.append(each * writers / (time.perf_counter() - start))
    limit = statistics.median(limits)
    report("bare psycopg, one insert and commit after the other", limit, "commits/s")
    for writers, rate in rates.items():
        report(f"PostgresStore, {writers} writers of one process", statistics.median(rate), "appends/s")
        report("  beside bare commits", statistics.median(rate) / limit, "x")
    bare.close()
    await store.close()
    await asyncio.to_thread(bench_processes, dsn, limit)


def bench_processes(dsn: str, limit: float) -> None:
    """Four processes that each append from 20 writers for a while."""
    code = (
        "import asyncio, sys; sys.path[:0] = sys.argv[3:]\n"
        "from store import write\nfrom sayso.store import PostgresStore\n"
        "async def main():\n"
        "    store = PostgresStore(sys.argv[1])\n"
        "    await store.sessions(limit=1); print('ready', flush=True); sys.stdin.readline()\n"
        "    await asyncio.gather(*(write(store, f'{sys.argv[2]}/{n}', 100) for n in range(20)))\n"
        "    await store.close()\n"
        "asyncio.run(main())"
    )
    arguments = [str(ROOT / "tests"), str(ROOT / "benchmarks")]
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen([sys.executable, "-c", code, dsn, f"p{n}", *arguments], stdin=pipe, stdout=pipe, text=True)
        for n in range(4)
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    start = time.perf_counter()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        assert child.wait() == 0
    rate = 4 * 20 * 100 / (time.perf_counter() - start)
    report("PostgresStore, 4 processes with 20 writers each, together", rate, "appends/s")
    report("  beside bare commits", rate / limit, "x")


async def bench_wake() -> None:
    dsn = fresh_database()
    store, other = PostgresStore(dsn), PostgresStore(dsn)
    await write(other, "s", 1)
    taken = []
    for at in range(1, CALLS):
        wait = asyncio.create_task(store.wait("s", after=at))
        await asyncio.wait([wait], timeout=0.005)
        await other.append("s", [FACT], at=at, time=NOW, index=WORKING)
        start = time.perf_counter()
        await wait
        taken.append((time.perf_counter() - start) * 1e3)
    spread("from an append's return to the end of another process's wait", sorted(taken))
    await store.close()
    await other.close()


# -- parked sessions ----------------------------------------------------------------------------------------


def payer(store: Store, session_id: str) -> object:
    from sayso.agent import Agent
    from sayso.tool import FunctionTool

    def pay(to: str, amount: int, why: str) -> str:
        """Pay somebody."""
        return f"paid {amount} to {to}"

    text = json.dumps({"to": "the landlord", "amount": 1200, "why": "rent for December, as every month " * 6})
    turns = [[ToolCallBlock(id="c1", name="pay", input=text)], "done"]
    return Agent("payer", "", ScriptedModel(turns), [FunctionTool(pay)], store=store, session_id=session_id)


_MULTIPLY = (
    """INSERT INTO sayso_sessions (number, session_id, agent, title, state, length, created_at, updated_at, change)
       SELECT number + n, 'p' || lpad(n::text, 7, '0'), agent, title, state, length, created_at, updated_at, change + n
       FROM sayso_sessions, generate_series(1, %(count)s) AS n WHERE session_id = 'p0000000'""",
    """INSERT INTO sayso_entries SELECT e.number + n, seq, at, convert_to(replace(replace(convert_from(fact, 'utf8'),
           'p0000000', 'p' || lpad(n::text, 7, '0')), %(request)s, 'r' || lpad(n::text, 23, '0')), 'utf8'), hash
       FROM sayso_entries e JOIN sayso_sessions s ON s.number = e.number, generate_series(1, %(count)s) AS n
       WHERE s.session_id = 'p0000000'""",
    """INSERT INTO sayso_requests SELECT 'r' || lpad(n::text, 23, '0'), 'p' || lpad(n::text, 7, '0'), kind, tool,
           to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.000+00:00'),
           CASE WHEN n %% 1000 = 0 THEN '2026-12-01T12:00:00.000+00:00' END, convert_to(replace(replace(
           convert_from(body, 'utf8'), 'p0000000', 'p' || lpad(n::text, 7, '0')), %(request)s,
           'r' || lpad(n::text, 23, '0')), 'utf8'), open
       FROM sayso_requests, generate_series(1, %(count)s) AS n WHERE session_id = 'p0000000'""",
)


async def bench_parked(count: int) -> None:
    dsn = fresh_database()
    store = PostgresStore(dsn)
    async with Host(store, {"payer": payer}) as host:  # type: ignore[dict-item]
        await host.submit("p0000000", "pay the rent")
        await host.settled()
        (request,) = await host.pending()
    with psycopg.connect(dsn, autocommit=True) as connection:
        start = time.perf_counter()
        for statement in _MULTIPLY:
            connection.execute(statement.encode(), {"count": count, "request": request.id})
        connection.execute("VACUUM ANALYZE")
        report(f"{count:,} sessions multiplied from a real parked one", time.perf_counter() - start, "s")
        whole = 0
        for table in ("sessions", "entries", "requests"):
            question = f"SELECT pg_table_size('sayso_{table}'), pg_indexes_size('sayso_{table}')"
            rows, indexes = connection.execute(question.encode()).fetchone() or (0, 0)
            whole += rows + indexes
            report(f"  sayso_{table}: rows a session", rows / count, "bytes")
            report(f"  sayso_{table}: indexes a session", indexes / count, "bytes")
        report("bytes on disk of a parked session, all in all", whole / count, "bytes")
    await store.close()
    await bench_questions(dsn, count)


async def bench_questions(dsn: str, count: int) -> None:
    before = memory_kib()
    store = PostgresStore(dsn)
    await store.waiting(limit=50)
    report(f"memory that {count:,} parked sessions cost a process", memory_kib() - before, "KiB", most=20_000)
    middle = f"r{count // 2:023}"
    asks: dict[str, Callable[[int], Awaitable[object]]] = {
        "the first 50 requests": lambda _: store.waiting(limit=50),
        "50 requests in the middle": lambda _: store.waiting(limit=50, after=middle),
        "the newest 50 of one tool": lambda _: store.waiting(limit=50, tool="pay", newest_first=True),
        "the requests of one session": lambda n: store.waiting(session_id=f"p{n * 97 % count + 1:07}"),
        "find one request": lambda n: store.find(f"r{n * 89 % count + 1:023}"),
        "what is due, 100 at most": lambda _: store.due(before="2026-12-02T00:00:00.000+00:00"),
        "the first 50 parked sessions": lambda _: store.sessions(state="parked"),
        "read one session's log": lambda n: store.read(f"p{n * 83 % count + 1:07}"),
    }
    for what, ask in asks.items():
        await ask(0)
        spread(what, await milliseconds(CALLS, ask), most=10)
    async with Host(store, {"payer": payer}) as host:  # type: ignore[dict-item]
        spread(
            "answer one request, and drive its session to the end",
            await milliseconds(50, partial(answered, host, count)),
        )
    await store.close()


async def answered(host: Host, count: int, n: int) -> None:
    request = await host.request(f"r{n * 79 % count + 1:023}")
    await host.answer(Answer(request_id=request.id, digest=request.digest, decision="approve"), by="b", via="bench")
    await host.settled()


# -- workers ------------------------------------------------------------------------------------------------


async def bench_workers(sessions: int) -> None:
    """Sessions of two approved calls each, by number of worker processes of ten sessions at a time."""
    from soak.fleet import Fleet

    for what, slowest, count in (("5 ms", "0.005", sessions), ("1 s", "1", sessions // 2)):
        for workers in (1, 2, 4):
            dsn = fresh_database()
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "ledger").touch()
                os.environ |= {"FLEET_DSN": dsn, "FLEET_LEDGER": f"{folder}/ledger", "FLEET_SLOWEST": slowest}
                fleet = Fleet(Path(folder), dsn)
                for _ in range(workers):
                    fleet.start()
                alone, together, seconds = await through(dsn, workers, count)
                fleet.end()
            name = f"{workers} worker{'s' if workers > 1 else ''}, calls of about {what}"
            report(f"{name}: {count} sessions at once", count / seconds, "sessions/s")
            spread("  from an answer to the session's rest, one at a time", alone)
            spread("  the same, all at once", together)


async def through(dsn: str, workers: int, sessions: int) -> tuple[list[float], list[float], float]:
    """From an answer's commit to the session's next rest, one at a time and all at once; and the seconds of all."""
    from soak.fleet_app import build

    store = PostgresStore(dsn)
    host = Host(store, {"payer": build}, tick=60)

    async def one(name: str, taken: list[float]) -> None:
        await host.submit(name, "pay twice")
        for _ in range(2):
            while not (found := await host.pending(session_id=name)):
                await rest(name)
            answer = Answer(request_id=found[0].id, digest=found[0].digest, decision="approve")
            await host.answer(answer, by="b", via="bench")
            start = time.perf_counter()
            await rest(name)
            taken.append((time.perf_counter() - start) * 1e3)

    async def rest(name: str) -> None:
        while (row := await store.session(name)) is None or row.state == "working":
            await store.wait(name, after=row.length if row else 0)

    alone, together = list[float](), list[float]()
    async with fronting(host, store) as queue, host:
        while await queue.workers() < workers:  # noqa: ASYNC110 - they tell nobody but the table
            await asyncio.sleep(0.1)
        await one("warm", [])
        for n in range(10):
            await one(f"alone{n}", alone)
        start = time.perf_counter()
        await asyncio.gather(*(one(f"s{n}", together) for n in range(sessions)))
        seconds = time.perf_counter() - start
    await store.close()
    return sorted(alone), sorted(together), seconds


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parked", type=int, default=20_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=200, help="for the workers (default: 200)")
    parser.add_argument("--only", choices=("commits", "wake", "parked", "workers"))
    options = parser.parse_args()
    parts: dict[str, Callable[[], Awaitable[None]]] = {
        "commits": lambda: bench_commits(options.rounds),
        "wake": bench_wake,
        "parked": lambda: bench_parked(options.parked),
        "workers": lambda: bench_workers(options.sessions),
    }
    for name, part in parts.items():
        if options.only in (None, name):
            await part()
    print(f"not kept: {', '.join(failed) or 'nothing'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

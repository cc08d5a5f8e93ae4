"""What durability costs: a turn against bare commits of its bytes; a long session; many answers at once.

    python benchmarks/durable.py [--turns 1000] [--disk DIR]

All on one disk, in one run; ratios are what to quote.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import apsw

from sayso.agent import Agent
from sayso.event import ConfirmResult, UserConfirmResultEvent
from sayso.host import Host
from sayso.message import TextBlock, ToolCallBlock
from sayso.model.base import ModelResponse
from sayso.request import Answer
from sayso.store import SQLiteStore
from sayso.tool import FunctionTool


async def pay(to: str) -> str:
    """Pay."""
    return "paid"


class Model:
    """Asks to pay, then says done; looks at the last block only."""

    model_name = "bench"
    count = 0

    async def respond(self, messages: Any, tools: Any) -> Any:
        if messages[-1].content[-1].type == "tool_result":
            yield ModelResponse([TextBlock(text="done")])
        else:
            Model.count += 1
            yield ModelResponse([ToolCallBlock(id=f"c{Model.count}", name="pay", input='{"to": "ann"}')])


TOOLS = [FunctionTool(pay)]


def agent(store: SQLiteStore, session_id: str) -> Agent:
    """The bench agent of a session."""
    return Agent("bench", "", Model(), TOOLS, store=store, session_id=session_id)


async def turn(store: SQLiteStore, session_id: str) -> None:
    """A turn whose pause and resume are two agents made anew."""
    await agent(store, session_id).reply("pay")
    later = agent(store, session_id)
    await later.load()
    (request,) = later.requests()
    call = ToolCallBlock(id=request.call_id, name=request.tool, input=request.input)
    yes = [ConfirmResult(confirmed=True, tool_call=call)]
    await later.reply(UserConfirmResultEvent(reply_id=request.reply_id, confirm_results=yes))


def bare_commits(path: Path, size: int, n: int) -> float:
    """Seconds for one of n rounds of three commits of `size` bytes together, WAL and synchronous FULL."""
    db = apsw.Connection(str(path))
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE t (x BLOB)"):
        db.execute(statement).fetchall()
    times = []
    for _ in range(n):
        start = time.perf_counter()
        for _ in range(3):
            with db:
                db.execute("INSERT INTO t VALUES (?)", (b"x" * (size // 3),))
        times.append(time.perf_counter() - start)
    db.close()
    return statistics.median(times)


async def one_session(folder: Path, turns: int) -> None:
    """Time and bytes of turn 10, 200 and the last of one session."""
    store = SQLiteStore(folder / "one.db")
    times: list[float] = []
    sizes: list[int] = []
    for _ in range(turns):
        before = await stored(store)
        start = time.perf_counter()
        await turn(store, "one")
        times.append((time.perf_counter() - start) * 1e3)
        sizes.append(await stored(store) - before)
    for n in (10, 50, 200, turns):
        if n <= turns:
            t = statistics.median(times[max(0, n - 9) : n])
            size = statistics.mean(sizes[max(0, n - 9) : n])
            print(f"turn {n:5}: {t:7.2f} ms, {size:7.0f} bytes of log")
    small = await turns_of_many(store, 50)
    bare = bare_commits(folder / "bare.db", round(statistics.mean(sizes)), 200) * 1e3
    print(f"a durable turn: {small:.2f} ms; three bare commits of its bytes: {bare:.2f} ms; {small / bare:.2f} times")
    await store.close()


async def turns_of_many(store: SQLiteStore, n: int) -> float:
    """Median milliseconds of a turn in sessions of their own."""
    times = []
    for i in range(n):
        start = time.perf_counter()
        await turn(store, f"many{i}")
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


async def stored(store: SQLiteStore) -> int:
    """Bytes of facts in session `one`."""
    return sum(len(e.fact) + len(e.hash) for e in await store.read("one"))


async def many_answers(folder: Path, sessions: int) -> None:
    """Answers one after the other, and all at once through a host."""
    for together in (False, True):
        store = SQLiteStore(folder / f"answers{together}.db")
        host = Host(store, {"bench": agent})
        for i in range(sessions):
            await host.submit(f"s{i}", "pay")
        await host.settled()
        requests = await host.pending(limit=sessions)
        answers = [Answer(request_id=r.id, digest=r.digest, decision="approve") for r in requests]
        start = time.perf_counter()
        if together:
            await asyncio.gather(*(host.answer(a, by="b", via="bench") for a in answers))
        else:
            for a in answers:
                await host.answer(a, by="b", via="bench")
                await host.settled()
        await host.settled()
        seconds = time.perf_counter() - start
        how = "all at once" if together else "one after the other"
        print(f"{sessions} sessions answered {how}: {seconds * 1e3:.0f} ms, {sessions / seconds:.0f} a second")
        await host.close()
        await store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--disk", default=None, help="a folder on the disk to measure")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.disk) as folder:
        asyncio.run(one_session(Path(folder), args.turns))
        asyncio.run(many_answers(Path(folder), args.sessions))


if __name__ == "__main__":
    main()

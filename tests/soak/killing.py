"""Real processes on one SQLite file, killed by SIGKILL at random moments, until all work is done.

A process opens the store, goes on with what it finds, approves what asks, and begins new sessions. The effect is a line
in a file, written and synced by the tool. A call in doubt is answered by looking into that file, as a person would at
their bank. Run as a program: python tests/soak/killing.py --kills 2000
"""

import argparse
import asyncio
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.agent import Agent
from sayso.errors import Conflict, Refused
from sayso.host import Host
from sayso.message import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from sayso.model.base import ModelResponse, ModelStream, ToolSchema
from sayso.request import Answer, Request
from sayso.store import SQLiteStore
from sayso.store.base import Store
from sayso.store.chain import verify
from sayso.tool import FunctionTool


@dataclass
class Counts:
    """What a run found. Everything but the first four must be zero."""

    kills: int = 0
    sessions: int = 0
    effects: int = 0
    doubts: int = 0
    twice: int = 0
    missing: int = 0
    unfinished: int = 0
    broken_logs: int = 0
    results_not_one: int = 0


class TwoPayments:
    """A model that wants two payments, one after the other, then says done."""

    model_name = "two-payments"

    async def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
        seen = sum(isinstance(b, ToolResultBlock) for m in messages for b in m.content)
        if seen >= 2:
            yield ModelResponse([TextBlock(text="done")])
        else:
            yield ModelResponse([ToolCallBlock(id=f"c{seen}", name="pay", input="{}")])


def builder(ledger: Path) -> Any:
    def build(store: Store, session_id: str) -> Agent:
        step = iter(range(100))

        def pay() -> str:
            """Pay."""
            with ledger.open("a") as file:
                file.write(f"{session_id} {os.getpid()} {next(step)}\n")
                file.flush()
                os.fsync(file.fileno())
            return "paid"

        return Agent("payer", "", TwoPayments(), [FunctionTool(pay)], store=store, session_id=session_id)

    return build


async def work(folder: Path, sessions: int) -> None:
    """One process: everything that can be done, until every session has ended."""
    store, ledger = SQLiteStore(folder / "log.db"), folder / "ledger"
    async with Host(store, {"payer": builder(ledger)}, tick=60) as host:
        for n in range(sessions):
            if await store.session(f"s{n}") is None:
                await host.submit(f"s{n}", "pay twice")
        while True:
            await host.settled()
            requests = await host.pending(limit=200)
            if not requests and not await host.pick_up():
                break
            for request in requests:
                try:
                    await host.answer(decide(request, ledger), by="person", via="soak")
                except (Conflict, Refused):
                    continue
    await store.close()


def decide(request: Request, ledger: Path) -> Answer:
    """Yes; but of a call that may have run, only if the ledger has fewer lines of the session than calls before it."""
    go = True
    if request.in_doubt:
        done = sum(line.startswith(f"{request.session_id} ") for line in ledger.read_text().splitlines())
        go = done <= int(request.call_id[1:])
        (ledger.parent / "doubts").open("a").write("x\n")
    return Answer(request_id=request.id, digest=request.digest, decision="approve" if go else "reject")


def run_until_killed(folder: Path, sessions: int, limit: float | None) -> bool:
    """A forked process works; it is killed after `limit` seconds. True if it came to its end."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            asyncio.run(work(folder, sessions))
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    select.select([read], [], [], limit)
    os.close(read)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise RuntimeError("a worker failed by itself; its traceback is above")
    return os.WIFEXITED(status)


def soak(folder: Path, *, kills: int, sessions: int, seed: int, shortest: float, longest: float) -> Counts:
    """Kill `kills` processes at random moments, with new sessions whenever the old ones are done; then look."""
    rng, counts = random.Random(seed), Counts()
    total = sessions
    while counts.kills < kills:
        if run_until_killed(folder, total, rng.uniform(shortest, longest)):
            total += sessions
        else:
            counts.kills += 1
    while not run_until_killed(folder, total, None):
        pass
    return asyncio.run(look(folder, total, counts))


async def look(folder: Path, sessions: int, counts: Counts) -> Counts:
    """What is in the ledger and in the logs."""
    lines = [line.split()[0] for line in (folder / "ledger").read_text().splitlines()]
    doubts = folder / "doubts"
    counts.sessions, counts.effects = sessions, len(lines)
    counts.doubts = len(doubts.read_text().splitlines()) if doubts.exists() else 0
    store = SQLiteStore(folder / "log.db")
    for n in range(sessions):
        done = lines.count(f"s{n}")
        counts.twice += done > 2
        counts.missing += done < 2
        counts.broken_logs += verify(await store.read(f"s{n}")) is not None
        agent = builder(folder / "ledger")(store, f"s{n}")
        await agent.load()
        said = agent.state.context[-1]
        counts.unfinished += said.finished_reason != "completed"
        counts.results_not_one += sorted(b.id for b in said.get_content_blocks(ToolResultBlock)) != ["c0", "c1"]
    await store.close()
    return counts


def main() -> int:
    """Print the counts; fail if an invariant does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=2000)
    parser.add_argument("--sessions", type=int, default=20, help="sessions at a time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = soak(
            Path(folder), kills=args.kills, sessions=args.sessions, seed=args.seed, shortest=0.02, longest=0.4
        )
    print(f"seed {args.seed}: {counts}")
    bad = counts.twice or counts.missing or counts.unfinished or counts.broken_logs or counts.results_not_one
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""A worker that is cut off from the database starts nothing; what it was doing is in doubt until it can say more."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hosting import yes
from postgres import fresh_database
from sayso.agent import Agent
from sayso.host import Host
from sayso.message import ToolResultBlock
from sayso.request import Answer, Request
from sayso.store import PostgresStore
from sayso.store.base import Store
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool
from working import Door, WorkerProcess, front, until

pytestmark = pytest.mark.slow


@dataclass
class World:
    """A front, a worker behind a door to the database, and the files of `gated_app`."""

    host: Host
    door: Door
    first: WorkerProcess
    folder: Path
    dsn: str

    workers: list[WorkerProcess]

    async def second(self, **environment: str) -> WorkerProcess:
        """A worker with a way of its own to the database."""
        self.workers.append(worker(self.folder, self.dsn, **environment))
        return await self.workers[-1].ready()

    def open(self, gate: str) -> None:
        (self.folder / gate).touch()

    def ledger(self, what: str) -> list[int]:
        """The processes that did it, in order."""
        path = self.folder / "ledger"
        lines = path.read_text().split("\n") if path.exists() else []
        return [int(line.split()[2]) for line in lines if line.startswith(f"{what} ")]

    async def did(self, what: str, times: int = 1) -> list[int]:
        async def look() -> list[int] | None:
            found = self.ledger(what)
            return found if len(found) >= times else None

        return await until(look) or []

    async def asked(self) -> Request:
        async def look() -> list[Request]:
            return await self.host.pending()

        return (await until(look))[0]

    async def results(self, session_id: str) -> list[str]:
        """The results in a session that has come to its end."""

        async def look() -> bool:
            row = await self.host.store.session(session_id)
            return row is not None and row.state == "idle"

        await until(look)
        blocks = (await self.host.session(session_id)).context[-1].get_content_blocks(ToolResultBlock)
        return [block.text() for block in blocks]


def worker(folder: Path, dsn: str, **environment: str) -> WorkerProcess:
    return WorkerProcess("gated_app:host", folder, GATED=str(folder), GATED_DSN=dsn, **environment)


def listing(store: Store, session_id: str) -> Agent:
    """The agent as the front has it, which only lists and answers."""

    def pay() -> str:
        """Pay."""
        raise AssertionError("the front drives nothing")

    return Agent("payer", "", ScriptedModel([]), [FunctionTool(pay)], store=store, session_id=session_id)


@asynccontextmanager
async def world(folder: Path, **environment: str) -> AsyncIterator[World]:
    dsn = fresh_database()
    with tempfile.TemporaryDirectory(prefix="pg-") as place:  # a socket's path must be short
        door = Door(dsn, Path(place))
        await door.open()
        async with front(Host(PostgresStore(dsn), {"payer": listing})) as host:
            workers = [worker(folder, door.dsn, **environment)]
            try:
                yield World(host, door, await workers[0].ready(), folder, dsn, workers)
            finally:
                await door.shut()
                for each in workers:
                    each.process.kill()
                    each.process.wait()


def test_a_worker_that_lost_its_lock_starts_no_tool_and_another_does(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, GATED_RULE="1") as w:
            await w.host.submit("s", "pay")
            await w.did("asked")
            await w.door.shut()
            w.open("model")  # the first one's model wants the payment now, which needs nobody's yes
            w.open("pay")
            second = await w.second(GATED_RULE="1")
            assert await w.did("paid") == [second.process.pid]
            assert await w.results("s") == [f"paid by {second.process.pid}"]
            await w.door.open()

            async def came_back() -> bool:
                return w.first.said.count("Working for") > 1

            await until(came_back)
            assert w.ledger("began") == [second.process.pid]
            assert [await w.first.end(), await second.end()] == [0, 0]

    asyncio.run(story())


def test_what_a_worker_was_doing_when_it_was_cut_off_is_in_doubt_and_not_done_twice(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            w.open("model")
            await w.host.submit("s", "pay")
            await w.host.answer(yes(await w.asked()), by="ann", via="web")
            await w.did("began")
            await w.door.shut()
            second = await w.second()
            request = await w.asked()
            assert request.in_doubt and "cut off" in request.why
            no = Answer(request_id=request.id, digest=request.digest, decision="reject", reason="it was paid")
            await w.host.answer(no, by="ann", via="web")
            (text,) = await w.results("s")
            assert "it was paid" in text
            w.open("pay")
            await w.door.open()
            assert await w.did("paid") == w.ledger("began") == [w.first.process.pid]
            assert [await w.first.end(), await second.end()] == [0, 0]
            assert await w.results("s") == [text]

    asyncio.run(story())


def test_a_result_that_a_cut_off_worker_brings_back_settles_the_doubt(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            w.open("model")
            await w.host.submit("s", "pay")
            await w.host.answer(yes(await w.asked()), by="ann", via="web")
            await w.did("began")
            await w.door.shut()
            second = await w.second()
            assert (await w.asked()).in_doubt
            await w.door.open()
            w.open("pay")
            assert await w.results("s") == [f"paid by {w.first.process.pid}"]
            assert await w.host.pending() == []
            assert w.ledger("began") == [w.first.process.pid]
            assert [await w.first.end(), await second.end()] == [0, 0]

    asyncio.run(story())


def test_a_result_waits_for_the_database_to_come_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            w.open("model")
            await w.host.submit("s", "pay")
            await w.host.answer(yes(await w.asked()), by="ann", via="web")
            await w.did("began")
            await w.door.shut()
            w.open("pay")
            await w.did("paid")
            await w.door.open()
            assert await w.results("s") == [f"paid by {w.first.process.pid}"]
            assert await w.first.end() == 0

    asyncio.run(story())

"""Old and new workers side by side on one store."""

import asyncio
import os
from pathlib import Path

import pytest

from hosting import yes
from postgres import fresh_database
from sayso.errors import Refused
from sayso.store import PostgresStore
from sayso.store.chain import verify
from working import WorkerProcess, front, until


@pytest.mark.slow
def test_what_a_newer_worker_wrote_is_left_to_newer_ones_and_everything_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(dsn: str) -> None:
        from newer_app import NewerStore, build
        from sayso.host import Host

        ledger = tmp_path / "ledger"
        async with front(Host(NewerStore(dsn), {"payer": build})) as host:
            old = WorkerProcess("soak.fleet_app:host", tmp_path, **environment)
            new = WorkerProcess("newer_app:host", tmp_path, **environment)
            await old.ready()
            await new.ready()
            names = [f"s{n}" for n in range(10)]
            for name in names:
                await host.submit(name, "pay twice")

            async def done() -> bool:
                for request in await host.pending():
                    try:
                        await host.answer(yes(request), by="ann", via="web")
                    except Refused:
                        continue  # a worker was about to settle it
                rows = [await host.store.session(name) for name in names]
                return all(row is not None and row.state == "idle" for row in rows)

            await until(done, 60)
            lines = ledger.read_text().split("\n")
            by = {int(line.split()[1]) for line in lines if line}
            assert [sum(line.startswith(f"{name} ") for line in lines) for name in names] == [2] * 10
            assert by == {old.process.pid, new.process.pid} or by == {new.process.pid}
            assert "which this version of Sayso does not know; upgrade Sayso to read it" in old.said
            assert [await old.end(), await new.end()] == [0, 0]
        plain = PostgresStore(dsn)
        for name in names:
            assert verify(await plain.read(name)) is None
        await plain.close()

    environment = {"FLEET_DSN": fresh_database(), "FLEET_LEDGER": str(tmp_path / "ledger")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert os.environ["FLEET_DSN"]
    asyncio.run(story(environment["FLEET_DSN"]))

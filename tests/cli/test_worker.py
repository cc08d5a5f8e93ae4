"""`sayso worker` beside `sayso serve` and `sayso answer`, as real processes over one Postgres."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from postgres import fresh_database, url_of
from working import until

SAYSO = [sys.executable, "-m", "sayso.cli"]
TOKEN = "a-token-that-is-long-enough"


def sayso(*words: str, **options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **options}
    return subprocess.run([*SAYSO, *words], capture_output=True, text=True, timeout=60, env=environment)


def test_without_a_postgres_it_says_what_workers_need(tmp_path: Path) -> None:
    done = sayso("worker", "--store", str(tmp_path / "s.db"), "-m", "openai:any")
    assert (done.returncode, done.stdout) == (2, "")
    assert "workers share a Postgres: give --store postgresql://" in done.stderr


def test_while_the_database_is_not_there_it_says_so_without_a_password_and_tries_again() -> None:
    command = [*SAYSO, "worker", "--store", "postgresql://ann:sesame@127.0.0.1:1/ops"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stderr is not None
        said = [worker.stderr.readline(), worker.stderr.readline()]
        worker.terminate()
        rest = worker.communicate(timeout=30)
    assert worker.returncode == 0
    assert all("127.0.0.1:1 cannot be reached" in line and "trying again" in line for line in said)
    assert "sesame" not in "".join([*said, *rest])


def test_migrate_prepares_the_store_and_the_queue() -> None:
    dsn = url_of(fresh_database())
    assert "up to date" in sayso("store", "migrate", dsn).stdout
    assert sayso("store", "migrate", dsn).stdout == "The store is up to date.\n"


@pytest.mark.slow
def test_a_session_begun_on_a_server_is_driven_by_a_worker_and_answered_from_a_shell(tmp_path: Path) -> None:
    (tmp_path / "turns.json").write_text(
        json.dumps([[{"tool": "Bash", "input": {"command": "touch paid", "description": "pay"}}], "Paid."])
    )
    dsn = url_of(fresh_database())
    environment = {
        **os.environ,
        "SAYSO_TOKEN": TOKEN,
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    common = {"cwd": tmp_path, "env": environment, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    model = ["--store", dsn, "-m", f"scripted:{tmp_path}/turns.json"]

    async def story(url: str, worker: "subprocess.Popen[str]") -> None:
        async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}) as http:
            session_id = (await http.post("/sessions", json={"message": "pay"})).json()["session_id"]

            async def asked() -> str:
                found = (await http.get("/requests")).json()["requests"]
                return str(found[0]["id"]) if found else ""

            request_id = await until(asked)
            told = await asyncio.to_thread(sayso, "answer", request_id, "--yes", "--no-drive", "--store", dsn)
            assert (told.returncode, told.stderr) == (0, "")

            async def ended() -> bool:
                told = await asyncio.to_thread(sayso, "sessions", "--json", "--store", dsn)
                return [json.loads(line)["state"] for line in told.stdout.splitlines()] == ["idle"]

            await until(ended)
            assert session_id in (await http.get("/sessions")).text
        assert (tmp_path / "paid").exists()
        assert worker.poll() is None

    with subprocess.Popen([*SAYSO, "serve", "--port", "0", *model], **common) as server:  # type: ignore[call-overload]
        url = server.stdout.readline().split(" at ")[1].split("#")[0]
        assert "none is running yet" in server.stderr.readline()
        with subprocess.Popen([*SAYSO, "worker", *model], **common) as worker:  # type: ignore[call-overload]
            try:
                asyncio.run(story(url, worker))
            finally:
                server.terminate()
                worker.terminate()
                said = server.communicate(timeout=30)[1] + worker.communicate(timeout=30)[1]
    assert (server.returncode, worker.returncode) == (0, 0), said

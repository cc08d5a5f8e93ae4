"""The server under load, on this machine: sessions at once through HTTP, answers a second, how long an answer takes to
show in the stream, and how long a list of what waits takes.

    python benchmarks/load.py [--sessions 200] [--parked 1000]

The server is a process of its own (uvicorn, SQLite, one process); the clients are this one.
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
from pathlib import Path

import httpx

TOKEN = "a-token-for-the-benchmark"
SERVED = '''
import json
from sayso.agent import Agent
from sayso.host import Host
from sayso.ids import new_id
from sayso.message import TextBlock, ToolCallBlock
from sayso.model.base import ModelResponse
from sayso.store import SQLiteStore


class Model:
    model_name = "scripted"

    async def respond(self, messages, tools):
        if messages[-1].content[-1].type == "tool_result":
            yield ModelResponse([TextBlock(text="done")])
        else:
            yield ModelResponse([ToolCallBlock(id=new_id(), name="pay", input=json.dumps({"to": "ann"}))])


async def pay(to: str) -> str:
    """Pay somebody."""
    return "paid"


def build(store, session_id):
    return Agent("bursar", "", Model(), [pay], store=store, session_id=session_id)


host = Host(SQLiteStore("load.db"), {"bursar": build})
'''


async def one(http: httpx.AsyncClient, gate: asyncio.Event, times: dict[str, list[float]]) -> None:
    """Begin a session, wait for its question in the stream, answer it, wait for the result in the stream.

    Each has a client of its own: one pool with hundreds of connections is slower than the server.
    """
    began = time.perf_counter()
    session_id = (await http.post("/sessions", json={"message": "pay"})).json()["session_id"]
    asked = False
    async with http.stream("GET", f"/sessions/{session_id}/events") as response:
        async for line in response.aiter_lines():
            if "REQUIRE_USER_CONFIRM" in line and not asked:
                asked = True
                times["asked"].append(time.perf_counter() - began)
                await gate.wait()
                found = (await http.get("/requests", params={"session_id": session_id})).json()["requests"][0]
                answered = time.perf_counter()
                body = {"digest": found["digest"], "decision": "approve"}
                done = await http.post(f"/requests/{found['id']}/answer", json=body)
                done.raise_for_status()
                times["answer"].append(time.perf_counter() - answered)
            elif "TOOL_RESULT_END" in line:
                times["resume"].append(time.perf_counter() - answered)
            elif "REPLY_END" in line:
                return


def told(name: str, values: list[float]) -> None:
    ordered = sorted(v * 1000 for v in values)
    p99 = ordered[int(len(ordered) * 0.99)]
    print(f"{name:42} median {statistics.median(ordered):8.1f} ms   p99 {p99:8.1f} ms", flush=True)


async def measure(url: str, sessions: int, parked: int) -> None:
    limits = httpx.Limits(
        max_connections=None, keepalive_expiry=2
    )  # the server lets go of idle ones after five seconds
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=120, trust_env=False) as http:
        times: dict[str, list[float]] = {"asked": [], "answer": [], "resume": []}
        gate = asyncio.Event()
        own = [httpx.AsyncClient(base_url=url, headers=headers, timeout=120, trust_env=False) for _ in range(sessions)]
        running = [asyncio.create_task(one(each, gate, times)) for each in own]
        while len(times["asked"]) < sessions:  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.02)
        answered_at = time.perf_counter()
        gate.set()
        await asyncio.gather(*running)
        took = time.perf_counter() - answered_at
        print(f"{sessions} sessions at once: {sessions / took:.0f} answers a second, each to its reply's end")
        told("from a message to its question", times["asked"])
        told("an answer accepted", times["answer"])
        told("from an answer to its result in the stream", times["resume"])
        for _ in range(parked):
            await http.post("/sessions", json={"message": "pay"})
        while len((await http.get("/requests?limit=1000")).json()["requests"]) < min(parked, 1000):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        lists = []
        for _ in range(20):
            began = time.perf_counter()
            page = (await http.get("/requests?limit=1000")).content
            lists.append(time.perf_counter() - began)
        told(f"{parked} parked requests listed ({len(page) // 1000} kB)", lists)
        lists = []
        for _ in range(20):
            began = time.perf_counter()
            await http.get("/requests?limit=50")
            lists.append(time.perf_counter() - began)
        told("the first 50 of them", lists)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--parked", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "served.py").write_text(SERVED)
        command = [sys.executable, "-m", "sayso.cli", "serve", "served:host", "--port", "0"]
        env = {**os.environ, "SAYSO_TOKEN": TOKEN}
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        try:
            line = server.stdout.readline() if server.stdout else ""
            url = line.rsplit(" at ", 1)[1].split("#")[0].strip()
            asyncio.run(measure(url, options.sessions, options.parked))
        finally:
            server.terminate()
            server.wait()
    print(json.dumps({"sessions": options.sessions, "parked": options.parked}))


if __name__ == "__main__":
    main()

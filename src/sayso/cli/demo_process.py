"""The other processes of `sayso demo`: one that asks and is killed, two that give an answer at the same moment.

Owns both ends: `companion` starts one, `python -m sayso.cli.demo_process ask|answer ...` is one. They say what they did
as lines of JSON, wait for a line before they go on, and leave when whoever started them is gone.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from sayso.cli.demo_world import NAME, builder, store_of
from sayso.errors import Outside, Refused
from sayso.host import Host
from sayso.request import Answer

__all__ = ["Companion", "companion"]

_WAIT = 60.0  # seconds for what takes another process about one


class Companion:
    """Another process of the demo, seen from the first."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def says(self) -> dict[str, object]:
        """The next thing it says. Raises Outside if it ends or says nothing in time."""
        stdout = self._process.stdout
        try:
            line = await asyncio.wait_for(stdout.readline(), _WAIT) if stdout is not None else b""
        except TimeoutError:
            raise Outside(f"process {self.pid} of the demo has said nothing for {_WAIT:.0f} seconds") from None
        if not line:
            code = await self._process.wait()
            raise Outside(f"process {self.pid} of the demo ended with exit code {code} and said nothing")
        said: dict[str, object] = json.loads(line)
        return said

    def go(self) -> None:
        """Let it go on."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"go\n")

    async def end(self) -> None:
        """Let it end; one that does not is killed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _WAIT)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> int:
        """End it with SIGKILL, unless it has ended; its exit code."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return await self._process.wait()


@contextlib.asynccontextmanager
async def companion(what: str, folder: Path, *rest: str) -> AsyncIterator[Companion]:
    """Start one; it is gone when the block is left. what: `ask` or `answer`, see `_ask` and `_answer` for the rest."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sayso.cli.demo_process", what, str(folder), *rest),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is meant for the demo, which ends what it started
    )
    one = Companion(process)
    try:
        yield one
        await one.end()
    finally:
        await one.kill()


# -- inside such a process ---------------------------------------------------------------------------


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


async def _told() -> bool:
    """Wait for a line; False where whoever would send it is gone."""
    return bool(await asyncio.to_thread(sys.stdin.readline))


async def _ask(folder: Path, session_id: str, message: str) -> None:
    """Give the agent a message, say that it waits for a person, and stay until killed."""
    async with Host(store_of(folder), {NAME: builder(folder)}) as host:
        await host.submit(session_id, message, by="demo", via="demo")
        await host.settled()
        _say(waiting=len(await host.pending(session_id=session_id)))
        await _told()


async def _answer(folder: Path, answer: Answer, by: str) -> None:
    """Once told to, give an answer, and let the session go on where it was the first."""
    async with Host(store_of(folder), {NAME: builder(folder)}) as host:
        _say(ready=os.getpid())
        if not await _told():
            return
        try:
            await host.answer(answer, by=by, via="demo")
        except Refused as exc:
            _say(taken=False, why=str(exc))
            return
        await host.settled()
        _say(taken=True)


def _main(arguments: list[str]) -> None:
    what, folder, *rest = arguments
    if what == "ask":
        session_id, message = rest
        asyncio.run(_ask(Path(folder), session_id, message))
    else:
        answer, by = rest
        asyncio.run(_answer(Path(folder), Answer.model_validate_json(answer), by))


if __name__ == "__main__":
    _main(sys.argv[1:])

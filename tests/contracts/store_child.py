"""Another process with the same log, for the contract of stores: `store_child.py WHERE ACTION [SESSION]`.

It says what it did line by line on its standard output, and does what it is told line by line on its standard input.
"""

import asyncio
import os
import sys

from sayso.errors import Conflict
from sayso.store import Index, SQLiteStore, Store
from sayso.store.postgres import PostgresStore

TIME = "2026-12-01T05:03:41.123+00:00"
INDEX = Index(agent="ops", title="", state="working")


def say(word: object) -> None:
    print(word, flush=True)


def told() -> str:
    return sys.stdin.readline().strip()


def open_store(where: str) -> Store:
    return PostgresStore(where) if "dbname=" in where else SQLiteStore(where)


async def append_on_and_on(store: Store, session_id: str) -> None:
    """Append one fact after the other, and say each seq once it is acknowledged."""
    at = len(await store.read(session_id))
    while True:
        await store.append(session_id, [b'{"at":%d}' % at], at=at, time=TIME, index=INDEX, durable=at % 2 == 0)
        say(at)
        at += 1


async def race(store: Store, session_id: str) -> None:
    """Whenever told a length, try to append at it, and say whether it won."""
    say("ready")
    while at := await asyncio.to_thread(told):
        try:
            await store.append(session_id, [b"{}"], at=int(at), time=TIME, index=INDEX)
        except Conflict:
            say("lost")
        else:
            say("won")


async def hold(store: Store, _: str) -> None:
    """Be a runner until the input ends."""
    async with store.runner() as runner:
        say(runner.id)
        await asyncio.to_thread(told)


async def hold_and_fork(store: Store, _: str) -> None:
    """Be a runner with a child process that outlives it, and that says its own id once it runs."""
    async with store.runner() as runner:
        say(runner.id)
        if os.fork() == 0:
            say(os.getpid())
            told()
            os._exit(0)
        await asyncio.to_thread(told)


ACTIONS = {"append": append_on_and_on, "race": race, "hold": hold, "hold_and_fork": hold_and_fork}


async def main(where: str, action: str, session_id: str = "") -> None:
    store = open_store(where)
    await ACTIONS[action](store, session_id)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

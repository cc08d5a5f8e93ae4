"""`sayso store`: prepare a store, and move sessions from one to another, such as from a file to Postgres.

Every entry keeps its time and its hash; what the index says of a session is made again from its log.
"""

import argparse
import asyncio
import itertools
import sys
from collections.abc import Sequence

from sayso.agent.index import index_of, outcome_of
from sayso.cli import Exit
from sayso.errors import MissingExtra, Refused, SaysoError
from sayso.reply.codec import decode
from sayso.reply.machine import step
from sayso.reply.state import Session
from sayso.store import open_store
from sayso.store.base import Entry, SessionRow, Store
from sayso.store.chain import verify
from sayso.visible import visible

__all__ = ["copy_session", "run"]

_TOLD = 100  # sessions between two words of progress


def run(options: argparse.Namespace) -> int:
    """Carry out one of the commands; gives the exit code."""
    try:
        return asyncio.run(_migrate(options) if options.action == "migrate" else _copy(options))
    except ValueError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.USAGE
    except SaysoError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.ERROR


async def _migrate(options: argparse.Namespace) -> int:
    store = open_store(options.source)
    try:
        await store.sessions(limit=1)  # the first use brings the tables up to date
        made = await _migrate_queue(store)
        print("The store is up to date." + (f" Of the queue: {', '.join(made)}." if made else ""))
        return Exit.DONE
    finally:
        await store.close()


async def _migrate_queue(store: Store) -> Sequence[str]:
    """The workers' queue of a store in Postgres, with what may only be done once no older worker is left."""
    try:
        from sayso.store.postgres import PostgresStore
        from sayso.worker.queue import Queue
    except MissingExtra:
        return ()  # then it is no such store
    return await Queue(store).migrate() if isinstance(store, PostgresStore) else ()


async def _copy(options: argparse.Namespace) -> int:
    if options.target is None:
        raise ValueError("store copy needs two stores: sayso store copy FROM TO")
    source, target = open_store(options.source), open_store(options.target)
    counts = {"copied": 0, "continued": 0, "there already": 0}
    try:
        rows = await _all(source)
        for n, row in enumerate(reversed(rows), 1):  # the one changed first comes first, so that lists keep their order
            counts[await copy_session(source, target, row)] += 1
            if n % _TOLD == 0 or n == len(rows):
                print(f"{n} of {len(rows)} sessions", file=sys.stderr)
    finally:
        await source.close()
        await target.close()
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return Exit.DONE


async def _all(store: Store) -> list[SessionRow]:
    rows: list[SessionRow] = []
    while page := await store.sessions(after=rows[-1].session_id if rows else None, limit=500):
        rows += page
    return rows


async def copy_session(source: Store, target: Store, row: SessionRow) -> str:
    """Bring one session over, or what is new of it; gives `copied`, `continued` or `there already`.

    Raises Refused where somebody drives it at this moment, where its log is not as it was written, or where the target
    has another session of that name.
    """
    name = f"session {row.session_id!r}"
    if row.runner is not None and await source.is_alive(row.runner):
        raise Refused(f"{name} is being driven; stop what drives it and copy again: nothing of it was copied")
    entries = await source.read(row.session_id)
    if (broken := verify(entries)) is not None:
        raise Refused(f"entry {broken} of {name} is not as it was written; it is not copied (sayso log verify)")
    there = await target.read(row.session_id)
    if [e.hash for e in there] != [e.hash for e in entries[: len(there)]]:
        raise Refused(f"the target has another {name}; it was not touched")
    if len(there) == len(entries):
        return "there already"
    await _append(target, entries, len(there))
    return "continued" if there else "copied"


async def _append(target: Store, entries: Sequence[Entry], after: int) -> None:
    """Write the entries from `after` on, those of one moment together, as they were written then."""
    session = Session()
    for _, moment in itertools.groupby(entries, key=lambda entry: entry.at):
        group, outcomes = list(moment), []
        for entry in group:
            fact = decode(entry.fact)
            before, session = session, step(session, fact)
            outcomes.append(outcome_of(before, fact, session))
        fresh = [entry for entry in group if entry.seq >= after]
        if fresh:
            index = index_of(session, None, tuple(o for o in outcomes if o is not None))
            facts = [entry.fact for entry in fresh]
            await target.append(fresh[0].session_id, facts, at=fresh[0].seq, time=fresh[0].at, index=index)

"""`sayso worker`: drives what others began, over one Postgres. Owns how it starts, what it says and how it ends."""

import argparse
import asyncio
import logging
import signal
import sys

from sayso.cli import Exit
from sayso.cli.app import host_of, in_postgres, trouble
from sayso.cli.choice import NoModel
from sayso.errors import SaysoError
from sayso.visible import visible

__all__ = ["worker"]


def worker(options: argparse.Namespace) -> int:
    """Run `sayso worker` until it is told to stop; gives the exit code."""
    try:
        return asyncio.run(_worker(options))
    except (NoModel, ValueError) as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.USAGE
    except (SaysoError, OSError) as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.ERROR


async def _worker(options: argparse.Namespace) -> int:
    from sayso.worker import Queue, Worker

    host = host_of(options)
    store = in_postgres(host)
    if store is None:
        raise ValueError(
            "workers share a Postgres: give --store postgresql://... or a Host over one. "
            "One process needs no worker: sayso serve drives its sessions itself"
        )
    _set_up_logging(options.verbose)
    stop = _stop_on_signals(options.grace)
    try:
        async with Queue(store) as queue:
            working = Worker(host, queue, concurrency=options.concurrency, grace=options.grace, on_trouble=trouble)
            said = (
                f"Working for {', '.join(host.agents)}, up to {options.concurrency} sessions at a time. Ctrl-C ends it."
            )
            await working.run(stop, lambda: print(visible(said), flush=True))
    finally:
        await store.close()
    return Exit.DONE


def _stop_on_signals(grace: float) -> asyncio.Event:
    """Set at the first Ctrl-C or SIGTERM; the second ends the process at once, as a crash would."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def heard() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        print(f"Stopping: what runs has {grace:g} s to end. Again to stop at once.", file=sys.stderr, flush=True)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heard)
    return stop


def _set_up_logging(verbose: bool) -> None:
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
    # What matters of its troubles is told by `trouble`, without a traceback.
    logging.getLogger("procrastinate").setLevel(logging.INFO if verbose else logging.CRITICAL)
    logging.getLogger("psycopg.pool").setLevel(logging.WARNING if verbose else logging.CRITICAL)

"""`sayso worker`: drives what others began, over one Postgres. Owns how it starts, what it says and how it ends."""

import argparse
import asyncio
import contextlib
import logging
import signal
import sys

from sayso.cli import Exit
from sayso.cli.app import host_of, in_postgres, trouble
from sayso.cli.choice import NoModel
from sayso.errors import SaysoError, StoreGone
from sayso.visible import visible

__all__ = ["worker"]

_AGAIN = 2.0  # seconds between two tries to begin


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

    host = host_of(options, begins=False)
    store = in_postgres(host)
    if store is None:
        raise ValueError(
            "workers share a Postgres: give --store postgresql://... or a Host over one. "
            "One process needs no worker: sayso serve drives its sessions itself"
        )
    _set_up_logging(options.verbose)
    stop = _stop_on_signals(options.grace)
    said = f"Working for {', '.join(host.agents)}, up to {options.concurrency} sessions at a time. Ctrl-C ends it."
    try:
        while not stop.is_set():
            try:
                async with Queue(store) as queue:
                    made = Worker(host, queue, concurrency=options.concurrency, grace=options.grace, on_trouble=trouble)
                    await made.run(stop, lambda: print(visible(said), flush=True))
            except StoreGone as exc:  # a worker may be started before its database, or while that is restarted
                trouble("", StoreGone(f"{exc}; trying again"))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), _AGAIN)
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

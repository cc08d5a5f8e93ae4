"""A process that takes what people say and answer, and has it driven by workers: `sayso serve` over Postgres is one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.host import Host
from sayso.store.postgres import PostgresStore
from sayso.worker.queue import Queue
from sayso.worker.relay import hearing

__all__ = ["fronting"]


@asynccontextmanager
async def fronting(host: Host, store: PostgresStore) -> AsyncIterator[Queue]:
    """Inside, sessions of `host` are driven by workers on the same store, and who watches here sees their words come.

    To be entered before the host is started. Raises StoreError where the queue cannot be had.
    """
    async with Queue(store) as queue, hearing(store.dsn, host.show):
        host.hand_over(queue)
        yield queue

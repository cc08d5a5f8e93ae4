"""What the workers of a fleet run: a host whose agent pays, each payment a line in a file, written and synced."""

import asyncio
import os
import random
from pathlib import Path

from sayso.agent import Agent
from sayso.host import Host
from sayso.store import PostgresStore
from sayso.store.base import Store
from sayso.tool import FunctionTool
from soak.killing import TwoPayments

LEDGER = Path(os.environ["FLEET_LEDGER"])
SLOWEST = float(os.environ.get("FLEET_SLOWEST", "0.3"))  # seconds that half a payment takes at most


def note(session_id: str) -> None:
    """A payment, on disk."""
    with LEDGER.open("a") as file:
        file.write(f"{session_id} {os.getpid()}\n")
        file.flush()
        os.fsync(file.fileno())


def build(store: Store, session_id: str) -> Agent:
    """The payer of a session."""

    async def pay() -> str:
        """Pay."""
        await asyncio.sleep(random.uniform(0, SLOWEST))
        note(session_id)
        await asyncio.sleep(random.uniform(0, SLOWEST))
        return "paid"

    return Agent("payer", "", TwoPayments(), [FunctionTool(pay)], store=store, session_id=session_id)


host = Host(PostgresStore(os.environ["FLEET_DSN"]), {"payer": build})

"""What the workers of some tests run: an agent whose model and whose payment each wait for a file.

The files lie in $GATED: `model` and `pay` let all sessions on, `model.ID` and `pay.ID` one. `ledger` has lines
`asked ID PID` for a model's turn, `began ID PID` and `paid ID PID` for a payment.
With $GATED_RULE the payments need nobody's yes.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from sayso.agent import Agent
from sayso.host import Host
from sayso.message import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from sayso.model.base import ModelResponse, ModelStream, ToolSchema
from sayso.permission import PermissionBehavior, PermissionContext, PermissionRule
from sayso.store import PostgresStore
from sayso.store.base import Store
from sayso.tool import FunctionTool

FOLDER = Path(os.environ["GATED"])


async def gate(name: str, session_id: str) -> None:
    """Wait until the file is there."""
    while not ((FOLDER / name).exists() or (FOLDER / f"{name}.{session_id}").exists()):  # noqa: ASYNC110
        await asyncio.sleep(0.01)  # a file tells nobody that it came


def note(what: str, session_id: str) -> None:
    """A line in the ledger."""
    with (FOLDER / "ledger").open("a") as file:
        file.write(f"{what} {session_id} {os.getpid()}\n")


class OnePayment:
    """A model that wants one payment, then says done."""

    model_name = "one-payment"

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id

    async def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
        if any(isinstance(b, ToolResultBlock) for m in messages for b in m.content):
            yield ModelResponse([TextBlock(text="done")])
            return
        note("asked", self.session_id)
        await gate("model", self.session_id)
        yield ModelResponse([ToolCallBlock(id="c1", name="pay", input="{}")])


def build(store: Store, session_id: str) -> Agent:
    """The payer of a session."""

    async def pay() -> str:
        """Pay."""
        note("began", session_id)
        await gate("pay", session_id)
        note("paid", session_id)
        return f"paid by {os.getpid()}"

    policy = None
    if os.environ.get("GATED_RULE"):
        rule = PermissionRule(tool_name="pay", behavior=PermissionBehavior.ALLOW)
        policy = PermissionContext(allow_rules={"pay": [rule]})
    return Agent(
        "payer", "", OnePayment(session_id), [FunctionTool(pay)], store=store, session_id=session_id, policy=policy
    )


host = Host(PostgresStore(os.environ["GATED_DSN"]), {"payer": build})

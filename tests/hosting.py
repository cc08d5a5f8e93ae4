"""Small worlds for tests of the host: scripted agents over any store, and short ways to ask and answer."""

from collections.abc import Callable
from typing import Any

from sayso.agent import Agent
from sayso.host import Host
from sayso.message import TextBlock
from sayso.request import Answer, Request
from sayso.store.base import Store


def says(*turns: Any, tools: Any = (), **options: Any) -> Callable[[Store, str], Agent]:
    """A builder of agents; each session's model begins its script anew after what it has said already."""

    def build(store: Store, session_id: str) -> Agent:
        return Agent("ops", "", Script(turns), tools, store=store, session_id=session_id, **options)

    return build


class Script:
    """Says its turns by how many rounds the conversation has had."""

    model_name = "script"

    def __init__(self, turns: Any) -> None:
        self.turns = turns

    async def respond(self, messages: Any, tools: Any) -> Any:
        from sayso.message import ToolResultBlock
        from sayso.model.base import ModelResponse, TextDelta

        seen = sum(isinstance(b, ToolResultBlock) for m in messages for b in m.content)
        seen += sum(m.role == "assistant" and m.finished_reason is not None for m in messages)
        said = self.turns[min(seen, len(self.turns) - 1)]
        if isinstance(said, Exception):
            raise said
        if isinstance(said, str):
            yield TextDelta("t", said)
            yield ModelResponse([TextBlock(id="t", text=said)])
        else:
            yield ModelResponse(list(said))


def yes(request: Request, **fields: Any) -> Answer:
    return Answer(request_id=request.id, digest=request.digest, decision="approve", **fields)


async def asked(host: Host, message: str = "pay") -> tuple[str, Request]:
    session_id = await host.submit(None, message)
    await host.settled()
    (request,) = await host.pending(session_id=session_id)
    return session_id, request

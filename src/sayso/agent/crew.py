"""What an agent works with: its model, its tools, its judge; and the conversation as the model is to read it."""

from collections.abc import Sequence

from sayso.agent.judge import Judge
from sayso.agent.runner import ProcessRunner, runner_of
from sayso.message import Msg, SystemMsg, ToolResultBlock
from sayso.model.base import ChatModel, ToolSchema
from sayso.model.failure import Retry
from sayso.reply.state import Session
from sayso.reply.transcript import open_message
from sayso.store.base import Store
from sayso.tool.base import ToolBase
from sayso.tool.toolkit import Toolkit

__all__ = ["Crew"]


class Crew:
    """The static part of an agent."""

    def __init__(
        self,
        *,
        name: str,
        system_prompt: str,
        model: ChatModel,
        toolkit: Toolkit,
        judge: Judge,
        store: Store,
        max_iters: int,
        retry: Retry,
    ) -> None:
        self.name = name
        self.model = model
        self.toolkit = toolkit
        self.judge = judge
        self.max_iters = max_iters
        self.retry = retry
        self._store = store
        self._system = [SystemMsg(content=system_prompt)] if system_prompt else []
        self._schemas: tuple[ToolSchema, ...] | None = None
        self._recalled = False

    async def runner(self) -> ProcessRunner:
        """This process's runner in the agent's store."""
        return await runner_of(self._store)

    def is_safe(self, tool: str) -> bool:
        """Whether a tool's calls may run beside each other."""
        found = self.toolkit.get(tool)
        return found is not None and found.is_concurrency_safe

    def recall(self, session: Session, past: Sequence[Msg]) -> None:
        """Let the tools know once what the session did with them before this agent was made.

        Called before a tool runs, as only then it counts: whoever lists or answers requests need not read the past.
        """
        if self._recalled:
            return
        self._recalled = True
        if all(type(tool).recall is ToolBase.recall for tool in self.toolkit):
            return
        messages = [*past, open_message(session.reply)] if session.reply is not None else past
        self.toolkit.recall(block for m in messages for block in m.content if isinstance(block, ToolResultBlock))

    @property
    def schemas(self) -> Sequence[ToolSchema]:
        """What the model is told of the tools."""
        if self._schemas is None or len(self._schemas) != len(self.toolkit.names):
            self._schemas = tuple(ToolSchema(t.name, t.description, t.input_schema) for t in self.toolkit)
        return self._schemas

    def messages(self, session: Session, past: Sequence[Msg]) -> list[Msg]:
        """What the model is to read: the instructions, the past, the reply so far."""
        reply = session.reply
        out = [*self._system, *(m for m in past if m.content)]
        if reply is not None and reply.ended is None and reply.said:
            out.append(open_message(reply))
        return out

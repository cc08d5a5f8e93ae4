"""Sayso, for the peers' harness: the same work as every other `p_*.py`, through the public API only.

Run by `benchmarks/run.py`, which puts the harness on the path.
"""

# bench-python: ../.venv/bin/python
import _harness as H  # type: ignore[import-not-found]  # noqa: N812

from sayso.agent import Agent
from sayso.event import ConfirmResult, RequireUserConfirmEvent, TextBlockDeltaEvent, UserConfirmResultEvent
from sayso.message import TextBlock, ToolCallBlock, UserMsg
from sayso.model.base import CallDelta, ModelResponse, TextDelta
from sayso.tool import FunctionTool, Toolkit


class ScriptedModel:
    """Looks at the last message only and builds the framework's own pieces for each answer."""

    model_name = "scripted"

    def __init__(self, peer):
        self.peer = peer

    async def respond(self, messages, tools):
        peer = self.peer
        if peer.n_deltas:
            for _ in range(peer.n_deltas):
                yield TextDelta("t", H.DELTA)
            yield ModelResponse([TextBlock(id="t", text=H.DELTA * peer.n_deltas)])
            return
        if messages[-1].content[-1].type == "tool_result":
            yield TextDelta("t", H.DONE)
            yield ModelResponse([TextBlock(id="t", text=H.DONE)])
            return
        calls = [
            ToolCallBlock(id=H.next_call_id(), name=H.TOOL_NAME, input=H.TOOL_ARGS_JSON) for _ in range(peer.n_calls)
        ]
        for call in calls:
            yield CallDelta(call.id, call.name, call.input)
        yield ModelResponse(calls)


async def write_note(path: str, text: str) -> str:
    """Write a note.

    Args:
        path: Where to write.
        text: What to write.
    """
    H.count_tool_run()
    return H.TOOL_RESULT


class Peer(H.Peer):
    NAME = "sayso"
    DISTS = ("sayso",)
    COLD = (
        "from sayso.agent import Agent\n"
        "from sayso.tool import FunctionTool, Toolkit\n"
        "from sayso.state import AgentState\n"
        "from sayso.event import UserConfirmResultEvent"
    )

    def build(self):
        self.model = ScriptedModel(self)
        self.toolkit = Toolkit([FunctionTool(write_note)])

    async def setup(self, variant=""):
        self.build()

    def new_session(self):
        return Agent("bench", "You are a benchmark.", self.model, self.toolkit)

    async def _run(self, agent, inputs, stream):
        if stream:
            asked = []
            async for event in agent.reply_stream(inputs):
                if isinstance(event, RequireUserConfirmEvent):
                    asked += event.tool_calls
            return asked
        self.said = await agent.reply(inputs)
        return [
            ToolCallBlock(id=r.call_id, name=r.tool, input=r.input, suggested_rules=[o.rule for o in r.suggested_rules])
            for r in agent.requests()
        ]

    async def start(self, session, text, stream):
        asked = await self._run(session, UserMsg(name="user", content=text), stream)
        assert asked
        self.asked_at_pause = len(asked)
        return session, asked

    async def resume(self, parked, stream):
        agent, asked = parked
        while asked:
            # A batch of equal calls asks only for the first; the accepted rule approves the others.
            answer = UserConfirmResultEvent(
                reply_id=agent.reply_id,
                confirm_results=[
                    ConfirmResult(
                        confirmed=True, tool_call=c, rules=c.suggested_rules[:1] if self.n_calls > 1 else None
                    )
                    for c in asked
                ],
            )
            asked = await self._run(agent, answer, stream)
        return agent, agent.state.context[-1].get_text_content() if stream else self.said.get_text_content()

    # -- durable: the session's log in SQLite
    async def open_store(self, path, variant=""):
        from sayso.store import SQLiteStore

        class Counting(SQLiteStore):
            """Counts the bytes of what it is given to write."""

            written = 0

            async def append(self, session_id, facts, *, index, **more):
                self.written += sum(map(len, facts)) + sum(len(w.body) for w in index.waiting)
                return await super().append(session_id, facts, index=index, **more)

            async def save_snapshot(self, session_id, snapshot):
                self.written += len(snapshot.body)
                await super().save_snapshot(session_id, snapshot)

        self.store = Counting(path)

    async def close_store(self):
        await self.store.close()

    def payload_bytes(self):
        return self.store.written

    def _agent(self, sid):
        return Agent("bench", "You are a benchmark.", self.model, self.toolkit, store=self.store, session_id=sid)

    async def d_start(self, sid, text):
        await self.start(self._agent(sid), text, False)

    async def d_resume(self, sid):
        agent = self._agent(sid)
        await agent.load()
        asked = [ToolCallBlock(id=r.call_id, name=r.tool, input=r.input) for r in agent.requests()]
        _, text = await self.resume((agent, asked), False)
        return text

    async def stream(self):
        agent = self.new_session()
        async for event in agent.reply_stream(UserMsg(name="user", content=H.PROMPT)):
            if isinstance(event, TextBlockDeltaEvent):
                yield True, event.delta
            else:
                yield False, ""


if __name__ == "__main__":
    H.main(Peer)

"""Half a surrogate pair, as a cut escape leaves it, from a model, a tool or a person: the session goes on."""

import asyncio
import json

from sayso.agent import Agent
from sayso.message import TextBlock, ToolCallBlock
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool
from worlds import answer, asked_by, results_in

HALF = "\ud83d"


def test_half_a_character_in_a_call_a_result_or_words_becomes_a_replacement_and_nothing_breaks() -> None:
    async def world() -> None:
        said: list[str] = []

        async def say(text: str) -> str:
            """Say something.

            Args:
                text: what.
            """
            said.append(text)
            return f"said {HALF}"

        for written in (f'{{"text": "a{HALF}b"}}', json.dumps({"text": f"a{HALF}b"})):
            call = ToolCallBlock(id="c1", name="say", input=written)
            agent = Agent("ops", "", ScriptedModel([[TextBlock(text=HALF), call], f"done {HALF}"]), [FunctionTool(say)])
            event = await asked_by(agent, f"go {HALF}")
            message = await agent.reply(answer(event))
            assert message.finished_reason == "completed"
            (result,) = results_in(agent)
            assert result[:2] == ("c1", "success")
            assert set(result[2].removeprefix("said ")) == {"\ufffd"}
            agent.state.model_dump_json().encode()
        assert said[0] == "a\ufffdb"

    asyncio.run(world())

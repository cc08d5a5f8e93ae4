"""Half a surrogate pair, as a cut escape leaves it, from a model, a tool or a person: the session goes on."""

import asyncio
import json

from sayso.agent import Agent
from sayso.message import TextBlock, ToolCallBlock
from sayso.testing import ScriptedModel
from sayso.tool import FunctionTool
from worlds import answer, asked_by, results_in

HALF = "\ud83d"


def agent_that_says(written: str, said: list[str]) -> Agent:
    async def say(text: str) -> str:
        """Say something.

        Args:
            text: what.
        """
        said.append(text)
        return f"said {HALF}"

    call = ToolCallBlock(id="c1", name="say", input=written)
    return Agent("ops", "", ScriptedModel([[TextBlock(text=HALF), call], f"done {HALF}"]), [FunctionTool(say)])


def test_half_a_character_in_a_call_a_result_or_words_is_replaced_before_it_is_judged() -> None:
    async def world() -> None:
        said: list[str] = []
        agent = agent_that_says(f'{{"text": "a{HALF}b"}}', said)
        event = await asked_by(agent, f"go {HALF}")
        assert json.loads(event.tool_calls[0].input) == {"text": "a\ufffdb"}
        message = await agent.reply(answer(event))
        assert message.finished_reason == "completed"
        assert said == ["a\ufffdb"]
        ((_, state, text),) = results_in(agent)
        assert (state, set(text.removeprefix("said "))) == ("success", {"\ufffd"})
        agent.state.model_dump_json().encode()

    asyncio.run(world())


def test_an_escape_for_half_a_character_is_no_json_and_the_model_is_told() -> None:
    async def world() -> None:
        said: list[str] = []
        agent = agent_that_says(json.dumps({"text": f"a{HALF}b"}), said)
        message = await agent.reply("go")
        assert message.finished_reason == "completed"
        assert said == []
        ((_, state, _),) = results_in(agent)
        assert state == "error"

    asyncio.run(world())

"""A tool that somebody else runs: the reply waits for the result, in another process if need be.

Run it: python examples/external.py       (no key: the model is scripted)
"""

import asyncio

from sayso.agent import Agent
from sayso.event import ExternalExecutionResultEvent, RequireExternalExecutionEvent
from sayso.message import TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.state import AgentState
from sayso.testing import ScriptedModel
from sayso.tool import ToolBase


class PressTheButton(ToolBase):
    """Only a person beside the machine can do this."""

    name = "press_the_button"
    description = "Ask the person at the machine to press a button and to say what happened."
    input_schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    is_external_tool = True


async def main() -> None:
    """Pause, save the session as JSON, and go on from the JSON with another agent."""
    ask = [ToolCallBlock(id="1", name="press_the_button", input='{"colour": "green"}')]
    agent = Agent("operator", "You run a machine.", ScriptedModel([ask]), [PressTheButton()])
    async for event in agent.reply_stream("Start the machine."):
        if isinstance(event, RequireExternalExecutionEvent):
            asked = event
    saved = agent.state.model_dump_json()
    print(f"waiting for {asked.tool_calls[0].name}; the session is {len(saved)} bytes of JSON")

    later = Agent(
        "operator",
        "You run a machine.",
        ScriptedModel(["The machine is running."]),
        [PressTheButton()],
        state=AgentState.model_validate_json(saved),
    )
    results = [
        ToolResultBlock(
            id=call.id, name=call.name, output=[TextBlock(text="pressed; it hums")], state=ToolResultState.SUCCESS
        )
        for call in asked.tool_calls
    ]
    message = await later.reply(ExternalExecutionResultEvent(reply_id=asked.reply_id, execution_results=results))
    print(message.get_text_content())


if __name__ == "__main__":
    asyncio.run(main())

"""The agent asks a person questions with options; the answers come back as words for the model and as data.

Run it: python examples/ask_user.py       (no key: the model is scripted)
"""

import asyncio
import json

from sayso.agent import Agent
from sayso.event import ExternalExecutionResultEvent, RequireExternalExecutionEvent
from sayso.message import TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.testing import ScriptedModel
from sayso.tool import AskUser, AskUserAnswer, AskUserMetadata

QUESTIONS = {
    "questions": [
        {
            "question": "Which database?",
            "header": "Database",
            "options": [
                {"label": "SQLite", "description": "One file, no server"},
                {"label": "Postgres", "description": "Many machines"},
            ],
        },
        {
            "question": "Which checks?",
            "header": "Checks",
            "multi_select": True,
            "options": [
                {"label": "Lint", "description": "Style"},
                {"label": "Types", "description": "Strict types"},
                {"label": "Tests", "description": "All of them"},
            ],
        },
    ]
}


async def main() -> None:
    """Ask, answer (one option, two options), go on."""
    ask = [ToolCallBlock(id="1", name="AskUser", input=json.dumps(QUESTIONS))]
    agent = Agent("builder", "You set up projects.", ScriptedModel([ask, "SQLite, with types and tests."]), [AskUser()])
    async for event in agent.reply_stream("Set up a project."):
        if isinstance(event, RequireExternalExecutionEvent):
            asked = event
    (call,) = asked.tool_calls
    for question in json.loads(call.input)["questions"]:
        print(question["question"], [o["label"] for o in question["options"]])
    answers = [
        AskUserAnswer(question="Which database?", selected=["SQLite"]),
        AskUserAnswer(question="Which checks?", selected=["Types", "Tests"]),
    ]
    result = ToolResultBlock(
        id=call.id,
        name=call.name,
        output=[TextBlock(text="Database: SQLite. Checks: Types, Tests.")],
        metadata=AskUserMetadata(answers=answers).model_dump(),
        state=ToolResultState.SUCCESS,
    )
    message = await agent.reply(ExternalExecutionResultEvent(reply_id=asked.reply_id, execution_results=[result]))
    print(message.get_text_content())


if __name__ == "__main__":
    asyncio.run(main())

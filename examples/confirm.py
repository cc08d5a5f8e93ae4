"""A call that asks, and three people's answers: yes, an edit, no.

Run it: python examples/confirm.py        (no key: the model is scripted)
"""

import asyncio
import json

from sayso.agent import Agent
from sayso.event import ConfirmResult, RequireUserConfirmEvent, UserConfirmResultEvent
from sayso.message import ToolCallBlock
from sayso.testing import ScriptedModel
from sayso.tool import tool

sent: list[str] = []


@tool
async def send_mail(to: str, subject: str) -> str:
    """Send a mail.

    Args:
        to: The address.
        subject: The subject line.
    """
    sent.append(f"{to}: {subject}")
    return f"sent to {to}"


def mail(call_id: str, to: str) -> ToolCallBlock:
    """A call as a model makes it."""
    return ToolCallBlock(id=call_id, name="send_mail", input=json.dumps({"to": to, "subject": "Hello"}))


async def main() -> None:
    """Three turns; each pauses, is answered, and goes on."""
    model = ScriptedModel([[mail("1", "ann@example.com")], "Sent.", [mail("2", "all@example.com")], "Sent to one.",
                           [mail("3", "boss@example.com")], "I did not send it."])  # fmt: skip
    agent = Agent("secretary", "You write mails.", model, [send_mail])
    for wish, decide in (("Greet Ann", "yes"), ("Greet everybody", "edit"), ("Greet the boss", "no")):
        async for event in agent.reply_stream(wish):
            if isinstance(event, RequireUserConfirmEvent):
                asked = event
        (block,) = asked.tool_calls
        print(f"{wish}: {block.name}({block.input})? {decide}")
        if decide == "edit":
            block = block.model_copy(update={"input": '{"to": "bob@example.com", "subject": "Hello"}'})
        answer = ConfirmResult(
            confirmed=decide != "no", tool_call=block, reason="ask me first" if decide == "no" else None
        )
        message = await agent.reply(UserConfirmResultEvent(reply_id=asked.reply_id, confirm_results=[answer]))
        print("  ", message.get_text_content())
    print("really sent:", sent)


if __name__ == "__main__":
    asyncio.run(main())

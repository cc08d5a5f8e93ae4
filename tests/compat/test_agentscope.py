"""The seed document's programs, as they stand, through the names they were written for."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

SEED = Path(__file__).parents[3] / "shared" / "seed" / "human-in-the-loop.zh.md"

# The document's blocks are fragments; around them stands what their sentences describe. Nothing in them is changed.
WORLD = '''
import asyncio, json
import sayso.compat.agentscope
from agentscope.agent import Agent
from agentscope.message import ToolCallBlock, UserMsg
from agentscope.tool import AskUser, ToolBase
from sayso.testing import ScriptedModel

ran = []

async def send(to: str) -> str:
    """Send something."""
    ran.append(to)
    return "sent"

class Outside(ToolBase):
    name = "outside"
    description = "Somebody else runs it."
    input_schema = {"type": "object", "properties": {"what": {"type": "string"}}}
    is_external_tool = True

async def run_external_operation(name, text):
    return f"{name} did {text}"

def call(name, **arguments):
    return [ToolCallBlock(id="c1", name=name, input=json.dumps(arguments, ensure_ascii=False))]

def agent_that(*turns):
    tools = [send, Outside(), AskUser()]
    return Agent(name="friday", system_prompt="", model=ScriptedModel(list(turns)), toolkit=tools)
'''

CONFIRM = """
async def main():
    agent = agent_that(call("send", to="ann"), "done", call("send", to="ann"), "done again")
    msg = UserMsg(name="user", content="go")
{b[0]}
    assert ran == []
{b[1]}
{b[2]}
    assert ran == ["ann"] and result.get_text_content() == "done", (ran, result)
    again = await agent.reply(UserMsg(name="user", content="again"))
    assert ran == ["ann", "ann"] and again.finished_reason == "completed"
    print("went through")
asyncio.run(main())
"""

EXTERNAL = """
async def main():
    agent = agent_that(call("outside", what="it"), "done")
    msg = UserMsg(name="user", content="go")
{b[3]}
{b[4]}
{b[5]}
    assert result.get_text_content() == "done", result
    print("went through")
asyncio.run(main())
"""

ASK = """
from agentscope.event import ExternalExecutionResultEvent, RequireExternalExecutionEvent
QUESTION = dict(question="接入哪种鉴权方式？", header="鉴权方式", options=[
    dict(label="OAuth 2.0（推荐）", description="标准"), dict(label="API key", description="简单")])
async def main():
    agent = agent_that(call("AskUser", questions=[QUESTION]), "OAuth it is")
    async for event in agent.reply_stream(UserMsg(name="user", content="go")):
        if isinstance(event, RequireExternalExecutionEvent):
            (tc,) = event.tool_calls
{b[6]}
    done = await agent.reply(ExternalExecutionResultEvent(reply_id=event.reply_id, execution_results=[result]))
    assert done.get_text_content() == "OAuth it is", done
    print("went through")
asyncio.run(main())
"""


def run(body: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", body], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_with_the_seeds_blocks(program: str) -> str:
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", SEED.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 7
    return run(WORLD + program.format(b=[textwrap.indent(block, "    ") for block in blocks]))


if SEED.exists():  # it lies beside the checkout, not in it

    def test_the_three_blocks_of_user_confirmation_run_verbatim() -> None:
        assert "went through" in run_with_the_seeds_blocks(CONFIRM)

    def test_the_three_blocks_of_external_execution_run_verbatim() -> None:
        assert "went through" in run_with_the_seeds_blocks(EXTERNAL)

    def test_the_block_that_answers_ask_user_runs_verbatim() -> None:
        assert "went through" in run_with_the_seeds_blocks(ASK)


def test_the_aliases_are_our_modules() -> None:
    body = """
import sayso.compat.agentscope
import agentscope.event, sayso.event
from agentscope.message import Msg
from sayso.message import Msg as Ours
assert agentscope.event is sayso.event and Msg is Ours
print("ok")
"""
    assert run(body).strip() == "ok"


def test_it_refuses_where_the_real_package_is_there(tmp_path: Path) -> None:
    (tmp_path / "agentscope.py").write_text("x = 1\n")
    body = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
from sayso.errors import Refused
try:
    import sayso.compat.agentscope
except Refused as exc:
    print("refused", "Uninstall" in str(exc), "agentscope" not in sys.modules)
"""
    assert run(body).strip() == "refused True True"

"""The world of `sayso demo`: a small project, tools that really act, and what the scripted model says.

Built alike by every process of the demo. Narrates nothing, and checks nothing.
"""

import json
import shlex
import shutil
import sys
from pathlib import Path

from sayso.agent import Agent
from sayso.cli.script import Block, Script
from sayso.host import Build
from sayso.message import TextBlock, ToolCallBlock
from sayso.store import SQLiteStore
from sayso.store.base import Store
from sayso.tool import AskUser, Bash, Edit, FunctionTool, Glob, Grep, Read, Toolkit

__all__ = ["FIXED", "NAME", "agent_in", "builder", "ledger", "make_workspace", "store_of"]

NAME = "demo"
TEST = f"{'python3' if shutil.which('python3') else shlex.quote(sys.executable)} -m unittest -q"
PUSH = "git push --force origin main"
_BROKEN = "    return price * quantity + discount"
FIXED = "    return price * quantity - discount"

_FILES = {
    "shop.py": f'"""What an order costs."""\n\n\ndef total(price, quantity, discount=0):\n{_BROKEN}\n',
    "test_shop.py": (
        "import unittest\n\nfrom shop import total\n\n\nclass TotalTest(unittest.TestCase):\n"
        "    def test_a_discount_makes_it_cheaper(self):\n        self.assertEqual(total(10, 3, discount=5), 25)\n"
    ),
    "README.md": "# A shop\n\n`shop.py` adds up orders; `python3 -m unittest` tests it.\n",
}


def make_workspace(folder: Path) -> None:
    """Write the project into an empty folder."""
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def ledger(folder: Path) -> list[str]:
    """The payments that really happened, one a line."""
    path = folder / "ledger.txt"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def store_of(folder: Path) -> SQLiteStore:
    """The store of the demo, beside its project."""
    return SQLiteStore(folder / ".sessions.db")


def _call(n: int, tool: str, **arguments: object) -> ToolCallBlock:
    return ToolCallBlock(id=f"call-{n}", name=tool, input=json.dumps(arguments))


def _turns(folder: Path) -> list[list[Block]]:
    """What the model says, turn by turn; each message of the demo begins with the next."""
    shop = str(folder / "shop.py")
    questions = [
        {
            "question": "Which account shall I pay the invoice from?",
            "header": "Account",
            "multi_select": False,
            "options": [
                {"label": "Operations", "description": "the account for suppliers"},
                {"label": "Savings", "description": "needs a second signature"},
            ],
        }
    ]
    return [
        [
            TextBlock(text="I will look before I touch anything."),
            _call(1, "Grep", pattern="discount", path=str(folder)),
            _call(2, "Read", file_path=shop),
        ],
        [TextBlock(text="A discount is added where it should be taken off.")],
        [_call(3, "Edit", file_path=shop, old_string=_BROKEN, new_string=FIXED)],
        [TextBlock(text="That line is answered for. Now the test.")],
        [_call(4, "Bash", command=TEST)],
        [_call(5, "Bash", command=TEST)],
        [TextBlock(text="Both runs are through.")],
        [_call(6, "Bash", command=PUSH)],
        [TextBlock(text="Understood. I leave the branch as it is.")],
        [_call(7, "AskUser", questions=questions)],
        [TextBlock(text="Noted.")],
        [_call(8, "pay", to="Mallory", amount=900)],
        [TextBlock(text="Mallory is not paid: a rule forbids it, whoever says yes.")],
        [_call(9, "pay", to="Acme", amount=120)],
        [TextBlock(text="The invoice of Acme is settled as far as you allowed it.")],
    ]


def agent_in(folder: Path, store: Store, session_id: str) -> Agent:
    """The demo's agent: real tools in `folder`, the scripted model."""

    async def pay(to: str, amount: int) -> str:
        """Pay an invoice.

        Args:
            to: who is paid.
            amount: how much, in euros.
        """
        with (folder / "ledger.txt").open("a", encoding="utf-8") as file:
            file.write(f"{to} {amount}\n")
        return f"Paid {amount} to {to}."

    here = str(folder)
    # The temporary folder may lie in somebody's repository; a push that a person allows must not find it.
    bash = Bash(cwd=here, env={"GIT_CEILING_DIRECTORIES": str(folder.parent)})
    tools = [Read(cwd=here), Edit(cwd=here), Glob(cwd=here), Grep(cwd=here), bash, AskUser()]
    toolkit = Toolkit([*tools, FunctionTool(pay)])
    return Agent(NAME, "You help in a shop.", Script(_turns(folder)), toolkit, store=store, session_id=session_id)


def builder(folder: Path) -> Build:
    """The same for a host."""
    return lambda store, session_id: agent_in(folder, store, session_id)

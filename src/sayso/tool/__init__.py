"""Tools: what an agent can do. Functions become tools, a class can be one, and the usual ones are here."""

from sayso.tool.agent_tool import AgentTool
from sayso.tool.ask_user import (
    AskUser,
    AskUserAnswer,
    AskUserMetadata,
    AskUserOption,
    AskUserParams,
    AskUserQuestion,
    answers_text,
    check_answers,
)
from sayso.tool.base import ToolBase, ToolChunk, Verified
from sayso.tool.function import FunctionTool, tool
from sayso.tool.ledger import FileLedger
from sayso.tool.read import Read
from sayso.tool.search import Glob, Grep
from sayso.tool.shell import Bash
from sayso.tool.toolkit import InvalidInput, Toolkit
from sayso.tool.write import Edit, Write

__all__ = [
    "AgentTool",
    "AskUser",
    "AskUserAnswer",
    "AskUserMetadata",
    "AskUserOption",
    "AskUserParams",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "FileLedger",
    "FunctionTool",
    "Glob",
    "Grep",
    "InvalidInput",
    "Read",
    "ToolBase",
    "ToolChunk",
    "Toolkit",
    "Verified",
    "Write",
    "answers_text",
    "check_answers",
    "tool",
]

"""Running one tool to its end, as an agent does, for tests that look at what it said."""

import asyncio
from dataclasses import dataclass
from typing import Any

from sayso.message import TextBlock, ToolResultState
from sayso.permission import PermissionContext
from sayso.request import Preview
from sayso.tool import ToolBase, ToolChunk
from sayso.tool.run import run_tool

__all__ = ["NO_RULES", "Ran", "preview", "run", "run_async"]


@dataclass(frozen=True)
class Ran:
    """What came of a call."""

    chunks: list[ToolChunk]

    @property
    def text(self) -> str:
        return "".join(b.text for c in self.chunks for b in c.content if isinstance(b, TextBlock))

    @property
    def state(self) -> ToolResultState:
        return self.chunks[-1].state

    @property
    def ok(self) -> bool:
        return self.state is ToolResultState.SUCCESS

    @property
    def metadata(self) -> dict[str, Any]:
        return self.chunks[-1].metadata


async def run_async(tool: ToolBase, **tool_input: Any) -> Ran:
    return Ran([chunk async for chunk in run_tool(tool, tool_input)])


def run(tool: ToolBase, **tool_input: Any) -> Ran:
    return asyncio.run(run_async(tool, **tool_input))


def preview(tool: ToolBase, **tool_input: Any) -> Preview:
    shown = asyncio.run(tool.preview(tool_input))
    assert shown is not None
    return shown


NO_RULES = PermissionContext()

"""The tools of one agent: found by name, their input parsed, their definition named by a digest.

Owns the set. Must not know what a tool does, nor whether it may.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from sayso.message import ToolResultBlock
from sayso.tool.base import ToolBase
from sayso.tool.function import FunctionTool
from sayso.tool.schema import InvalidInput, cached, json_object, validate

__all__ = ["InvalidInput", "Toolkit", "definition_digest"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what the large model providers accept as the name of a tool


class Toolkit:
    """Tools with unique names, in order. A function becomes a FunctionTool.

    Raises ValueError for a name that is taken or that models cannot call, naming it.
    """

    def __init__(self, tools: Sequence[ToolBase | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, ToolBase] = {}
        for each in tools:
            self.add(each)

    def add(self, tool: ToolBase | Callable[..., Any]) -> ToolBase:
        """Put one more tool in; gives back the tool that a function became."""
        made = tool if isinstance(tool, ToolBase) else FunctionTool(tool)
        if not _NAME.fullmatch(made.name):
            raise ValueError(f"a tool is called {made.name!r}: use 1 to 64 letters, digits, '_' and '-'")
        if made.name in self._tools:
            raise ValueError(f"two tools are called {made.name!r}: give one of them another name")
        made.beside(tuple(self._tools.values()))
        self._tools[made.name] = made
        return made

    def get(self, name: str) -> ToolBase | None:
        """The tool of that name, if there is one."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[ToolBase]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._tools)

    def parse(self, tool: ToolBase, input_text: str) -> dict[str, Any]:
        """The arguments in `input_text`, as JSON values, without defaults. Raises InvalidInput, for the model to read.

        Strict JSON: one object; cut-off text is never completed. Then validated against the tool's schema.
        """
        value = json_object(input_text, tool.name)
        validate(tool, input_text, value)
        return value

    def recall(self, results: Iterable[ToolResultBlock]) -> None:
        """Tell the tools what they did earlier in a session that goes on in this process."""
        for result in results:
            tool = self._tools.get(result.name)
            if tool is not None:
                tool.recall(result)


def definition_digest(tool: ToolBase) -> str:
    """Hex sha256 of what a person relied on who approved a call of this tool.

    That is its name, its description and its schema (which tell what a call means) and whether it only reads or runs
    outside. Another digest on a later day means: ask again.
    """
    of = (tool.name, tool.description, tool.input_schema, tool.is_read_only, tool.is_external_tool)
    return cached(tool, "definition", of, lambda: _digest(tool))


def _digest(tool: ToolBase) -> str:
    definition = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "is_read_only": tool.is_read_only,
        "is_external_tool": tool.is_external_tool,
    }
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode()).hexdigest()

"""`-m scripted:FILE.json`: a model that says what a file says. For demonstrations and tests; documented as such.

Owns the file's format. Says the next turn of the conversation it is shown, so that another process goes on where this
one stopped.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from sayso.errors import ModelError
from sayso.message import Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from sayso.model.base import ModelStream, ToolSchema
from sayso.model.scripted import ScriptedModel

__all__ = ["Script", "script_model", "turns_said"]

_CHUNK = 7  # characters of a delta: small enough that streaming is seen
Block = TextBlock | ThinkingBlock | ToolCallBlock


class Script:
    """A `ChatModel` that says `turns[n]` as the n-th answer of the conversation it is shown.

    turns: lists of blocks; the ids of calls are made from the turn's number. chunk: as in ScriptedModel.
    """

    def __init__(self, turns: Sequence[Sequence[Block]], *, chunk: int | None = _CHUNK) -> None:
        self._turns = turns
        self._chunk = chunk

    @property
    def model_name(self) -> str:
        return "scripted"

    def respond(self, messages: Sequence[Msg], tools: Sequence[ToolSchema]) -> ModelStream:
        """The next turn, streamed."""
        number = turns_said(messages)
        if number >= len(self._turns):
            return _Ended(len(self._turns))
        return ScriptedModel([self._turns[number]], chunk=self._chunk).respond(messages, tools)


class _Ended:
    """The stream of a script that has nothing more to say."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        raise ModelError(f"The script ends after {self._count} turns.", kind="invalid_request")


def turns_said(messages: Sequence[Msg]) -> int:
    """How often a model has answered in this conversation: each run of words and calls up to their results."""
    count = 0
    for message in messages:
        if message.role != "assistant":
            continue
        speaking = False
        for block in message.content:
            if isinstance(block, TextBlock | ThinkingBlock | ToolCallBlock):
                count += not speaking
                speaking = True
            elif isinstance(block, ToolResultBlock):
                speaking = False
    return count


def script_model(path: Path) -> Script:
    """The model of a script file.

    The file is a JSON list of turns. A turn is text, or a list of parts: {"text": ...}, {"thinking": ...} or
    {"tool": NAME, "input": {...}} (an input given as text is sent as it is, valid or not).
    Raises ValueError naming the place that cannot be read.
    """
    try:
        turns = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise ValueError(f"the script {path} cannot be read: {exc}") from exc
    if not isinstance(turns, list):
        raise ValueError(f"the script {path} must be a list of turns")
    return Script([_turn(path, n, turn) for n, turn in enumerate(turns)])


def _turn(path: Path, n: int, turn: Any) -> list[Block]:
    parts = [{"text": turn}] if isinstance(turn, str) else turn
    if not isinstance(parts, list):
        raise ValueError(f"the script {path}: turn {n} must be text or a list of parts")
    return [_part(path, f"{n}-{i}", part) for i, part in enumerate(parts)]


def _part(path: Path, place: str, part: Any) -> Block:
    match part:
        case {"text": str(text)}:
            return TextBlock(text=text)
        case {"thinking": str(text)}:
            return ThinkingBlock(thinking=text)
        case {"tool": str(name), "input": tool_input}:
            text = tool_input if isinstance(tool_input, str) else json.dumps(tool_input, ensure_ascii=False)
            return ToolCallBlock(id=f"call-{place}", name=name, input=text)
        case _:
            raise ValueError(f"the script {path}: part {place} must be text, thinking, or a tool with its input")

"""Running one tool that was judged: its chunks become events as they come, its end a result."""

import asyncio
from collections.abc import Callable
from typing import Literal

from sayso.event import AgentEvent
from sayso.ids import now
from sayso.message import DataBlock, TextBlock, ToolResultState
from sayso.reply.fact import DoubtSettled, ToolReturned
from sayso.reply.part import Call, Data, Result, Text
from sayso.reply.transcript import as_output
from sayso.reply.watch import output_event
from sayso.tool.base import ToolBase
from sayso.tool.run import run_tool
from sayso.tool.toolkit import InvalidInput, Toolkit

__all__ = ["run_call", "settle"]

Emit = Callable[[AgentEvent], None]
_State = Literal["success", "error", "denied", "interrupted"]


async def run_call(toolkit: Toolkit, call: Call, *, reply_id: str, emit: Emit | None) -> ToolReturned:
    """Run the tool to its end. A failure of the tool is a result in state `error`.

    Cancelled, it asks the tool to stop and gives back a result in state `interrupted`; the caller then ends the reply.
    """
    tool = toolkit.get(call.tool)
    if tool is None:
        return _returned(call, "error", f"The tool {call.tool!r} is gone; it did not run.")
    output: list[TextBlock | DataBlock] = []
    metadata: dict[str, object] = {}
    state = ToolResultState.RUNNING
    try:
        async for chunk in run_tool(tool, toolkit.parse(tool, call.input)):
            state = chunk.state
            if chunk.metadata:
                metadata |= chunk.metadata
            for block in chunk.content:
                _add(output, block)
                if emit is not None:
                    emit(_event(reply_id, call.id, block))
    except InvalidInput as exc:
        return _returned(call, "error", str(exc))
    except asyncio.CancelledError:
        note = TextBlock(text="\nInterrupted; it may have completed.")
        _add(output, note)
        if emit is not None:
            emit(_event(reply_id, call.id, note))
        return _with_output(call, "interrupted", output, metadata)
    final: _State = "success"
    if state is ToolResultState.ERROR:
        final = "error"
    elif state is ToolResultState.INTERRUPTED:
        final = "interrupted"
    elif state is ToolResultState.DENIED:
        final = "denied"
    return _with_output(call, final, output, metadata)


def _add(output: list[TextBlock | DataBlock], block: TextBlock | DataBlock) -> None:
    """Pieces of text run together: chunks are how words came, not how they are kept."""
    last = output[-1] if output else None
    if isinstance(block, TextBlock) and isinstance(last, TextBlock):
        output[-1] = last.model_copy(update={"text": last.text + block.text})
    else:
        output.append(block)


def _event(reply_id: str, call_id: str, block: TextBlock | DataBlock) -> AgentEvent:
    part = as_output([block])
    piece: Text | Data = Text(id=block.id, text=part) if isinstance(part, str) else part[0]
    return output_event(reply_id, call_id, piece)


def _returned(call: Call, state: _State, text: str) -> ToolReturned:
    at = now()
    return ToolReturned(at=at, result=Result(call_id=call.id, tool=call.tool, state=state, output=text, at=at))


def _with_output(
    call: Call, state: _State, output: list[TextBlock | DataBlock], metadata: dict[str, object]
) -> ToolReturned:
    at = now()
    kept = as_output(output) if output else ""
    result = Result(call_id=call.id, tool=call.tool, state=state, output=kept, meta=metadata or None, at=at)
    return ToolReturned(at=at, result=result)


async def settle(tool: ToolBase | None, toolkit: Toolkit, call: Call) -> DoubtSettled | str:
    """What a lost call came to, where that can be known without a person; else why only a person can say.

    A tool that changes nothing, or to which twice is as once, may run again; one that can verify is asked.
    """
    if tool is None:
        return f"The tool {call.tool!r} is gone."
    if tool.is_read_only or tool.idempotent:
        why = "the tool only reads" if tool.is_read_only else "running the tool twice is as running it once"
        return DoubtSettled(at=now(), call_id=call.id, how="again", why=why)
    try:
        found = await tool.verify(toolkit.parse(tool, call.input))
    except Exception as exc:
        return f"Whether it did could not be verified: {type(exc).__name__}: {exc}."
    if found.outcome == "not_done":
        return DoubtSettled(at=now(), call_id=call.id, how="again", why="the tool found that it had not happened")
    if found.outcome == "done":
        at = now()
        text = found.result or "It had completed before the restart."
        result = Result(call_id=call.id, tool=call.tool, state="success", output=text, at=at)
        return DoubtSettled(
            at=at, call_id=call.id, how="done", why="the tool found that it had happened", result=result
        )
    return ""

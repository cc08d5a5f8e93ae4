"""Running a tool: whatever shape its `__call__` has, its result is a stream of chunks, and a failure is one too.

Owns the shapes (plain, async, generators; text, chunks, values) and their one meaning. Must not know which tool it is,
nor whether it may run.
"""

from __future__ import annotations

import asyncio
import inspect
import operator
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from sayso.message import DataBlock, TextBlock, ToolResultState
from sayso.tool.base import ToolBase, ToolChunk
from sayso.tool.output import Cut, bounded, bounded_result, clean, fitting

__all__ = ["bounded", "bounded_result", "call", "run_tool", "threaded"]

_END = object()


async def run_tool(tool: ToolBase, tool_input: dict[str, Any]) -> AsyncIterator[ToolChunk]:
    """Run `tool` to its end and yield what it says.

    Pieces come in state `running`; the last chunk, which may be empty, is in the result's state: `success`, `error` or
    `interrupted`, with the metadata of all. Texts put together are the result, at most `tool.output_limit` characters.

    An exception of the tool is a last chunk in state `error` that says `Type: message`. A cancel reaches the tool, and
    is raised again once the tool has stopped. A plain function in a thread cannot be stopped: it may still finish.
    """
    result = _Result(tool.output_limit)
    try:
        value = await call(tool.__call__, tool_input)
        stream = threaded(value) if inspect.isgenerator(value) else value
        if isinstance(stream, AsyncIterator):
            async with aclosing(_closable(stream)) as pieces:
                async for piece in pieces:
                    shown = result.add(_chunk(piece))
                    if shown is not None:
                        yield shown
            last = result.last()
        else:
            last = result.last(_chunk(value))
    except asyncio.CancelledError as exc:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        last = result.failed(exc)  # the tool's own cancel, of something inside it, is the tool's failure
    except (Exception, SystemExit) as exc:  # a tool may raise anything, and may not end the program
        last = result.failed(exc)
    yield last


class _Result:
    """What a tool has said so far."""

    def __init__(self, limit: int) -> None:
        self._cut = Cut(limit)
        self._state = ToolResultState.RUNNING
        self._metadata: dict[str, Any] = {}

    def add(self, piece: ToolChunk) -> ToolChunk | None:
        """The part of `piece` to pass on now; its state and metadata are kept for the end."""
        content = self._content(piece)
        if not content:
            return None
        whole = len(content) == len(piece.content) and all(map(operator.is_, content, piece.content))
        if whole and piece.state is ToolResultState.RUNNING and not piece.is_last:
            return piece
        return ToolChunk(content=content, is_last=False)

    def _content(self, piece: ToolChunk) -> list[TextBlock | DataBlock]:
        if piece.state is not ToolResultState.RUNNING:
            self._state = piece.state
        if piece.metadata:
            self._metadata |= from_json(to_json(piece.metadata, fallback=repr, bytes_mode="base64"))
        content: list[TextBlock | DataBlock] = []
        for block in piece.content:
            fit = fitting(block) if isinstance(block, DataBlock) else block
            if isinstance(fit, DataBlock):
                content.append(fit)
            elif text := self._cut.feed(fit.text):
                content.append(fit if text == fit.text else TextBlock(text=text))
        return content

    def last(self, whole: ToolChunk | None = None) -> ToolChunk:
        """The end of a tool that returned; `whole` if that is all it said.

        A tool cannot say that a person refused it: `denied` is an error of its own.
        """
        content = self._content(whole) if whole is not None else []
        state = self._state
        if state is ToolResultState.RUNNING:
            state = ToolResultState.SUCCESS
        elif state is ToolResultState.DENIED:
            state = ToolResultState.ERROR
        if rest := self._cut.rest():
            content.append(TextBlock(text=rest))
        return ToolChunk(content=content, state=state, metadata=self._metadata)

    def failed(self, exc: BaseException) -> ToolChunk:
        """The end of a tool that raised."""
        message = clean(str(exc).strip())
        text = f"{type(exc).__name__}: {message}" if message else type(exc).__name__
        said = self._cut.feed(text if self._cut.empty else f"\n{text}")
        content: list[TextBlock | DataBlock] = [TextBlock(text=said + self._cut.rest())]
        return ToolChunk(content=content, state=ToolResultState.ERROR, metadata=self._metadata)


async def _closable(pieces: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """`pieces`, asked to stop when nobody wants more, if it can be."""
    try:
        async for piece in pieces:
            yield piece
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


async def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What `function` returns. One that would block the loop runs in a thread; an awaitable is awaited."""
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    at_once = (
        inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target) or inspect.isgeneratorfunction(target)
    )
    value = function(**arguments) if at_once else await asyncio.to_thread(_in_thread, function, arguments)
    return await value if inspect.isawaitable(value) else value


def _in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return function(**arguments)
    except StopIteration as exc:  # which a future cannot carry: whoever waits for it would wait for ever
        raise RuntimeError(f"StopIteration: {exc}") from exc


async def threaded(pieces: Iterator[Any]) -> AsyncIterator[Any]:
    """A generator's values, each made in a thread; closed when nobody wants more."""
    try:
        while (piece := await asyncio.to_thread(next, pieces, _END)) is not _END:
            yield piece
    finally:
        if inspect.isgenerator(pieces) and not pieces.gi_running:
            await asyncio.to_thread(pieces.close)


def _chunk(value: Any) -> ToolChunk:
    """Any value a tool may return or yield, as a chunk."""
    if isinstance(value, ToolChunk):
        return value
    if value is None:
        content: list[TextBlock | DataBlock] = []
    elif isinstance(value, str):
        content = [TextBlock(text=clean(value))] if value else []
    elif isinstance(value, (TextBlock, DataBlock)):
        content = [value]
    elif isinstance(value, list) and value and all(isinstance(v, (TextBlock, DataBlock)) for v in value):
        content = value
    else:
        content = [TextBlock(text=_as_json(value))]
    return ToolChunk(content=content, is_last=False)


def _as_json(value: Any) -> str:
    try:
        return to_json(value, inf_nan_mode="constants", bytes_mode="base64").decode()
    except (PydanticSerializationError, UnicodeEncodeError, ValueError) as exc:
        # It has run, so the model must not take this for a call that did nothing.
        raise TypeError(
            f"the tool ran to its end, but what it returned (a {type(value).__name__}) cannot be shown as JSON: {exc}"
        ) from exc

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from running import run, run_async
from sayso.message import Base64Source, DataBlock, TextBlock, ToolResultState
from sayso.tool import FunctionTool, ToolBase, ToolChunk
from sayso.tool.run import run_tool


def returning(value: Any) -> FunctionTool:
    async def give() -> Any:
        return value

    return FunctionTool(give)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("words", "words"),
        (None, ""),
        ("", ""),
        (0, "0"),
        ({"a": [1, None], "b": "ü"}, '{"a":[1,null],"b":"ü"}'),
        (float("nan"), "NaN"),
        ([TextBlock(text="block")], "block"),
        (TextBlock(text="block"), "block"),
        ("half \ud800", "half \ufffd\ufffd\ufffd"),
    ],
)
def test_whatever_a_tool_returns_is_one_chunk_in_state_success(value: Any, text: str) -> None:
    ran = run(returning(value))
    assert (len(ran.chunks), ran.text, ran.state) == (1, text, ToolResultState.SUCCESS)


def test_an_image_goes_through() -> None:
    image = DataBlock(source=Base64Source(data="AA==", media_type="image/png"))
    assert run(returning([TextBlock(text="see"), image])).chunks[0].content[1] == image


def test_a_value_that_is_no_json_is_an_error_that_says_the_tool_did_run() -> None:
    ran = run(returning(object()))
    assert ran.state is ToolResultState.ERROR
    assert "ran to its end" in ran.text


def test_an_exception_is_an_error_result_with_type_and_message_and_no_traceback() -> None:
    async def pay() -> str:
        raise PermissionError("card refused")

    ran = run(FunctionTool(pay))
    assert (ran.text, ran.state) == ("PermissionError: card refused", ToolResultState.ERROR)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("error", [SystemExit(3), StopIteration("x"), RecursionError()])
def test_no_exception_of_a_tool_ends_the_program_or_hangs_it(plain: bool, error: BaseException) -> None:
    async def waits() -> str:
        raise error

    def blocks() -> str:
        raise error

    ran = run(FunctionTool(blocks if plain else waits))
    assert ran.state is ToolResultState.ERROR
    assert type(error).__name__ in ran.text


def test_a_stream_is_passed_on_piece_by_piece_and_ends_in_success() -> None:
    async def count(to: int) -> AsyncIterator[str]:
        for n in range(to):
            yield str(n)

    ran = run(FunctionTool(count), to=3)
    assert [c.state.value for c in ran.chunks] == ["running", "running", "running", "success"]
    assert ran.text == "012"


def test_a_plain_generator_streams_too_and_does_not_block_the_loop() -> None:
    async def main() -> str:
        asked, answered = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def talk() -> Iterator[str]:
            yield "a"
            loop.call_soon_threadsafe(asked.set)
            asyncio.run_coroutine_threadsafe(answered.wait(), loop).result()
            yield "b"

        async def answer() -> None:
            await asked.wait()
            answered.set()

        ran, _ = await asyncio.gather(run_async(FunctionTool(talk)), answer())
        return ran.text

    assert asyncio.run(main()) == "ab"


def test_a_stream_that_breaks_keeps_what_it_said_and_ends_in_error() -> None:
    async def half() -> AsyncIterator[str]:
        yield "first"
        raise OSError("gone")

    ran = run(FunctionTool(half))
    assert (ran.text, ran.state) == ("first\nOSError: gone", ToolResultState.ERROR)


def test_the_last_state_that_a_tool_names_is_the_result_s_and_metadata_add_up() -> None:
    class Steps(ToolBase):
        name = "steps"

        async def __call__(self) -> AsyncIterator[ToolChunk]:
            yield ToolChunk(content="one", metadata={"a": 1, "odd": object})
            yield ToolChunk(content="two", state=ToolResultState.ERROR, metadata={"b": 2})

    ran = run(Steps())
    assert ran.state is ToolResultState.ERROR
    assert (ran.metadata["a"], ran.metadata["b"]) == (1, 2)
    assert isinstance(ran.metadata["odd"], str)


def test_a_tool_cannot_claim_that_a_person_refused_it() -> None:
    assert run(returning(ToolChunk(content="no", state=ToolResultState.DENIED))).state is ToolResultState.ERROR


def test_a_class_with_a_plain_call_runs_in_a_thread() -> None:
    class Slow(ToolBase):
        name = "slow"

        def __call__(self, wait: Any) -> str:
            return str(wait())

    async def main() -> str:
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        loop.call_soon(woken.set)
        return (
            await run_async(
                Slow(), wait=lambda: asyncio.run_coroutine_threadsafe(asyncio.wait_for(woken.wait(), 5), loop).result()
            )
        ).text

    assert asyncio.run(main()) == "True"


def test_a_long_stream_is_cut_in_its_middle_while_it_comes() -> None:
    async def flood() -> AsyncIterator[str]:
        for _ in range(1_000):
            yield "x" * 1_000
        yield "the end"

    ran = run(FunctionTool(flood))
    assert len(ran.text) <= 30_000
    assert "characters were cut" in ran.text
    assert ran.text.endswith("the end")


def test_a_cancel_reaches_the_tool_and_is_raised_again_when_it_has_stopped() -> None:
    seen: list[str] = []

    async def main() -> None:
        started = asyncio.Event()

        async def work() -> AsyncIterator[str]:
            try:
                started.set()
                yield "working"
                await asyncio.Event().wait()
            finally:
                seen.append("stopped")

        task = asyncio.ensure_future(run_async(FunctionTool(work)))
        await started.wait()
        await asyncio.wait([task], timeout=0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        seen.append("raised")

    asyncio.run(main())
    assert seen == ["stopped", "raised"]


def test_a_cancel_of_something_inside_the_tool_is_the_tool_s_failure() -> None:
    async def inner() -> str:
        raise asyncio.CancelledError

    ran = run(FunctionTool(inner))
    assert (ran.text, ran.state) == ("CancelledError", ToolResultState.ERROR)


def test_a_watcher_who_leaves_closes_the_stream() -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
        finally:
            closed.append(True)

    async def main() -> None:
        stream = run_tool(FunctionTool(endless), {})
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert closed == [True]

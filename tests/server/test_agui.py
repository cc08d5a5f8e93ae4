"""AG-UI 1.0, as its own client sees it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hosting import says
from sayso.host import Host
from sayso.server.app import create_app
from sayso.store import MemoryStore
from serving import TOKENS, listening, people
from worlds import Bank, call

NODE = Path(__file__).parents[1] / "node"
PAY = [call("c1", to="ann")]


@contextlib.asynccontextmanager
async def world(*turns: Any, **options: Any) -> AsyncIterator[tuple[str, Bank, Host]]:
    bank = Bank()
    host = Host(MemoryStore(), {"ops": says(*turns, tools=[bank.tool()], **options)})
    async with listening(create_app(host, people())) as url:
        yield url, bank, host


async def played(url: str, scene: str, token: str = TOKENS["ann"]) -> list[dict[str, Any]]:
    """What AG-UI's client saw, run by run."""
    child = await asyncio.create_subprocess_exec(
        "node", "agui.mjs", f"{url}/agui/ops", token, scene,
        cwd=NODE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode == 0, err.decode()
    seen: list[dict[str, Any]] = json.loads(out)
    return seen


def test_a_message_is_answered_in_a_run_that_ends_with_success() -> None:
    async def story() -> None:
        async with world("hello there") as (url, _, _):
            (run,) = await played(url, "plain")
            assert run["texts"] == "hello there"
            assert run["types"][:2] == ["RUN_STARTED", "MESSAGES_SNAPSHOT"]
            assert run["types"][-1] == "RUN_FINISHED"
            assert run["outcome"]["type"] == "success"
            assert [m["role"] for m in run["messages"]] == ["user", "assistant"]

    asyncio.run(story())


def test_a_pause_ends_the_run_with_an_interrupt_and_a_resume_goes_on_in_a_new_one() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, _):
            first, second = await played(url, "approve")
            (interrupt,) = first["outcome"]["interrupts"]
            assert (interrupt["reason"], interrupt["toolCallId"]) == ("tool_call", "c1")
            assert interrupt["metadata"]["digest"]
            assert interrupt["responseSchema"]["required"] == ["approved"]
            assert "expiresAt" not in interrupt
            assert bank.paid == ["ann:1"]
            assert second["types"].count("TOOL_CALL_RESULT") == 1
            assert second["types"].index("TOOL_CALL_RESULT") < second["types"].index("TEXT_MESSAGE_START")
            assert (second["texts"], second["outcome"]["type"]) == ("paid", "success")

    asyncio.run(story())


def test_edited_arguments_are_what_runs() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, _):
            await played(url, "edit")
            assert bank.paid == ["ann:4"]

    asyncio.run(story())


@pytest.mark.parametrize(("scene", "said"), [("reject", "too much"), ("cancel", "dismissed")])
def test_a_refused_or_cancelled_interrupt_runs_nothing_and_the_model_is_told(scene: str, said: str) -> None:
    async def story() -> None:
        async with world(PAY, "as you wish") as (url, bank, _):
            runs = await played(url, scene)
            assert bank.paid == []
            results = [m["content"] for m in runs[-1]["messages"] if m["role"] == "tool"]
            assert said in results[0]
            assert runs[-1]["outcome"]["type"] == "success"

    asyncio.run(story())


def test_what_is_not_covered_is_asked_again_at_the_end_of_the_run() -> None:
    async def story() -> None:
        async with world([call("c1", to="ann"), call("c2", to="bob", amount=2)], "both") as (url, bank, _):
            first, second, third = await played(url, "partial")
            assert [i["toolCallId"] for i in first["outcome"]["interrupts"]] == ["c1", "c2"]
            assert [i["toolCallId"] for i in second["outcome"]["interrupts"]] == ["c2"]
            assert third["outcome"]["type"] == "success"
            assert sorted(bank.paid) == ["ann:1", "bob:2"]

    asyncio.run(story())


def test_a_reload_shows_the_conversation_and_the_interrupts_again() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, _):
            first, reloaded, resumed = await played(url, "reload")
            assert reloaded["outcome"]["interrupts"][0]["id"] == first["outcome"]["interrupts"][0]["id"]
            assert [m["role"] for m in reloaded["messages"]] == ["user", "assistant"]
            assert resumed["outcome"]["type"] == "success"
            assert bank.paid == ["ann:1"]

    asyncio.run(story())


@pytest.mark.parametrize("scene", ["stale", "unknown"])
def test_an_interrupt_that_does_not_wait_is_an_error_and_changes_nothing(scene: str) -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, _):
            runs = await played(url, scene)
            assert runs[-1]["error"]["code"] == "NotWaiting"
            assert bank.paid == (["ann:1"] if scene == "stale" else [])

    asyncio.run(story())


def test_a_payload_that_does_not_clearly_say_yes_is_never_a_yes() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, host):
            runs = await played(url, "unclear")
            assert [r["error"]["code"] for r in runs[1:]] == ["InvalidAnswer"] * 5
            assert bank.paid == []
            assert len(await host.pending()) == 1

    asyncio.run(story())


def none_in(value: Any) -> bool:
    if isinstance(value, dict):
        return any(none_in(v) for v in value.values())
    return value is None or (isinstance(value, list) and any(map(none_in, value)))


def test_an_expired_interrupt_is_not_answered() -> None:
    async def story() -> None:
        async with world(PAY, "nobody", expires_after=0.001) as (url, bank, host), httpx.AsyncClient() as http:
            body: dict[str, Any] = {"threadId": "t", "runId": "r", "messages": [], "tools": [], "context": []}
            body |= {"state": {}, "forwardedProps": {}}
            body["messages"] = [{"id": "u1", "role": "user", "content": "pay"}]
            headers = {"Authorization": f"Bearer {TOKENS['ann']}"}
            text = (await http.post(f"{url}/agui/ops", json=body, headers=headers)).text
            assert "\r" not in text
            assert not any(none_in(json.loads(line[6:])) for line in text.splitlines() if line.startswith("data: "))
            events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
            (interrupt,) = events[-1]["outcome"]["interrupts"]
            assert interrupt["expiresAt"]
            await host.expire()
            await host.settled()
            payload = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}
            text = (await http.post(f"{url}/agui/ops", json=body | {"resume": [payload]}, headers=headers)).text
            assert json.loads(text.strip().splitlines()[-1][6:])["type"] == "RUN_ERROR"
            assert bank.paid == []

    asyncio.run(story())


def test_a_message_while_answers_are_owed_is_an_error_and_changes_nothing() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, host):
            runs = await played(url, "parked")
            assert runs[-1]["error"]["code"] == "Parked"
            assert bank.paid == []
            assert len(await host.pending()) == 1

    asyncio.run(story())


def test_a_tool_of_the_clients_own_is_run_by_the_client() -> None:
    async def story() -> None:
        turns = ([call("c1", tool="pick_colour", of="the wall")], "a blue wall")
        async with world(*turns) as (url, _, _):
            first, second = await played(url, "frontend")
            assert (first["outcome"]["type"], first["outcome"]["pendingToolCallIds"]) == ("success", ["c1"])
            assert second["texts"] == "a blue wall"

    asyncio.run(story())


def test_a_client_cannot_put_its_own_tool_in_the_place_of_ours() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, _):
            (run,) = await played(url, "shadow")
            assert run["error"]["code"] == "InvalidAnswer"
            assert bank.paid == []

    asyncio.run(story())


def test_without_a_right_token_there_is_no_run() -> None:
    async def story() -> None:
        async with world(PAY, "paid") as (url, bank, host):
            for token in ("nix", TOKENS["vic"]):
                (run,) = await played(url, "plain", token)
                assert run["error"] is not None
            assert bank.paid == []
            assert await host.store.sessions() == []

    asyncio.run(story())


def test_a_model_that_fails_ends_the_run_with_an_error() -> None:
    async def story() -> None:
        from sayso.errors import ModelError

        async with world(ModelError("no such key", kind="authentication")) as (url, _, _):
            (run,) = await played(url, "plain")
            assert run["error"]["code"] == "authentication"

    asyncio.run(story())

"""The HTTP API: what each verb does, and what each refusal says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sayso.event import UserConfirmResultEvent
from sayso.store import MemoryStore, SQLiteStore
from serving import digest_answer, served
from worlds import Outside, call


def test_a_session_is_begun_asks_is_answered_and_goes_on() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            answered = await s.post(f"/requests/{request['id']}/answer", digest_answer(request))
            assert (answered.status_code, answered.json()["by"]) == (200, "ann")
            await s.host.settled()
            assert s.bank.paid == ["ann:1"]
            state = (await s.get(f"/sessions/{request['session_id']}")).json()
            assert state["context"][-1]["finished_reason"] == "completed"
            assert state["row"]["state"] == "idle"

    asyncio.run(world())


def test_a_second_answer_is_a_conflict_that_says_who_how_and_when() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            await s.post(f"/requests/{request['id']}/answer", digest_answer(request, "reject"), by="adm")
            late = await s.post(f"/requests/{request['id']}/answer", digest_answer(request))
            assert late.status_code == 409
            body = late.json()
            assert (body["code"], body["how"], body["by"], body["via"]) == ("NotWaiting", "refused", "adm", "http")
            assert body["at"]
            assert s.bank.paid == []

    asyncio.run(world())


def test_fifty_clients_answer_at_once_and_one_is_taken() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            path = f"/requests/{request['id']}/answer"
            answers = await asyncio.gather(*(s.post(path, digest_answer(request)) for _ in range(50)))
            await s.host.settled()
            assert sorted(a.status_code for a in answers) == [200] + [409] * 49
            assert s.bank.paid == ["ann:1"]

    asyncio.run(world())


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"digest": "other"}, 409, "StaleAnswer"),
        ({"decision": "answer"}, 422, "InvalidAnswer"),
        ({"edited_input": "{"}, 422, "InvalidAnswer"),
        ({"rule_ids": ["rule-99"]}, 422, "InvalidAnswer"),
        ({"decision": "maybe"}, 422, "InvalidBody"),
        ({"by": "somebody else"}, 422, "InvalidBody"),
        ({"decision": None}, 422, "InvalidBody"),
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(fields: dict[str, Any], status: int, code: str) -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            wrong = await s.post(f"/requests/{request['id']}/answer", {**digest_answer(request), **fields})
            assert (wrong.status_code, wrong.json()["code"]) == (status, code)
            assert [r["id"] for r in (await s.get("/requests")).json()["requests"]] == [request["id"]]
            assert s.bank.paid == []

    asyncio.run(world())


def test_a_message_while_answers_are_owed_is_a_conflict() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            refused = await s.post(f"/sessions/{request['session_id']}/messages", {"message": "and?"})
            assert (refused.status_code, refused.json()["code"]) == (409, "Parked")

    asyncio.run(world())


@pytest.mark.parametrize("path", ["/sessions/nix", "/sessions/nix/log", "/sessions/nix/events", "/requests/nix", "/x"])
def test_what_is_not_there_is_not_found(path: str) -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            missing = await s.get(path)
            assert missing.status_code == 404
            assert missing.headers["content-type"] == "application/problem+json"

    asyncio.run(world())


def test_requests_are_filtered_and_paged() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            ids = [(await s.asked())["id"] for _ in range(5)]
            first = (await s.get("/requests?limit=2")).json()["requests"]
            assert [r["id"] for r in first] == ids[:2]
            rest = (await s.get(f"/requests?limit=9&after={ids[1]}")).json()["requests"]
            assert [r["id"] for r in rest] == ids[2:]
            newest = (await s.get("/requests?order=newest&limit=1")).json()["requests"]
            assert [r["id"] for r in newest] == ids[-1:]
            assert (await s.get("/requests?tool=nix")).json()["requests"] == []
            assert (await s.get("/requests?limit=x")).status_code == 422

    asyncio.run(world())


def test_the_history_says_who_decided_what() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            await s.post(f"/requests/{request['id']}/answer", digest_answer(request, "reject", reason="no"))
            (decided,) = (await s.get("/history")).json()["decided"]
            assert (decided["how"], decided["by"], decided["via"]) == ("refused", "ann", "http")
            assert decided["request"]["id"] == request["id"]
            assert (await s.get("/history?how=approved")).json()["decided"] == []

    asyncio.run(world())


def test_the_log_says_who_answered() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            await s.post(f"/requests/{request['id']}/answer", digest_answer(request), by="adm")
            entries = (await s.get(f"/sessions/{request['session_id']}/log")).json()["entries"]
            (answered,) = [e["fact"] for e in entries if e["fact"]["fact"] == "HumanAnswered/1"]
            assert (answered["by"], answered["via"]) == ("adm", "http")

    asyncio.run(world())


def test_the_result_events_of_the_published_language_are_taken_as_they_are() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            block = {"id": "c1", "name": "pay", "input": request["input"], "metadata": {"digest": request["digest"]}}
            event = {
                "type": "USER_CONFIRM_RESULT",
                "reply_id": request["reply_id"],
                "confirm_results": [{"confirmed": True, "tool_call": block}],
            }
            UserConfirmResultEvent.model_validate(event)
            taken = await s.post(f"/sessions/{request['session_id']}/events", event)
            assert taken.status_code == 202, taken.text
            await s.host.settled()
            assert s.bank.paid == ["ann:1"]

    asyncio.run(world())


def test_a_client_brings_no_rule_of_its_own() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            block = {"id": "c1", "name": "pay", "input": request["input"], "metadata": {"digest": request["digest"]}}
            rule = {"tool_name": "pay", "rule_content": None, "behavior": "allow", "source": "me"}
            event = {
                "type": "USER_CONFIRM_RESULT",
                "reply_id": request["reply_id"],
                "confirm_results": [{"confirmed": True, "tool_call": block, "rules": [rule]}],
            }
            refused = await s.post(f"/sessions/{request['session_id']}/events", event)
            offered = [(o["rule"]["tool_name"], o["rule"]["rule_content"]) for o in request["suggested_rules"]]
            if ("pay", None) not in offered:
                assert (refused.status_code, refused.json()["code"]) == (422, "InvalidAnswer")
                assert s.bank.paid == []

    asyncio.run(world())


def test_an_external_result_and_an_interrupt_are_taken_as_events() -> None:
    async def world() -> None:
        turns = ([call("c1", tool="deploy", to="prod")], "deployed")
        async with served(MemoryStore(), *turns, tools=[Outside()]) as s:
            request = await s.asked("deploy")
            result = {"type": "tool_result", "id": "c1", "name": "deploy", "output": "ok", "state": "success"}
            event = {
                "type": "EXTERNAL_EXECUTION_RESULT", "reply_id": request["reply_id"], "execution_results": [result]
            }  # fmt: skip
            taken = await s.post(f"/sessions/{request['session_id']}/events", event)
            assert taken.status_code == 202, taken.text
            await s.host.settled()
            other = await s.asked("again")
            stop = {"type": "USER_INTERRUPT", "reply_id": other["reply_id"]}
            assert (await s.post(f"/sessions/{other['session_id']}/events", stop)).status_code == 202
            assert (await s.get("/requests")).json()["requests"] == []

    asyncio.run(world())


def test_a_server_that_starts_again_finds_what_was_parked(tmp_path: Path) -> None:
    async def world() -> None:
        store = SQLiteStore(tmp_path / "log.db")
        async with served(store) as s:
            request = await s.asked()
        await store.close()
        store = SQLiteStore(tmp_path / "log.db")
        async with served(store) as s:
            (found,) = (await s.get("/requests")).json()["requests"]
            assert found["id"] == request["id"]
            await s.post(f"/requests/{request['id']}/answer", digest_answer(request))
            await s.host.settled()
            assert s.bank.paid == ["ann:1"]
        await store.close()

    asyncio.run(world())


def test_the_openapi_document_names_every_route_of_the_api() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            document = (await s.get("/openapi.json")).json()
            described = {(path, method.upper()) for path, ops in document["paths"].items() for method in ops}
            real = {
                (r.path, m) for r in s.app.state.api.routes() for m in r.methods or () if m != "HEAD"
            } - {("/login", "POST"), ("/openapi.json", "GET")}  # fmt: skip
            assert described == real
            text = str(document)
            refs = {part.split("'")[0] for part in text.split("#/components/schemas/")[1:]}
            assert refs <= set(document["components"]["schemas"])

    asyncio.run(world())

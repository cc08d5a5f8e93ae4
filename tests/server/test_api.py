"""The HTTP API: what each verb does, and what each refusal says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from hosting import says
from sayso.agent import Agent
from sayso.event import UserConfirmResultEvent
from sayso.host import Host
from sayso.store import MemoryStore, SQLiteStore
from sayso.testing import ScriptedModel
from serving import digest_answer, over, served
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
            rule = {"tool_name": "pay", "rule_content": "to:everybody", "behavior": "allow", "source": "me"}
            event = {
                "type": "USER_CONFIRM_RESULT",
                "reply_id": request["reply_id"],
                "confirm_results": [{"confirmed": True, "tool_call": block, "rules": [rule]}],
            }
            refused = await s.post(f"/sessions/{request['session_id']}/events", event)
            assert (refused.status_code, refused.json()["code"]) == (422, "InvalidAnswer")
            assert s.bank.paid == []

    asyncio.run(world())


def confirmation(request: dict[str, Any], *calls: dict[str, Any]) -> dict[str, Any]:
    """A yes to each of these calls."""
    results = [{"confirmed": True, "tool_call": {"input": request["input"], **c}} for c in calls]
    return {"type": "USER_CONFIRM_RESULT", "reply_id": request["reply_id"], "confirm_results": results}


@pytest.mark.parametrize(
    ("call_block", "code"),
    [
        ({"name": "pay"}, "InvalidAnswer"),
        ({"name": "pay", "metadata": {"digest": ""}}, "InvalidAnswer"),
        ({"name": "pay", "metadata": {"digest": ["x"]}}, "InvalidAnswer"),
        ({"name": "pay", "metadata": {"digest": "other"}}, "StaleAnswer"),
    ],
)
def test_a_yes_that_does_not_name_what_it_saw_is_none(call_block: dict[str, Any], code: str) -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            event = confirmation(request, {"id": "c1", **call_block})
            refused = await s.post(f"/sessions/{request['session_id']}/events", event)
            assert (refused.status_code < 500, refused.json()["code"]) == (True, code)
            assert s.bank.paid == []

    asyncio.run(world())


def test_a_yes_to_another_tool_is_no_yes_to_this_one() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            event = confirmation(request, {"id": "c1", "name": "look", "metadata": {"digest": request["digest"]}})
            refused = await s.post(f"/sessions/{request['session_id']}/events", event)
            assert (refused.status_code, refused.json()["code"]) == (422, "InvalidAnswer")
            assert s.bank.paid == []

    asyncio.run(world())


def test_of_an_event_with_a_result_that_does_not_fit_nothing_is_taken() -> None:
    async def world() -> None:
        async with served(MemoryStore(), [call("c1", to="ann"), call("c2", to="bob")], "done") as s:
            begun = await s.post("/sessions", {"message": "pay both"})
            await s.host.settled()
            path = f"/sessions/{begun.json()['session_id']}/events"
            asked = (await s.get("/requests")).json()["requests"]
            blocks = [
                {"id": r["call_id"], "name": "pay", "input": r["input"], "metadata": {"digest": r["digest"]}}
                for r in asked
            ]
            assert len(blocks) == 2
            stale = {**blocks[1], "metadata": {"digest": "other"}}
            assert (await s.post(path, confirmation(asked[0], blocks[0], stale))).status_code == 409
            assert (await s.post(path, confirmation(asked[0], blocks[0], blocks[0]))).status_code == 422
            assert (await s.post(path, confirmation(asked[0]))).status_code == 422
            await s.host.settled()
            assert s.bank.paid == []
            assert len((await s.get("/requests")).json()["requests"]) == 2
            assert (await s.post(path, confirmation(asked[0], *blocks))).status_code == 202
            await s.host.settled()
            assert sorted(s.bank.paid) == ["ann:1", "bob:1"]

    asyncio.run(world())


def test_an_interrupt_of_another_reply_stops_nothing() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            stop = {"type": "USER_INTERRUPT", "reply_id": "one-that-is-over"}
            refused = await s.post(f"/sessions/{request['session_id']}/events", stop)
            assert (refused.status_code, refused.json()["code"]) == (409, "StaleAnswer")
            assert len((await s.get("/requests")).json()["requests"]) == 1

    asyncio.run(world())


def test_a_result_that_was_denied_outside_is_a_refusal_and_one_without_an_end_is_none() -> None:
    async def world() -> None:
        async with served(MemoryStore(), [call("c1", tool="deploy", to="prod")], "so be it", tools=[Outside()]) as s:
            request = await s.asked("deploy")
            path = f"/sessions/{request['session_id']}/events"
            result = {"type": "tool_result", "id": "c1", "name": "deploy", "output": "not on a Friday"}
            event = {"type": "EXTERNAL_EXECUTION_RESULT", "reply_id": request["reply_id"]}
            for state in ("running", "interrupted"):
                refused = await s.post(path, {**event, "execution_results": [{**result, "state": state}]})
                assert (refused.status_code, refused.json()["code"]) == (422, "InvalidAnswer")
            assert (
                await s.post(path, {**event, "execution_results": [{**result, "state": "denied"}]})
            ).status_code == 202
            await s.host.settled()
            said = (await s.get(f"/sessions/{request['session_id']}")).json()["context"]
            (outcome,) = [b for m in said for b in m["content"] if b["type"] == "tool_result"]
            assert outcome["state"] == "denied"
            assert "not on a Friday" in str(outcome["output"])

    asyncio.run(world())


def test_a_session_of_an_agent_that_is_not_served_here_is_refused_by_every_verb() -> None:
    async def world() -> None:
        store = MemoryStore()
        async with served(store) as s:
            request = await s.asked()
        elsewhere = Host(store, {"other": lambda store, id: Agent("other", "", ScriptedModel([]), store=store)})
        session = f"/sessions/{request['session_id']}"
        async with over(elsewhere) as s:
            for answer in (
                await s.get(session),
                await s.get(f"/requests/{request['id']}"),
                await s.post(f"/requests/{request['id']}/answer", digest_answer(request)),
                await s.post(f"{session}/messages", {"message": "and?"}),
                await s.post(f"{session}/interrupt"),
                await s.post(f"{session}/mode", {"mode": "bypass"}, by="adm"),
            ):
                assert (answer.status_code, answer.json()["code"]) == (422, "Refused")
                assert "needs agent 'ops'; this host has: other" in answer.json()["detail"]

    asyncio.run(world())


def test_what_fails_unforeseen_is_a_problem_that_tells_nothing_of_it() -> None:
    async def fails(request: object) -> None:
        raise RuntimeError("the password is x")

    async def world() -> None:
        host = Host(MemoryStore(), {"ops": says("hi")})
        async with over(host, more=[Route("/fails", fails)], quiet=True) as s:
            answer = await s.get("/fails")
            assert (answer.status_code, answer.json()["code"]) == (500, "Broken")
            assert "password" not in answer.text
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]

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

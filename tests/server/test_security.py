"""A server on loopback that holds somebody's yes: what must not get through."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso.server.access import Access
from sayso.server.guard import BODY_LIMIT
from sayso.store import MemoryStore
from serving import TOKENS, Served, digest_answer, served

JSON = {"content-type": "application/json"}
BEARER = {"Authorization": f"Bearer {TOKENS['ann']}"}


async def refused(s: Served, method: str, path: str, **options: Any) -> tuple[int, str]:
    response = await s.http.request(method, path, **options)
    return response.status_code, response.json()["code"]


def test_another_host_name_is_not_answered() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            for name in ("evil.example", "testserver.evil.example", "", "127.0.0.1.nip.io"):
                assert (await refused(s, "GET", "/me", headers={**BEARER, "host": name}))[0] == 421

    asyncio.run(world())


def test_a_foreign_origin_may_do_nothing() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            for origin in ("http://evil.example", "null", "http://testserver.evil.example", "file://", "http://x:y@z"):
                headers = {**BEARER, "origin": origin}
                assert await refused(s, "POST", "/sessions", headers=headers, json={"message": "hi"}) == (
                    403,
                    "ForeignOrigin",
                )
            assert (await s.get("/sessions")).json()["sessions"] == []

    asyncio.run(world())


def test_without_a_token_or_with_a_wrong_one_nobody_gets_in() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            for headers in (
                {}, {"Authorization": "Bearer nix"}, {"Authorization": f"Basic {TOKENS['ann']}"},
                {"cookie": "sayso=1.2.3"}, {"cookie": 'sayso="'}, {"Authorization": "Bearer"},
            ):  # fmt: skip
                assert (await refused(s, "GET", "/requests", headers=headers))[0] == 401

    asyncio.run(world())


def test_a_token_in_a_url_is_refused_even_if_it_is_right() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            assert await refused(s, "GET", f"/requests?token={TOKENS['ann']}") == (400, "TokenInQuery")
            assert await refused(s, "GET", f"/requests?access_token={TOKENS['ann']}", headers=BEARER) == (
                400,
                "TokenInQuery",
            )

    asyncio.run(world())


def test_only_json_is_taken() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            path, body = f"/requests/{request['id']}/answer", json.dumps(digest_answer(request))
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
                headers = {**BEARER, "content-type": kind}
                assert await refused(s, "POST", path, headers=headers, content=body) == (415, "NotJson")
            assert s.bank.paid == []

    asyncio.run(world())


def test_a_get_answers_nothing() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            path = f"/requests/{request['id']}/answer?decision=approve&digest={request['digest']}"
            assert (await s.get(path)).status_code == 405
            assert len((await s.get("/requests")).json()["requests"]) == 1

    asyncio.run(world())


def test_a_viewer_sees_and_answers_nothing() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            assert (await s.get("/requests", by="vic")).status_code == 200
            for path, body in (
                (f"/requests/{request['id']}/answer", digest_answer(request)),
                (f"/requests/{request['id']}/answer", digest_answer(request, "dismiss")),
                ("/sessions", {"message": "hi"}),
                (f"/sessions/{request['session_id']}/messages", {"message": "hi"}),
                (f"/sessions/{request['session_id']}/interrupt", {}),
                (f"/sessions/{request['session_id']}/events", {"type": "USER_INTERRUPT", "reply_id": "x"}),
            ):
                answer = await s.post(path, body, by="vic")
                assert (answer.status_code, answer.json()["code"]) == (403, "NotAllowed")
            mode = await s.post(f"/sessions/{request['session_id']}/mode", {"mode": "bypass"}, by="ann")
            assert mode.status_code == 403
            assert s.bank.paid == []

    asyncio.run(world())


def test_a_body_that_is_too_long_is_refused_whatever_it_says_of_its_length() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:

            async def endless() -> Any:
                for _ in range(BODY_LIMIT // 65536 + 2):
                    yield b" " * 65536

            long = "x" * (BODY_LIMIT + 1)
            headers = {**BEARER, **JSON}
            assert (await s.http.post("/sessions", content=long, headers=headers)).status_code == 413
            assert (await s.http.post("/sessions", content=endless(), headers=headers)).status_code == 413
            assert (await s.get("/sessions")).json()["sessions"] == []

    asyncio.run(world())


@pytest.mark.parametrize(
    "field",
    [
        '"metadata": {"a": ' + "[" * 5000 + "]" * 5000 + "}",
        '"metadata": {"a": ' + "[" * 70 + "]" * 70 + "}",
        '"metadata": {"a": NaN}',
        '"metadata": {"a": 1e999}',
        '"metadata": {"a": ' + "9" * 5000 + "}",
        '"metadata": {"\\ud800": 1}',
        '"edited_input": ' + json.dumps('{"to": ' + "[" * 5000 + "]" * 5000 + "}"),
        '"edited_input": ' + json.dumps('{"to": "\\ud800"}'),
        '"edited_input": "{\\"to\\": \\"\\ud800\\"}"',
    ],
    ids=["deep", "deeper", "NaN", "infinite", "long", "half", "deep-edit", "half-edit", "half-text"],
)
def test_json_that_could_not_be_kept_is_refused_before_anything_reads_it(field: str) -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            body = '{"digest": "' + request["digest"] + '", "decision": "approve", ' + field + "}"
            headers = {**BEARER, **JSON}
            answer = await s.http.post(f"/requests/{request['id']}/answer", content=body, headers=headers)
            assert answer.status_code in (400, 422)
            assert s.bank.paid == []
            assert len((await s.get("/requests")).json()["requests"]) == 1

    asyncio.run(world())


@pytest.mark.parametrize(
    "path", ["/static/../access.py", "/static/%2e%2e/access.py", "/static//etc/passwd", "/static/"]
)
def test_a_path_leads_nowhere_else(path: str) -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            assert (await s.get(path)).status_code in (401, 404)

    asyncio.run(world())


def test_every_answer_carries_the_headers_of_a_page_that_trusts_nobody() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            for response in (await s.get("/me"), await s.http.get("/me"), await s.get("/nix")):
                policy = response.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert response.headers["x-content-type-options"] == "nosniff"
                assert response.headers["referrer-policy"] == "no-referrer"
                assert response.headers["cache-control"] == "no-store"

    asyncio.run(world())


def test_a_browser_gives_its_token_once_and_then_needs_the_right_origin() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s:
            request = await s.asked()
            login = await s.http.post("/login", json={"token": TOKENS["ann"]}, headers={"origin": "http://testserver"})
            assert login.status_code == 200
            cookie = login.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert TOKENS["ann"] not in cookie
            assert (await s.http.get("/me")).json()["name"] == "ann"
            path = f"/requests/{request['id']}/answer"
            assert await refused(s, "POST", path, json=digest_answer(request)) == (403, "NoOrigin")
            right = {"origin": "http://testserver"}
            assert (await s.http.post(path, json=digest_answer(request), headers=right)).status_code == 200
            assert (await s.http.post("/login", json={"token": "nix"}, headers=right)).status_code == 401

    asyncio.run(world())


def test_a_users_file_that_is_not_understood_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    digest = "a" * 64
    for text, wrong in (
        ("", "must hold"),
        ("[[user]]\nname='a'\nrole='root'\ntoken_sha256='" + digest + "'", "role"),
        ("[[user]]\nname='a'\nrole='admin'\ntoken='secret'", "exactly"),
        ("[[user]]\nname='a'\nrole='admin'\ntoken_sha256='secret'", "SHA-256"),
        (f"[[user]]\nname='a'\nrole='admin'\ntoken_sha256='{digest}'\n" * 2, "another"),
        ("x", "cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=wrong) as caught:
            Access.from_file(path)
        assert "secret" not in str(caught.value)
    path.write_text(f"[[user]]\nname='ann'\nrole='viewer'\ntoken_sha256='{digest}'\n")
    assert Access.from_file(path).of_token("x") is None


def test_a_token_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        Access.single("secret")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [
        "digest",
        "decision",
        "edited_input",
        "rule_ids",
        "reason",
        "answers",
        "output",
        "metadata",
        "failed",
        "by",
        "message",
    ]
)
BODIES = st.dictionaries(NAMES, VALUES | st.sampled_from(["approve", "answer", "dismiss", "{}", "default"]), max_size=6)


async def _fuzzed(bodies: list[Any]) -> None:
    async with served(MemoryStore()) as s:
        request = await s.asked()
        before = (await s.get(f"/sessions/{request['session_id']}/log")).json()
        for n, body in enumerate(bodies):
            paths = (
                f"/requests/{request['id']}/answer", f"/sessions/{request['session_id']}/events",
                f"/sessions/{request['session_id']}/mode", "/login",
            )  # fmt: skip
            content = json.dumps(body).encode("utf-8", "surrogatepass") if not isinstance(body, bytes) else body
            headers: dict[str, str] = {**BEARER, **JSON}
            answer: httpx.Response = await s.http.post(paths[n % 4], content=content, headers=headers)
            assert 400 <= answer.status_code < 500, (answer.status_code, paths[n % 4], body)
        assert (await s.get(f"/sessions/{request['session_id']}/log")).json() == before
        assert s.bank.paid == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(BODIES | VALUES | st.binary(max_size=40), min_size=12, max_size=12))
def test_no_body_that_is_not_an_answer_is_an_error_of_ours_or_applied(bodies: list[Any]) -> None:
    asyncio.run(_fuzzed(bodies))


@pytest.mark.slow
def test_ten_thousand_bodies_apply_nothing_and_break_nothing() -> None:
    import random

    chance = random.Random(5)
    words = ["approve", "reject", "dismiss", "answer", "", "null", "{}", "[", "\x00", "é" * 50, "rule-1", "true"]

    def value(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 5)
        if kind == 0:
            return chance.choice([None, True, False, 0, -1, 1e308, 2**63])
        if kind < 5:
            return chance.choice(words)
        if kind < 7:
            return {
                chance.choice([*"abc", "digest", "decision", "answers", "type"]): value(depth - 1) for _ in range(3)
            }
        return [value(depth - 1) for _ in range(3)]

    fields = ("digest", "decision", "edited_input", "rule_ids", "reason", "answers", "output", "type", "reply_id", "x")
    bodies = [{name: value(3) for name in chance.sample(fields, chance.randrange(6))} for _ in range(10_000)]
    asyncio.run(_fuzzed(bodies))

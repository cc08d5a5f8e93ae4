"""Event streams: once, in order, without a gap, whatever the connection does."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from hosting import says, yes
from sayso.client import Client
from sayso.errors import NotWaiting, UnknownCall
from sayso.host import Host
from sayso.request import Answer
from sayso.server import stream
from sayso.server.app import create_app
from sayso.store import MemoryStore
from serving import TOKENS, listening, people, sent, served
from worlds import Bank, call

BEARER = {"Authorization": f"Bearer {TOKENS['ann']}"}
WORDS = [f"word {n}" for n in range(40)]


def talkative() -> Host:
    """A host whose agent calls a harmless tool forty times."""

    async def note(text: str) -> str:
        """Note something.

        Args:
            text: what.
        """
        return f"noted {text}"

    from sayso.tool import FunctionTool

    turns = [[call(f"c{n}", tool="note", text=word)] for n, word in enumerate(WORDS)]
    return Host(MemoryStore(), {"ops": says(*turns, "done", tools=[FunctionTool(note, is_read_only=True)])})


async def whole(http: httpx.AsyncClient, session_id: str, after: int = 0) -> str:
    """The stream up to `caught_up`."""
    text = ""
    async with http.stream("GET", f"/sessions/{session_id}/events?after={after}", headers=BEARER) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        async for chunk in response.aiter_text():
            text += chunk
            if "event: caught_up" in text and text.endswith("\n\n"):
                break
    return text


def test_the_past_is_replayed_then_caught_up_is_said_and_lines_end_with_lf_alone() -> None:
    async def world() -> None:
        host = talkative()
        async with listening(create_app(host, people())) as url, httpx.AsyncClient(base_url=url) as http:
            session_id = await host.submit(None, "go")
            await host.settled()
            text = await whole(http, session_id)
            assert "\r" not in text
            messages = sent(text)
            ids = [int(i) for _, i, _ in messages if i]
            assert ids == sorted(ids)
            kinds = [e["type"] for kind, _, data in messages if kind == "events" for e in data["events"]]
            assert (kinds[0], kinds[-1]) == ("REPLY_START", "REPLY_END")
            assert messages[-1][0] == "caught_up"

    asyncio.run(world())


def test_a_stream_resumed_from_any_id_is_the_rest_of_the_stream() -> None:
    async def world() -> None:
        host = talkative()
        async with listening(create_app(host, people())) as url, httpx.AsyncClient(base_url=url) as http:
            session_id = await host.submit(None, "go")
            await host.settled()

            def key(message: Any) -> Any:
                return message[1], [e["type"] for e in message[2].get("events", ())]

            messages = [key(m) for m in sent(await whole(http, session_id))]
            for n, (last, _) in enumerate(messages[:-1]):
                rest = [key(m) for m in sent(await whole(http, session_id, int(last)))]
                assert rest == messages[n + 1 :]

    asyncio.run(world())


@pytest.mark.slow
def test_a_connection_cut_a_hundred_times_loses_nothing_and_repeats_nothing() -> None:
    async def world() -> None:
        host = talkative()
        async with listening(create_app(host, people())) as url, httpx.AsyncClient(base_url=url) as http:
            session_id = await host.submit(None, "go")
            seen: list[str] = []
            after, cuts, over = 0, 0, False
            while cuts < 100 or not over:
                cuts += 1
                text = ""
                path = f"/sessions/{session_id}/events"
                async with http.stream("GET", path, headers={**BEARER, "Last-Event-ID": str(after)}) as response:
                    async for chunk in response.aiter_text():
                        text += chunk
                        if len(text) > 200 * (1 + cuts % 7) or "caught_up" in text:
                            break  # cut in the middle of whatever comes
                whole_part = text[: text.rfind("\n\n") + 2]
                for _, id, data in sent(whole_part):
                    if id is not None:
                        after = int(id)
                        seen += [e["type"] + e.get("tool_call_id", "") for e in data.get("events", ())]
                        over = over or any(e["type"] == "REPLY_END" for e in data.get("events", ()))
            straight = sent(await whole(http, session_id))
            expected = [
                e["type"] + e.get("tool_call_id", "")
                for kind, _, d in straight
                if kind == "events"
                for e in d["events"]
            ]
            assert seen == expected

    asyncio.run(world())


def test_a_slow_reader_slows_nobody_and_reads_the_log_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    async def world() -> None:
        monkeypatch.setattr(stream, "_BEHIND", 4)
        host = talkative()
        async with host:
            streams = stream.Streams(host)
            session_id = await host.submit(None, "go")
            slow = streams.session(session_id, 0)
            first = await anext(slow)
            await host.settled()  # the agent ends though nobody reads
            messages = sent(first.decode())
            while messages[-1][0] != "caught_up" or not any(
                e["type"] == "REPLY_END" for _, _, d in messages for e in d.get("events", ())
            ):
                messages += sent((await anext(slow)).decode())
            await slow.aclose()
            ids = [int(i) for kind, i, _ in messages if i and kind == "events"]
            assert ids == sorted(set(ids))
            await streams.close()

    asyncio.run(world())


def test_five_hundred_watchers_of_one_session_share_one_reader() -> None:
    async def world() -> None:
        host = talkative()
        async with host:
            streams = stream.Streams(host)
            session_id = await host.submit(None, "go")

            async def watch() -> int:
                count = 0
                source = streams.session(session_id, 0)
                async for data in source:
                    for _, _, body in sent(data.decode()):
                        count += len(body.get("events", ())) if body["seq"] is not None else 0
                        if any(e["type"] == "REPLY_END" for e in body.get("events", ())):
                            await source.aclose()
                            return count
                return count

            counts = await asyncio.gather(*(watch() for _ in range(500)))
            assert len(set(counts)) == 1
            assert len(streams._channels) == 0
            await streams.close()

    asyncio.run(world())


def test_the_client_has_the_verbs_and_the_errors_of_the_host() -> None:
    async def world() -> None:
        async with served(MemoryStore()) as s, Client("http://testserver", TOKENS["ann"], http=s.http) as client:
            session_id = await client.submit(None, "pay")
            await s.host.settled()
            (request,) = await client.pending(session_id=session_id)
            assert (await client.request(request.id)).digest == request.digest
            await client.answer(yes(request))
            await s.host.settled()
            assert s.bank.paid == ["ann:1"]
            with pytest.raises(NotWaiting) as caught:
                await client.answer(Answer(request_id=request.id, digest=request.digest, decision="dismiss"))
            assert (caught.value.how, caught.value.by) == ("approved", "ann")
            with pytest.raises(UnknownCall):
                await client.session("nix")
            (decided,) = await client.history(session_id=session_id)
            assert decided.how == "approved"
            state = await client.session(session_id)
            assert state.context[-1].get_text_content() == "done"

    asyncio.run(world())


def test_the_client_comes_back_after_a_restart_and_misses_nothing() -> None:
    async def world() -> None:
        store, bank = MemoryStore(), Bank()
        agents = {"ops": says([call("c1", to="ann")], "done", tools=[bank.tool()])}
        async with listening(create_app(Host(store, agents), people())) as url:
            client = Client(url, TOKENS["ann"])
            session_id = await client.submit(None, "pay")
            kinds: list[str] = []
            parked, ended = asyncio.Event(), asyncio.Event()

            async def look() -> None:
                async for seen in client.watch(session_id):
                    if seen.seq is None:
                        continue
                    kinds.extend(e.type.value for e in seen.events)
                    if "REQUIRE_USER_CONFIRM" in kinds:
                        parked.set()
                    if "REPLY_END" in kinds:
                        ended.set()

            watching = asyncio.create_task(look())
            await parked.wait()
        port = int(url.rsplit(":", 1)[1])
        async with listening(create_app(Host(store, agents), people()), port):
            (request,) = await client.pending()
            await client.answer(yes(request))
            await ended.wait()
            watching.cancel()
            await asyncio.wait([watching])
            await client.close()
        assert kinds.count("REQUIRE_USER_CONFIRM") == kinds.count("REPLY_START") == kinds.count("REPLY_END") == 1

    asyncio.run(world())


def test_the_stream_of_everything_tells_what_changed_and_what_waits_there() -> None:
    async def world() -> None:
        host = Host(MemoryStore(), {"ops": says([call("c1", to="ann")], "done", tools=[Bank().tool()])})
        async with host:
            streams = stream.Streams(host)
            source = streams.everything()
            assert b"caught_up" in await anext(source)
            following = asyncio.ensure_future(anext(source))
            await asyncio.sleep(0)
            session_id = await host.submit(None, "pay")
            row = json.loads((await following).decode().split("data: ")[1])
            while not row["waiting"]:
                row = json.loads((await anext(source)).decode().split("data: ")[1])
            assert (row["session_id"], row["state"]) == (session_id, "parked")
            await source.aclose()
            await streams.close()

    asyncio.run(world())

"""Event streams: once, in order, without a gap, whatever the connection does."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx
import pytest

from hosting import says
from sayso.errors import StoreError
from sayso.event import TextBlockDeltaEvent
from sayso.host import Host, Seen
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


def test_five_hundred_watchers_of_one_session_share_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, made = stream.encoded, list[int | None]()

    def counted(seen: Seen) -> bytes:
        if seen.events:
            made.append(seen.seq)
        return encoded(seen)

    async def watch(source: AsyncGenerator[bytes, None]) -> list[tuple[int, int]]:
        """The id of each message, and how many events it has."""
        told = list[tuple[int, int]]()
        async for data in source:
            if data.startswith(b"event: events\nid: "):
                told.append((int(data.split(b"\n", 2)[1][4:]), data.count(b'"type"')))
                if b'"REPLY_END"' in data:
                    break
        return told

    async def world() -> None:
        monkeypatch.setattr(stream, "encoded", counted)
        host = talkative()
        async with host:
            streams = stream.Streams(host)
            session_id = await host.submit(None, "go")
            sources = [streams.session(session_id, 0) for _ in range(500)]
            told = await asyncio.gather(*(watch(source) for source in sources))
            await asyncio.gather(*(source.aclose() for source in sources))
            assert len(told[0]) > len(WORDS)
            assert all(one == told[0] for one in told)
            finished = [seq for seq in made if seq is not None]
            assert len(finished) < 2 * len(told[0])  # once each; again where a reader and one that joins met
            assert streams._channels == {}
            await streams.close()

    asyncio.run(world())


def test_a_past_that_is_too_long_to_be_kept_is_read_by_each_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    async def told(streams: stream.Streams, session_id: str, after: int) -> list[tuple[str, str | None]]:
        messages = list[tuple[str, str | None]]()
        async with contextlib.aclosing(streams.session(session_id, after)) as source:
            async for data in source:
                messages += [(kind, id) for kind, id, _ in sent(data.decode())]
                if messages[-1][0] == "caught_up":
                    break
        return messages

    async def world() -> None:
        host = talkative()
        async with host:
            session_id = await host.submit(None, "go")
            await host.settled()
            streams = stream.Streams(host)
            expected = await told(streams, session_id, 0)
            last = int(expected[-1][1] or 0)
            for most in (0, 1_000, 20_000):
                monkeypatch.setattr(stream, "_PAST", most)
                stays = streams.session(session_id, last)
                await anext(stays)
                assert await told(streams, session_id, 0) == expected
                assert await told(streams, session_id, last - 5) == [m for m in expected if int(m[1] or 0) > last - 5]
                assert await told(streams, session_id, 0) == expected
                await stays.aclose()
            await streams.close()

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


def test_a_head_of_a_stream_ends() -> None:
    async def world() -> None:
        async with served(MemoryStore(), "hi") as s:
            begun = (await s.post("/sessions", {"message": "go"})).json()["session_id"]
            for path in (f"/sessions/{begun}/events", "/events"):
                head = await s.http.head(path, headers=BEARER)
                assert (head.status_code, head.headers["cache-control"]) == (200, "no-store")

    asyncio.run(world())


def test_an_id_that_the_log_has_not_reached_hides_nothing_of_what_comes() -> None:
    async def world() -> None:
        host = Host(MemoryStore(), {"ops": says("hi")})
        async with host:
            streams = stream.Streams(host)
            session_id = await host.submit(None, "go")
            await host.settled()
            source = streams.session(session_id, 10_000)
            assert b"caught_up" in await anext(source)
            await host.submit(session_id, "again")
            kinds = list[str]()
            while "REPLY_END" not in kinds:
                for _, _, data in sent((await anext(source)).decode()):
                    kinds += [e["type"] for e in data.get("events", ())]
            await source.aclose()
            await streams.close()

    asyncio.run(world())


class Late(Host):
    """A host whose live stream is late: it tells of a delta long after its block is in the log."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.go = asyncio.Event()

    async def watch(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Seen, None]:
        await self.go.wait()
        yield Seen(session_id, None, (TextBlockDeltaEvent(reply_id="r", block_id="t", delta="late"),))
        async with contextlib.aclosing(super().watch(session_id, after=after)) as watching:
            async for seen in watching:
                yield seen


def test_a_delta_from_before_what_a_watcher_read_in_the_log_is_not_shown_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def world() -> None:
        monkeypatch.setattr(stream, "_PAST", 0)  # each watcher reads for itself, and is ahead of the live stream
        host = Late(MemoryStore(), {"ops": says("hi")})
        async with host:
            streams = stream.Streams(host)
            session_id = await host.submit(None, "go")
            await host.settled()
            early = streams.session(session_id, 0)  # the channel begins here
            while b"caught_up" not in await anext(early):
                pass
            await host.submit(session_id, "more")
            await host.settled()
            source = streams.session(session_id, 0)
            while b"caught_up" not in await anext(source):
                pass
            host.go.set()
            await host.submit(session_id, "and more")
            told = b""
            while b"REPLY_END" not in told:
                told += await anext(source)
            assert b"late" not in told
            await source.aclose()
            await early.aclose()
            await streams.close()

    asyncio.run(world())


class Unreadable:
    """Changes that cannot be read."""

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        raise StoreError("the store cannot be reached")


class Unsure(MemoryStore):
    """A store whose changes cannot be read the first time."""

    asked = False

    def changes(self) -> AsyncIterator[str]:
        if self.asked:
            return super().changes()
        self.asked = True
        return Unreadable()


def test_the_stream_of_everything_ends_where_changes_cannot_be_read_and_the_next_one_tells_them() -> None:
    async def world() -> None:
        host = Host(Unsure(), {"ops": says("hi")})
        async with host:
            streams = stream.Streams(host)
            source = streams.everything()
            assert b"caught_up" in await anext(source)
            with pytest.raises(StoreError, match="cannot be reached"):
                await anext(source)
            source = streams.everything()
            assert b"caught_up" in await anext(source)
            session_id = await host.submit(None, "go")
            assert session_id.encode() in await anext(source)
            await source.aclose()
            await streams.close()

    asyncio.run(world())


def test_what_changes_before_a_reader_of_everything_looks_again_is_told_once_a_session() -> None:
    async def world() -> None:
        host = Host(MemoryStore(), {"ops": says("hi")})
        async with host:
            streams = stream.Streams(host)
            source = streams.everything()
            assert b"caught_up" in await anext(source)
            following = asyncio.ensure_future(anext(source))
            first = await host.submit(None, "go")
            await following
            for _ in range(20):
                await host.submit(first, "again")
                await host.settled()
            last = await host.submit(None, "go")
            await host.settled()
            told = list[str]()
            while last not in told:
                told.append(json.loads((await anext(source)).decode().split("data: ")[1])["session_id"])
            assert told.count(first) <= 2
            await source.aclose()
            await streams.close()

    asyncio.run(world())

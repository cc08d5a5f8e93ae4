"""The client: the verbs and the errors of a host, and a watch that comes back to where it was."""

import asyncio
import contextlib

import pytest

from hosting import says, yes
from sayso.client import Client
from sayso.errors import NotWaiting, UnknownCall
from sayso.event import TextBlockDeltaEvent
from sayso.host import Host
from sayso.request import Answer
from sayso.server.app import create_app
from sayso.store import MemoryStore
from serving import TOKENS, listening, people, served
from worlds import Bank, call


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


def test_text_with_other_line_ends_comes_whole_to_the_client() -> None:
    text = "one\u2028two\u0085three\rfour\u2029five\x1csix"

    async def world() -> None:
        host = Host(MemoryStore(), {"ops": says(text)})
        async with listening(create_app(host, people())) as url, Client(url, TOKENS["ann"]) as client:
            session_id = await client.submit(None, "go")
            await host.settled()
            said = ""
            async with contextlib.aclosing(client.watch(session_id)) as watching:
                async for seen in watching:
                    said += "".join(e.delta for e in seen.events if isinstance(e, TextBlockDeltaEvent))
                    if not seen.events:
                        break
            assert said == text

    asyncio.run(world())

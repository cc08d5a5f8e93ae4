"""A session of this machine as the chat sees it: what others do with it is shown whole, and once."""

import asyncio

from sayso.cli.party import Ended, Here
from sayso.event import RequireUserConfirmEvent, TextBlockDeltaEvent, ToolResultTextDeltaEvent
from sayso.store import MemoryStore
from worlds import Bank, agent_with, answer, call

TURNS = [[call("c1", to="Ann")], "All paid."]


def test_an_answer_acted_on_elsewhere_before_we_looked_is_still_shown_from_the_yes_to_the_last_word() -> None:
    async def world() -> None:
        store, bank = MemoryStore(), Bank()
        here = Here(agent_with(TURNS, [bank.tool()], store=store), store)
        *_, asked = [event async for event in here.reply_stream("pay the bills")]
        assert isinstance(asked, RequireUserConfirmEvent)
        (request,) = here.requests()

        other = agent_with(TURNS[1:], [bank.tool()], store=store, session_id=here.session_id)
        await other.load()
        await other.reply(answer(asked), by="ann", via="web")
        await here.changed()

        assert await here.ended(request.id) == Ended("approved", "ann", "web")
        shown = [event async for event in here.follow()]
        assert [e.delta for e in shown if isinstance(e, ToolResultTextDeltaEvent)] == ["paid 1 to Ann"]
        assert [e.delta for e in shown if isinstance(e, TextBlockDeltaEvent)] == ["All paid."]
        assert [event async for event in here.follow()] == []

    asyncio.run(world())

"""Records the frozen logs: `python tests/logs/record.py tests/logs/vN`. Run once for a version; never over old ones.

Each log is what an agent of that day wrote for one story; beside it lies what its fold was. Every later version must
replay it to the same.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from sayso.agent import Agent
from sayso.event import ConfirmResult, UserConfirmResultEvent, UserInterruptEvent
from sayso.host import Host
from sayso.message import TextBlock, ThinkingBlock, ToolCallBlock
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.request import Answer, Request
from sayso.store import MemoryStore
from sayso.store.base import Store
from sayso.testing import Crash, CrashingStore, ScriptedModel
from sayso.tool import AskUser
from worlds import Bank, Outside, call

Story = Callable[[Store], Awaitable[None]]
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "multi_select": False,
    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
}


def agent(store: Store, *turns: Any, tools: Any = (), **options: Any) -> Agent:
    return Agent("ops", "You pay bills.", ScriptedModel(turns), tools, store=store, session_id="s", **options)


async def answered(store: Store, one: Agent, **fields: Any) -> None:
    """Answer the first open request as a surface does."""
    host = Host(store, {"ops": lambda store, session_id: one})
    request: Request = (await host.pending())[0]
    fields.setdefault("decision", "approve")
    await host.answer(Answer(request_id=request.id, digest=request.digest, **fields), by="ann", via="web")
    await host.settled()


async def words(store: Store) -> None:
    one = agent(store, [ThinkingBlock(thinking="hm"), TextBlock(text="Hello.")], "Bye.")
    await one.reply("hi")
    await one.reply("bye")


async def approved(store: Store) -> None:
    one = agent(store, [call("c1", to="ann", amount=5)], "Paid.", tools=[Bank().tool()])
    await one.reply("pay")
    await answered(store, one)


async def refused(store: Store) -> None:
    one = agent(store, [call("c1", to="ann"), call("c2", to="bob")], "As you wish.", tools=[Bank().tool()])
    await one.reply("pay")
    await answered(store, one, decision="reject", reason="too much")


async def edited(store: Store) -> None:
    one = agent(store, [call("c1", to="ann", amount=5)], "Paid.", tools=[Bank().tool()])
    await one.reply("pay")
    await answered(store, one, edited_input='{"to": "ann", "amount": 4}')


async def ruled(store: Store) -> None:
    calls = [call("c1", to="ann"), call("c2", to="ann")]
    one = agent(store, calls, [call("c3", to="ann")], "Paid.", tools=[Bank().tool()])
    await one.reply("pay")
    await answered(store, one, rule_ids=["rule-1"])
    await one.set_mode("explore", by="ann")
    rule = PermissionRule(tool_name="pay", rule_content=None, behavior=PermissionBehavior.DENY, source="session")
    await one.add_rule(rule, by="ann")
    await one.remove_rule(rule, by="ann")


async def external(store: Store) -> None:
    one = agent(store, [call("c1", tool="deploy", to="prod")], "Deployed.", tools=[Outside()])
    await one.reply("deploy")
    await answered(store, one, decision="answer", output="done", metadata={"build": 7})


async def asked(store: Store) -> None:
    one = agent(store, [call("c1", tool="AskUser", questions=[QUESTION])], "Noted.", tools=[AskUser()])
    await one.reply("go")
    await answered(store, one, decision="answer", answers=[{"question": "Which?", "selected": ["B"]}])


async def unanswered(store: Store) -> None:
    one = agent(store, [call("c1", to="ann")], "Nobody.", tools=[Bank().tool()], expires_after=60)
    await one.reply("pay")
    await answered(store, one, decision="dismiss")


async def stopped(store: Store) -> None:
    one = agent(store, [call("c1", to="ann")], "never", tools=[Bank().tool()])
    await one.reply("pay")
    await one.reply(UserInterruptEvent(reply_id=one.reply_id or ""), by="ann", via="web")


async def queued(store: Store) -> None:
    turns = ([call("c1", to="ann")], "Paid.", "Then this.")
    one = agent(store, *turns, tools=[Bank().tool()], on_message_while_parked="queue")
    await one.reply("pay")
    await one.reply("and then?")
    await answered(store, one)


async def invalid(store: Store) -> None:
    one = agent(store, [call("c1", tool="nix"), call("c2", amount="x")], "Sorry.", tools=[Bank().tool()])
    await one.reply("pay")


async def died(store: Store, **options: Any) -> Agent:
    """The runner dies between the start of the payment and its return; another agent finds that."""
    one = agent(store, [call("c1", to="ann")], "Paid.", tools=[Bank().tool(**options)])
    await one.reply("pay")
    (request,) = one.requests()
    block = ToolCallBlock(id="c1", name="pay", input=request.input, metadata={"digest": request.digest})
    yes = UserConfirmResultEvent(
        reply_id=request.reply_id, confirm_results=[ConfirmResult(confirmed=True, tool_call=block)]
    )
    two = agent(CrashingStore(store, 2), "Paid.", tools=[Bank().tool(**options)])
    with contextlib.suppress(Crash):
        await two.reply(yes, by="ann", via="web")
    three = agent(CrashingStore(store, None), "Paid.", tools=[Bank().tool(**options)])
    await three.reply(None)
    return three


async def doubted(store: Store) -> None:
    """A person says run it again."""
    await answered(store, await died(store))


async def settled(store: Store) -> None:
    """The tool is idempotent, so it runs again unasked."""
    await died(store, idempotent=True)


STORIES: dict[str, Story] = {
    s.__name__: s
    for s in (
        words, approved, refused, edited, ruled, external, asked, unanswered, stopped, queued, invalid, doubted,
        settled,
    )
}  # fmt: skip


async def record(folder: Path) -> None:
    from logs.replaying import summary

    for name, story in STORIES.items():
        path = folder / f"{name}.jsonl"
        if path.exists():
            raise SystemExit(f"{path} is frozen; record a new version beside it")
        store = MemoryStore()
        await story(store)
        entries = await store.read("s")
        lines = [json.dumps({"seq": e.seq, "at": e.at, "fact": e.fact.decode(), "hash": e.hash.hex()}) for e in entries]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        folded = json.dumps(summary(entries), indent=1, ensure_ascii=False)
        path.with_suffix(".fold.json").write_text(folded + "\n", encoding="utf-8")
        print(f"{path}: {len(entries)} entries")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(target))

"""`sayso demo`: an agent that acts, pauses and resumes, in a temporary folder.

Owns the acts, what each of them claims, and that the claim is checked. The model is scripted and says so; the tools,
the pauses, the store and the processes are real.
"""

import asyncio
import contextlib
import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from sayso.cli import Exit
from sayso.cli.demo_process import companion
from sayso.cli.demo_stage import Decision, Left, Stage, Wrong, answered
from sayso.cli.demo_world import FIXED, NAME, agent_in, builder, ledger, make_workspace, store_of
from sayso.cli.screen import brief
from sayso.errors import SaysoError
from sayso.host import Host
from sayso.message import ToolResultState
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.request import Answer, Request
from sayso.store.chain import verify
from sayso.visible import visible

__all__ = ["demo"]

_REASON = "open a pull request instead"
_ACCOUNT = "Operations"


def demo(*, auto: bool) -> int:
    """Run the demo; gives the exit code. auto: it answers by itself, as it does where there is no terminal."""
    attended = sys.stdin.isatty() and sys.stdout.isatty() and not auto
    folder: Path | None = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="sayso-demo-")).resolve()
        make_workspace(folder)
        asyncio.run(_run(folder, attended))
    except (Left, asyncio.CancelledError, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except (Wrong, SaysoError, OSError) as exc:
        print(f"sayso demo: {visible(str(exc))}", file=sys.stderr)
        return Exit.ERROR
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return Exit.DONE


async def _run(folder: Path, attended: bool) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is not None:  # Ctrl-C ends the demo, and what it started, wherever it is
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, task.cancel)
    store = store_of(folder)
    try:
        agent = agent_in(folder, store, "demo-session")
        await agent.load()
        stage = Stage(folder, store, agent, Console(highlight=False), attended)
        stage.say(
            "The model of this demo is SCRIPTED: it says what the demo makes it say. Everything else is real: "
            f"the tools, the pauses, the log in SQLite, the processes. It works in {folder}.",
            "bold",
        )
        for act in (_reading, _editing, _testing, _pushing, _asking, _forbidding, _dying, _looking_back):
            await act(stage)
    finally:
        await store.close()


def _with_rule(request: Request) -> Answer:
    return answered("approve", rule_ids=[request.suggested_rules[0].id])(request)


def _paid(decisions: list[Decision]) -> list[str]:
    """The lines of the ledger that these answers stand for."""
    said = [d.arguments for d in decisions if d.request.tool == "pay" and d.allowed]
    return [f"{each['to']} {each['amount']}" for each in said if each["to"] != "Mallory"]


# -- the acts ----------------------------------------------------------------------------------------


async def _reading(stage: Stage) -> None:
    stage.act("Reading asks nobody", "Grep and Read ran at once: reading inside the folder is harmless.")
    await stage.talk("Why is a discount wrong?")
    for call_id in stage.calls("Grep") + stage.calls("Read"):
        state, text = stage.result(call_id)
        stage.check(state is ToolResultState.SUCCESS, f"reading failed: {text}")


async def _editing(stage: Stage) -> None:
    stage.act("An edit pauses, with its diff", "The file changes only after a yes, to exactly what was shown.")
    shop = stage.folder / "shop.py"
    wanted = before = shop.read_text("utf-8")

    def unchanged_and_yes(request: Request) -> Answer:
        stage.check(shop.read_text("utf-8") == before, "shop.py changed before the yes")
        return answered("approve")(request)

    for said in await stage.talk("Fix it.", unchanged_and_yes):
        new = said.arguments
        done = stage.result(said.request.call_id)[0] is ToolResultState.SUCCESS
        if done and Path(new["file_path"]) == shop:
            wanted = wanted.replace(new["old_string"], new["new_string"], -1 if new.get("replace_all") else 1)
        stage.check(said.allowed or not done, "an edit was made that was refused")
    stage.check(shop.read_text("utf-8") == wanted, "shop.py is not what was decided")
    stage.check(stage.attended or FIXED in wanted, "the edit that was allowed was not made")


async def _testing(stage: Stage) -> None:
    stage.act("A rule, offered with what it covers", "Answered with a rule, the second run asks nobody.")
    said = await stage.talk("Run the test, twice.", _with_rule)
    first, second = stage.calls("Bash")
    asked = [each.request.call_id for each in said]
    accepted = any(each.as_answer().rule_ids for each in said if each.request.call_id == first)
    stage.check(accepted or stage.attended, "no rule was accepted")
    stage.check(second not in asked or not accepted, "the second run asked, though a rule was accepted")
    if second not in asked:
        why = await stage.why(second)
        stage.check("allow rule Bash(" in why, f"the second run was let through by: {why}")
        stage.say(f"The second run asked nobody: {why}.", "bold")
    for call_id in () if stage.attended else (first, second):
        state, text = stage.result(call_id)
        stage.check(state is ToolResultState.SUCCESS and "OK" in text, f"the test did not pass: {text}")


async def _pushing(stage: Stage) -> None:
    stage.act("A refusal, with a reason", "The agent reads why, as the result of its call.")
    for said in await stage.talk("Push it to main.", answered("reject", reason=_REASON)):
        state, text = stage.result(said.request.call_id)
        stage.check(said.allowed or state is ToolResultState.DENIED, "what was refused ran")
        stage.check(said.reason in text, f"the reason did not reach the agent; it reads: {text}")


async def _asking(stage: Stage) -> None:
    stage.act("A question of the agent's own", "AskUser is answered like any other request.")
    answers = [{"question": "Which account shall I pay the invoice from?", "selected": [_ACCOUNT]}]
    (said,) = await stage.talk("There is an invoice to pay.", answered("answer", answers=answers))
    _, text = stage.result(said.request.call_id)
    stage.check(stage.attended or _ACCOUNT in text, f"the agent reads another answer: {text}")


async def _forbidding(stage: Stage) -> None:
    stage.act(
        "A deny rule beats a yes", "The yes is written down, then a rule comes: a yes is evidence, not a verdict."
    )
    rule = PermissionRule(
        tool_name="pay", rule_content='{"to": "Mallory"}', behavior=PermissionBehavior.DENY, source="session"
    )

    async def forbid() -> None:
        await stage.agent.add_rule(rule, by="the accountant")
        stage.say("Before the agent goes on, the accountant adds a rule: deny pay to Mallory.", "yellow")

    for said in await stage.talk("Mallory wants 900.", answered("approve"), before_it_counts=forbid):
        if said.allowed and said.arguments["to"] == "Mallory":
            state, text = stage.result(said.request.call_id)
            stage.check(state is ToolResultState.DENIED and "deny rule" in text, f"the rule did not count: {text}")
    paid, due = ledger(stage.folder), _paid(stage.decided)
    stage.check(paid == due, f"the ledger says {paid}; what may be paid is {due}")


async def _dying(stage: Stage) -> None:
    stage.act(
        "The process that asked is killed; two others answer at once",
        "The request is in the log, not in a process; of two answers one counts, and the money goes out once.",
    )
    stage.say("you › Pay Acme its 120.", "cyan")
    async with companion("ask", stage.folder, stage.agent.session_id, "Pay Acme its 120.") as asking:
        stage.check((await asking.says())["waiting"] == 1, "the other process did not stop to ask")
        code = await asking.kill()
    stage.say(f"Process {asking.pid} asked, and was killed with SIGKILL (exit code {code}).", "yellow")
    await stage.agent.load()
    (request,) = stage.agent.requests()
    said = await stage.decision(request, answered("approve"))
    taken = await _answered_twice(stage, said.as_answer())
    stage.check(taken == 1, f"{taken} answers were taken")
    stage.decided.append(said)
    paid, due = ledger(stage.folder), _paid(stage.decided)
    stage.check(paid == due, f"the ledger says {paid}; what was approved is {due}")
    stage.say(f"The ledger: {', '.join(paid) or 'empty'}.", "bold")
    await stage.agent.load()


async def _answered_twice(stage: Stage, answer: Answer) -> int:
    """Let two processes give an answer at the same moment; how often it was taken."""
    taken = 0
    async with contextlib.AsyncExitStack() as stack:
        stage.screen.busy("two processes give the answer at the same moment")
        two = [
            await stack.enter_async_context(companion("answer", stage.folder, answer.model_dump_json(), by))
            for by in ("ann", "bob")
        ]
        for each in two:
            await each.says()
        for each in two:
            each.go()
        for each in two:
            told = await each.says()
            how = "its answer was taken" if told["taken"] else f"it was told: {told['why']}"
            stage.say(f"Process {each.pid}: {how}.", "green" if told["taken"] else "yellow")
            taken += bool(told["taken"])
    return taken


async def _looking_back(stage: Stage) -> None:
    stage.act("Who decided what", "The log is a hash chain: what was changed in it would be found.")
    history = await Host(stage.store, {NAME: builder(stage.folder)}).history(limit=100)
    stage.check(len(history) == len(stage.decided), f"{len(history)} of {len(stage.decided)} decisions are in the log")
    for decided in reversed(history):
        what = f"{decided.request.tool} {brief(decided.request.input, 34)}"
        how = f"{decided.how} by {decided.by}" if decided.by else decided.how
        stage.say(f"  {what:46} {how}, then {stage.result(decided.request.call_id)[0].value}")
    entries = await stage.store.read(stage.agent.session_id)
    stage.check(verify(entries) is None, "the hash chain is broken")
    middle = len(entries) // 2
    forged = [*entries]
    forged[middle] = forged[middle]._replace(fact=forged[middle].fact.replace(b'"', b"'", 1))
    stage.check(verify(forged) == middle, "a changed entry was not found")
    stage.say(
        f"{len(entries)} entries, chain intact; in a copy with one byte changed, entry {middle} is found.", "bold"
    )
    _next(stage)


def _next(stage: Stage) -> None:
    started = sys.argv[0]
    program = shlex.quote(started) if Path(started).name == "sayso" and shutil.which("sayso") is None else "sayso"
    stage.console.print()
    stage.say(f"Next: {program} chat -m openai:gpt-5 does this in your own folder (other models: docs/models.md).")
    stage.say("      docs/quickstart.md does it in Python.")
    stage.say("      docs/rules.md says what runs without asking.")

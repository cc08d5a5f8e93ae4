"""`sayso demo`: an agent that acts, pauses and resumes, in a temporary folder. Narrates, answers where nobody can, and
checks that what it says is what happened.

The model is scripted and says so; the tools, the pauses, the store and the processes are real.
"""

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from sayso.agent import Agent
from sayso.agent.agent import Inputs
from sayso.cli import Exit
from sayso.cli.answer import Dialogue
from sayso.cli.card import card
from sayso.cli.demo_world import FIXED, NAME, agent_in, builder, ledger, make_workspace, store_of
from sayso.cli.driver import Driver
from sayso.cli.keyboard import Keyboard
from sayso.cli.party import Here
from sayso.cli.screen import Screen
from sayso.errors import SaysoError
from sayso.event import UserConfirmResultEvent
from sayso.host import Host
from sayso.host.reply_to import as_event
from sayso.message import ToolResultBlock
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.request import Answer, Request
from sayso.store.base import Store
from sayso.store.chain import verify
from sayso.visible import visible

__all__ = ["demo"]

_WAIT = 60.0  # seconds for another process of the demo; it needs about one


class _Wrong(Exception):
    """What happened is not what the demo says; it must not end as if it were."""


class _Left(Exception):
    """The person stopped the demo at a question."""


def demo(*, auto: bool) -> int:
    """Run the demo; gives the exit code. auto: it answers by itself, as it does where there is no terminal."""
    attended = sys.stdin.isatty() and sys.stdout.isatty() and not auto
    folder = Path(tempfile.mkdtemp(prefix="sayso-demo-")).resolve()
    try:
        make_workspace(folder)
        asyncio.run(_run(folder, attended))
    except _Left:
        return Exit.INTERRUPTED
    except (_Wrong, SaysoError) as exc:
        print(f"sayso demo: {visible(str(exc))}", file=sys.stderr)
        return Exit.ERROR
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Exit.DONE


async def _run(folder: Path, attended: bool) -> None:
    store = store_of(folder)
    console = Console(highlight=False)
    try:
        agent = agent_in(folder, store, "demo-session")
        await agent.load()
        stage = _Stage(folder, store, agent, Driver(Here(agent, store), Screen(console, console)), console, attended)
        with stage.driver.interruptible():
            await stage.play()
    finally:
        await store.close()


def _auto(decision: str, **fields: object) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        return Answer.model_validate(
            {"request_id": request.id, "digest": request.digest, "decision": decision, **fields}
        )

    return answer


def _with_rule(request: Request) -> Answer:
    return _auto("approve", rule_ids=[request.suggested_rules[0].id])(request)


@dataclass
class _Stage:
    """The demo under way."""

    folder: Path
    store: Store
    agent: Agent
    driver: Driver
    console: Console
    attended: bool
    acts: int = 0
    keyboard: Keyboard = field(init=False)
    dialogue: Dialogue = field(init=False)

    def __post_init__(self) -> None:
        self.keyboard = Keyboard(sys.stdin.fileno() if self.attended else -1)
        self.dialogue = Dialogue(self.driver.screen, self.keyboard)

    async def play(self) -> None:
        self._say(
            "The model of this demo is SCRIPTED: it says what the demo makes it say. Everything else is real: "
            f"the tools, the pauses, the log in SQLite, the processes. It works in {self.folder}.",
            "bold",
        )
        await self._reading()
        await self._editing()
        await self._testing()
        await self._pushing()
        await self._asking()
        await self._forbidding()
        await self._dying()
        await self._looking_back()

    # -- the acts --------------------------------------------------------------------------------------

    async def _reading(self) -> None:
        self._act("Reading asks nobody", "Grep and Read ran at once: reading inside the folder is harmless.")
        await self._talk("Why is a discount wrong?")
        self._check(not self.agent.requests(), "reading asked a person")

    async def _editing(self) -> None:
        self._act("An edit pauses, with its diff", "The file changes only after a yes, to exactly what was shown.")
        before = (self.folder / "shop.py").read_text("utf-8")
        yes = await self._talk("Fix it.", _auto("approve"))
        after = (self.folder / "shop.py").read_text("utf-8")
        self._check((FIXED in after) if yes else (after == before), "shop.py is not what was decided")

    async def _testing(self) -> None:
        self._act(
            "A rule, offered with what it covers", "Answered with a rule, the second command runs without a question."
        )
        await self._talk("Run the test, twice.", _with_rule)
        if not self.attended:
            rules = self.agent.state.permission_context.allow_rules.get("Bash", [])
            self._check(len(rules) == 1, "the rule was not kept")
            self._check(self._results()[-2:] == ["success", "success"], "the tests did not pass")

    async def _pushing(self) -> None:
        self._act("A refusal, with a reason", "The agent reads why, as the result of its call.")
        await self._talk("Push it to main.", _auto("reject", reason="open a pull request instead"))
        if not self.attended:
            self._check("pull request" in self._last_result(), "the reason did not reach the agent")

    async def _asking(self) -> None:
        self._act("A question of the agent's own", "AskUser is answered like any other request.")
        answers = [{"question": "Which account shall I pay the invoice from?", "selected": ["Operations"]}]
        await self._talk("There is an invoice to pay.", _auto("answer", answers=answers))

    async def _forbidding(self) -> None:
        self._act("A deny rule beats a yes", "The rule comes while the question waits; the yes is judged under it.")
        rule = PermissionRule(
            tool_name="pay", rule_content='{"to": "Mallory"}', behavior=PermissionBehavior.DENY, source="session"
        )

        async def forbid() -> None:
            await self.agent.add_rule(rule, by="the accountant")
            self._say("Meanwhile the accountant adds a rule: deny pay to Mallory.", "yellow")

        await self._talk("Mallory wants 900.", _auto("approve"), meanwhile=forbid)
        self._check(not ledger(self.folder), "Mallory was paid against a deny rule")

    async def _dying(self) -> None:
        self._act(
            "The process that asked is killed; two others answer at once",
            "The request is in the log, not in a process; of two answers one counts, and the money goes out once.",
        )
        request = await self._parked_by_another_process("Pay Acme its 120.")
        answer = await self._decision(request, _auto("approve"))
        if answer is None:
            return
        said = await self._answered_twice(answer)
        taken = [each for each in said if each["taken"]]
        for each in said:
            how = "its answer was taken" if each["taken"] else f"it was told: {each['why']}"
            self._say(f"Process {each['pid']}: {how}.", "green" if each["taken"] else "yellow")
        self._check(len(taken) == 1, f"{len(taken)} answers were taken")
        paid = ledger(self.folder)
        self._check(paid == (["Acme 120"] if answer.decision == "approve" else []), f"the ledger says {paid}")
        self._say(f"The ledger: {', '.join(paid) or 'empty'}.", "bold")
        await self.agent.load()

    async def _looking_back(self) -> None:
        self._act("Who decided what", "The log is a hash chain: what was changed in it would be found.")
        host = Host(self.store, {NAME: builder(self.folder)})
        for decided in reversed(await host.history(limit=20)):
            who = " ".join(x for x in (decided.how, f"by {decided.by}" if decided.by else "") if x)
            self._say(f"  {decided.request.tool:8} {who}")
        entries = await self.store.read(self.agent.session_id)
        self._check(verify(entries) is None, "the hash chain is broken")
        self._say(f"{len(entries)} entries, chain intact.", "bold")
        self.console.print()
        self._say("Next: sayso chat -m PROVIDER:NAME works like this in your own folder (sayso chat --help).")
        self._say("      docs/quickstart.md has the same in twenty lines of Python; docs/rules.md the rules.")

    # -- one conversation -------------------------------------------------------------------------------

    async def _talk(
        self,
        message: str,
        answer: Callable[[Request], Answer] | None = None,
        *,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
    ) -> bool:
        """Say something to the agent and answer what it asks; whether everything was allowed."""
        self._say(f"you › {message}", "cyan")
        await self._drive(message)
        allowed = True
        while requests := self.agent.requests():
            if meanwhile is not None:
                await meanwhile()
                meanwhile = None
            if answer is None:
                raise _Wrong(f"{requests[0].tool} asks where nothing should ask: {requests[0].why}")
            event, yes = await self._said(requests[0], answer)
            allowed = allowed and yes
            await self._drive(event)
        self.driver.screen.calm()
        return allowed

    async def _drive(self, inputs: Inputs) -> None:
        with self.keyboard.unattended() if self.attended else contextlib.nullcontext():
            await self.driver.drive(inputs)

    async def _said(self, request: Request, answer: Callable[[Request], Answer]) -> tuple[Inputs, bool]:
        if not self.attended:
            given = answer(request)
            self._shown(request, given)
            return as_event(request, given), given.decision == "approve"
        event = await self.dialogue.answer(request)
        while event is None:
            self._say("The demo has nobody else to leave it to. Ctrl-C stops it.", "yellow")
            event = await self.dialogue.answer(request)
        if event.type == "USER_INTERRUPT":
            raise _Left
        yes = isinstance(event, UserConfirmResultEvent) and event.confirm_results[0].confirmed
        return event, yes

    async def _decision(self, request: Request, answer: Callable[[Request], Answer]) -> Answer | None:
        """The same as an answer that another process can carry; None where it was left for later."""
        if not self.attended:
            given = answer(request)
            self._shown(request, given)
            return given
        event = await self.dialogue.answer(request)
        if event is None:
            return None
        if not isinstance(event, UserConfirmResultEvent):
            raise _Left
        (said,) = event.confirm_results
        edited = said.tool_call.input if said.tool_call.input != request.input else None
        decision = "approve" if said.confirmed else "reject"
        return _auto(decision, edited_input=edited, reason=said.reason)(request)

    def _shown(self, request: Request, given: Answer) -> None:
        self.driver.screen.calm()
        self.console.print()
        self.console.print(card(request, self.console.width).body, highlight=False)
        what = {"approve": "allowed", "reject": f"refused: {given.reason}", "answer": "answered"}[given.decision]
        if given.rule_ids:
            what += f", and from now on: {request.suggested_rules[0].matches}"
        self._say(f"→ (auto) {what}", "green" if given.decision != "reject" else "yellow")

    # -- other processes --------------------------------------------------------------------------------

    async def _parked_by_another_process(self, message: str) -> Request:
        self._say(f"you › {message}", "cyan")
        child = await self._process("ask", self.agent.session_id, message)
        try:
            line = await asyncio.wait_for(_line_of(child), _WAIT)
            self._check(bool(line.get("parked")), "the other process did not park")
        finally:
            child.kill()
            await child.wait()
        self._say(f"Process {child.pid} asked, and was killed with SIGKILL (exit code {child.returncode}).", "yellow")
        await self.agent.load()
        (request,) = self.agent.requests()
        return request

    async def _answered_twice(self, answer: Answer) -> list[dict[str, object]]:
        at = str(time.time() + 3)  # both are up by then, and neither is late
        children = [await self._process("answer", answer.model_dump_json(), who, at) for who in ("ann", "bob")]
        self.driver.screen.busy("two processes give the answer at the same moment")
        try:
            return [await asyncio.wait_for(_line_of(child), _WAIT) for child in children]
        finally:
            self.driver.screen.calm()
            for child in children:
                await _end(child)

    async def _process(self, what: str, *rest: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "sayso.cli.demo_world",
            what,
            str(self.folder),
            *rest,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    # -- words and facts ---------------------------------------------------------------------------------

    def _act(self, title: str, notice: str) -> None:
        self.acts += 1
        self.driver.screen.calm()
        self.console.print()
        self.console.print(Rule(Text(f"{self.acts}. {title}", style="bold"), align="left"))
        self._say(notice, "dim")

    def _say(self, text: str, style: str = "") -> None:
        self.driver.screen.calm()
        self.console.print(Text(visible(text), style=style), highlight=False)

    def _check(self, holds: bool, wrong: str) -> None:
        if not holds:
            raise _Wrong(f"this should not have happened: {wrong}")

    def _blocks(self) -> list[ToolResultBlock]:
        return [b for m in self.agent.state.context for b in m.content if isinstance(b, ToolResultBlock)]

    def _results(self) -> list[str]:
        return [block.state.value for block in self._blocks()]

    def _last_result(self) -> str:
        return self._blocks()[-1].text()


async def _line_of(child: asyncio.subprocess.Process) -> dict[str, object]:
    line = await child.stdout.readline() if child.stdout is not None else b""
    if not line:
        raise _Wrong(f"a process of the demo ended with exit code {await child.wait()} and said nothing")
    said: dict[str, object] = json.loads(line)
    return said


async def _end(child: asyncio.subprocess.Process) -> None:
    """Let a process end; one that does not is killed."""
    try:
        await asyncio.wait_for(child.wait(), 10)
    except TimeoutError:
        child.kill()
        await child.wait()

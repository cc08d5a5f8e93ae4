"""Where `sayso demo` plays: a conversation whose pauses a person answers, or, where there is none, the demo itself.

Owns what is printed, who answers, and that a fact which is not as told ends the demo. Knows no act.
"""

import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from sayso.agent import Agent
from sayso.agent.agent import Inputs
from sayso.cli.answer import Dialogue
from sayso.cli.card import card
from sayso.cli.driver import Driver
from sayso.cli.keyboard import Keyboard
from sayso.cli.party import Here
from sayso.cli.screen import Screen
from sayso.errors import Refused
from sayso.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    ReplyFinishedReason,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from sayso.host.reply_to import as_event
from sayso.message import ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.reply.codec import decode
from sayso.reply.fact import CallJudged
from sayso.request import Answer, Request
from sayso.store.base import Store
from sayso.tool.toolkit import InvalidInput
from sayso.visible import visible

__all__ = ["Decision", "Left", "Stage", "Wrong", "answered"]

Said = UserConfirmResultEvent | ExternalExecutionResultEvent
_DECIDED = {"approve": "allowed", "reject": "refused", "answer": "answered"}


class Wrong(Exception):
    """What happened is not what the demo says; it must not end as if it were."""


class Left(Exception):
    """The person stopped the demo at a question."""


def answered(decision: str, **fields: object) -> Callable[[Request], Answer]:
    """What the demo itself answers; the fields are those of `Answer`."""

    def answer(request: Request) -> Answer:
        return Answer.model_validate(
            {"request_id": request.id, "digest": request.digest, "decision": decision, **fields}
        )

    return answer


@dataclass(frozen=True)
class Decision:
    """What was said to a request."""

    request: Request
    event: Said

    @property
    def _confirm(self) -> ConfirmResult | None:
        return self.event.confirm_results[0] if isinstance(self.event, UserConfirmResultEvent) else None

    @property
    def allowed(self) -> bool:
        """Whether it was a yes."""
        return self._confirm is not None and self._confirm.confirmed

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments it was about, as the person may have edited them."""
        text = self.request.input if self._confirm is None else self._confirm.tool_call.input
        arguments: dict[str, Any] = json.loads(text)
        return arguments

    @property
    def reason(self) -> str:
        """Why not, if that was said."""
        return (self._confirm.reason or "") if self._confirm is not None else ""

    def as_answer(self) -> Answer:
        """The same for another process to carry; of a confirmation only."""
        if self._confirm is None:
            raise TypeError("only the answer to a confirmation is carried elsewhere")
        said, request = self._confirm, self.request
        edited = said.tool_call.input if said.tool_call.input != request.input else None
        rules = [offer.id for offer in request.suggested_rules if offer.rule in (said.rules or [])]
        decision = "approve" if said.confirmed else "reject"
        return answered(decision, edited_input=edited, rule_ids=rules, reason=said.reason)(request)


@dataclass
class Stage:
    """The agent of a demo in `folder` and the terminal it is shown at. attended: a person answers.

    decided: everything that was said to a request so far.
    """

    folder: Path
    store: Store
    agent: Agent
    console: Console
    attended: bool
    acts: int = 0
    decided: list[Decision] = field(default_factory=list)
    screen: Screen = field(init=False)
    _driver: Driver = field(init=False)
    _keyboard: Keyboard = field(init=False)
    _dialogue: Dialogue = field(init=False)

    def __post_init__(self) -> None:
        self.screen = Screen(self.console, self.console)
        self._driver = Driver(Here(self.agent, self.store), self.screen)
        self._keyboard = Keyboard(sys.stdin.fileno() if self.attended else -1)
        self._dialogue = Dialogue(self.screen, self._keyboard, self._unusable)

    def _unusable(self, tool_name: str, text: str) -> str | None:
        """Why edited arguments cannot be used."""
        tool = self.agent.toolkit.get(tool_name)
        try:
            if tool is not None:
                self.agent.toolkit.parse(tool, text)
        except InvalidInput as exc:
            return str(exc)
        return None

    # -- the conversation ------------------------------------------------------------------------------

    async def talk(
        self,
        message: str,
        answer: Callable[[Request], Answer] | None = None,
        *,
        before_it_counts: Callable[[], Awaitable[None]] | None = None,
    ) -> list[Decision]:
        """Say something to the agent and answer what it asks; what was said to each request.

        answer: what the demo says where no person does; None where nothing may be asked. before_it_counts: is called
        when the first answer is on disk and the agent has not gone on yet.
        """
        self.say(f"you › {message}", "cyan")
        await self._drive(message)
        said: list[Decision] = []
        while requests := self.agent.requests():
            if answer is None:
                raise Wrong(f"{requests[0].tool} asks where nothing should ask: {requests[0].why}")
            decision = await self.decision(requests[0], answer)
            try:
                if before_it_counts is not None:
                    await self._write(decision.event)
                    self.decided.append(decision)
                    await before_it_counts()
                    before_it_counts = None
                    await self._drive(None)
                else:
                    await self._drive(decision.event)
                    self.decided.append(decision)
            except Refused as exc:
                if not self.attended:
                    raise
                self.screen.fault(f"That answer was not taken: {exc}")
                continue
            said.append(decision)
        self.screen.calm()
        return said

    async def _write(self, event: Said) -> None:
        """Put an answer on disk, and nothing more."""
        await (await self.agent.accept(event, by=self._driver.by, via="terminal", drive=False))

    async def _drive(self, inputs: Inputs) -> None:
        with self._keyboard.unattended() if self.attended else contextlib.nullcontext():
            await self._driver.drive(inputs)
        ended = self._driver.ended
        if ended is not None and ended.finished_reason is not ReplyFinishedReason.COMPLETED:
            raise Wrong(f"a reply ended as {ended.finished_reason.value}")

    async def decision(self, request: Request, answer: Callable[[Request], Answer]) -> Decision:
        """What the person says to a request, or, without one, the demo. Raises Left on Ctrl-C."""
        if not self.attended:
            given = answer(request)
            self._shown(request, given)
            event = as_event(request, given)
            if event is None:
                raise TypeError("the demo dismisses nothing")
            return Decision(request, event)
        said = await self._dialogue.answer(request)
        while said is None:
            self.say("The demo has nobody else to leave it to. Ctrl-C stops it.", "yellow")
            said = await self._dialogue.answer(request)
        if isinstance(said, UserInterruptEvent):
            raise Left
        return Decision(request, said)

    def _shown(self, request: Request, given: Answer) -> None:
        self.screen.calm()
        self.console.print()
        self.console.print(card(request, self.console.width).body, highlight=False)
        what = _DECIDED[given.decision] + (f": {given.reason}" if given.reason else "")
        offered = {offer.id: offer.matches for offer in request.suggested_rules}
        what += "".join(f", and from now on: {offered[rule_id]}" for rule_id in given.rule_ids)
        self.say(f"→ (auto) {what}", "yellow" if given.decision == "reject" else "green")

    # -- what happened ---------------------------------------------------------------------------------

    def calls(self, tool: str) -> list[str]:
        """The ids of the agent's calls of a tool, in order."""
        blocks = [block for message in self.agent.state.context for block in message.content]
        return [block.id for block in blocks if isinstance(block, ToolCallBlock) and block.name == tool]

    def result(self, call_id: str) -> tuple[ToolResultState, str]:
        """How a call ended, and what the agent reads of it."""
        for message in self.agent.state.context:
            for block in message.content:
                if isinstance(block, ToolResultBlock) and block.id == call_id:
                    return block.state, block.text()
        raise Wrong(f"call {call_id} has no result")

    async def why(self, call_id: str) -> str:
        """The rule or check that decided a call last."""
        facts = [decode(entry.fact) for entry in await self.store.read(self.agent.session_id)]
        judged = [fact.reason for fact in facts if isinstance(fact, CallJudged) and fact.call_id == call_id]
        self.check(bool(judged), f"call {call_id} ran without being judged")
        return judged[-1]

    def check(self, holds: bool, wrong: str) -> None:
        """End the demo unless it holds."""
        if not holds:
            raise Wrong(f"this should not have happened: {wrong}")

    # -- words -----------------------------------------------------------------------------------------

    def act(self, title: str, notice: str) -> None:
        """Begin an act. notice: what to look at, in one sentence."""
        self.acts += 1
        self.screen.calm()
        self.console.print()
        self.console.print(Rule(Text(f"{self.acts}. {title}", style="bold"), align="left"))
        self.say(notice, "dim")

    def say(self, text: str, style: str = "") -> None:
        """Print a line of the demo's own."""
        self.screen.calm()
        self.console.print(Text(visible(text), style=style), highlight=False)

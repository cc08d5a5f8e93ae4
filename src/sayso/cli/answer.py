"""One request, put to a person, becomes the input that answers it.

Owns the choices at a pause and what each of them sends. Shows the request before any choice; knows no agent.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.text import Text

from sayso.cli.card import Shown, card, pretty, rule_text, whole
from sayso.cli.form import Answer, Form, Question, questions_of, words_of
from sayso.cli.keyboard import Keyboard
from sayso.cli.prompt import Back, Interrupted, Option, arguments, key, line, pager, paragraph
from sayso.cli.screen import Screen
from sayso.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from sayso.message import TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.permission.rule import PermissionRule
from sayso.request import Request
from sayso.visible import visible

__all__ = ["Dialogue", "Said"]

Said = UserConfirmResultEvent | ExternalExecutionResultEvent | UserInterruptEvent | None
"""An answer, or the wish to stop the reply; None leaves the request for later."""

_RULES = 9  # as many as there are digits; the narrowest come first


@dataclass
class Dialogue:
    """Puts requests to the person at `keyboard`.

    check(tool, arguments): why edited arguments cannot be used, or None. metadata_schema(tool): what the metadata of
    an external tool's result must fit, or None. What was written and not sent is kept per request.
    """

    screen: Screen
    keyboard: Keyboard
    check: Callable[[str, str], str | None] = lambda tool, text: None
    metadata_schema: Callable[[str], object | None] = lambda tool: None
    _drafts: dict[tuple[str, str], str] = field(default_factory=dict)
    _forms: dict[str, Form] = field(default_factory=dict)

    async def answer(self, request: Request, *, more: int = 0) -> Said:
        """What the person says to it. more: how many other requests wait behind this one."""
        self.screen.calm()
        try:
            if request.kind == "ask":
                return await self._ask(request)
            shown = card(request, self.screen.side.width)
            self.screen.side.print()
            self.screen.side.print(shown.body, highlight=False)
            if more:
                self.screen.note(f"{more} more waiting after this one")
            return await (self._confirm(request, shown) if request.kind == "confirm" else self._outside(request, shown))
        except Interrupted:
            return UserInterruptEvent(reply_id=request.reply_id)

    # -- yes, no, and in between -----------------------------------------------------------------------

    async def _confirm(self, request: Request, shown: Shown) -> Said:
        options = [Option("y", "run it again" if request.in_doubt else "allow once")]
        if request.suggested_rules:
            options.append(Option("r", "allow with a rule…"))
        options += [Option("e", "edit"), Option("n", "leave it as it is" if request.in_doubt else "refuse")]
        if request.in_doubt:
            options.append(Option("d", "it did happen"))
        options.append(Option("l", "later"))
        armed = False
        while True:
            pressed = await self._key(options, request, shown, armed=armed)
            armed = True
            try:
                match pressed:
                    case "y":
                        return self._yes(request)
                    case "r":
                        rule = await self._rule(request)
                        return self._yes(request, rule=rule)
                    case "e":
                        return self._yes(request, edited=await self._edit(request))
                    case "n":
                        return self._no(request, await self._reason(request))
                    case "d":
                        return await self._result(request)
                    case _:
                        return self._later()
            except Back as back:
                self._drafts[request.id, pressed] = back.text

    async def _key(self, options: list[Option], request: Request, shown: Shown, *, armed: bool) -> str:
        """The key pressed; the whole preview is looked at in between."""
        if shown.rest:
            options = [*options, Option("v", "view everything")]
        while (pressed := await key(options, self.keyboard, armed=armed)) == "v":
            await pager(whole(request))
            armed = True
        return pressed

    async def _rule(self, request: Request) -> PermissionRule:
        offered = request.suggested_rules[:_RULES]
        picks = [Option(str(i), visible(o.matches)) for i, o in enumerate(offered, 1)]
        picker = [*picks, Option("b", "back")]
        pressed = await key(picker, self.keyboard, armed=True, title="Allow this, and from now on without asking:")
        if pressed == "b":
            raise Back
        return offered[int(pressed) - 1].rule

    async def _edit(self, request: Request) -> str:
        draft = self._drafts.get((request.id, "e")) or pretty(request.input)
        return await arguments(draft, check=lambda text: self.check(request.tool, text))

    async def _reason(self, request: Request) -> str:
        return await line("Why not? (the agent reads it; Enter for no reason) ", default=self._draft(request, "n"))

    def _draft(self, request: Request, what: str) -> str:
        return self._drafts.get((request.id, what), "")

    def _yes(self, request: Request, *, rule: PermissionRule | None = None, edited: str | None = None) -> Said:
        if edited is not None:
            self._drafts[request.id, "e"] = edited
            self.screen.know(request.call_id, request.tool, edited)
        changed = edited is not None and json.loads(edited) != json.loads(request.input)
        self.screen.tally.allowed += 1
        after = f" and from now on: {rule_text(rule)}" if rule else ", with your arguments" if changed else " once"
        self._outcome(f"→ allowed{after}", "green")
        return _confirmation(request, True, rules=[rule] if rule else None, edited=edited)

    def _no(self, request: Request, reason: str) -> Said:
        self.screen.tally.refused += 1
        self._outcome(f"→ refused{': ' + reason if reason else ''}", "yellow")
        return _confirmation(request, False, reason=reason or None)

    def _later(self) -> Said:
        self._outcome("→ left for later", "yellow")
        return None

    def _outcome(self, text: str, style: str) -> None:
        self.screen.side.print(Text(visible(text), style=style), highlight=False)

    # -- results from outside --------------------------------------------------------------------------

    async def _outside(self, request: Request, shown: Shown) -> Said:
        options = [
            Option("p", "provide its result"),
            Option("f", "it failed"),
            Option("n", "refuse"),
            Option("l", "later"),
        ]
        armed = False
        while True:
            pressed = await self._key(options, request, shown, armed=armed)
            armed = True
            try:
                match pressed:
                    case "p":
                        return await self._result(request)
                    case "f":
                        text = await line("What went wrong? ", default=self._draft(request, "f"))
                        return self._returned(request, text or "It failed.", ToolResultState.ERROR)
                    case "n":
                        return self._declined(request, await self._reason(request))
                    case _:
                        return self._later()
            except Back as back:
                self._drafts[request.id, pressed] = back.text

    async def _result(self, request: Request) -> Said:
        text = await paragraph("What came of it?", default=self._draft(request, "p"))
        metadata = "{}"
        if self.metadata_schema(request.tool) is not None:
            self._drafts[request.id, "p"] = text
            metadata = await arguments(self._draft(request, "metadata") or "{}")
            self._drafts[request.id, "metadata"] = metadata
        return self._returned(request, text, ToolResultState.SUCCESS, json.loads(metadata))

    def _declined(self, request: Request, reason: str) -> Said:
        self.screen.tally.refused += 1
        said = "The person declined." + (f" Reason: {reason}" if reason else "")
        return self._returned(request, said, ToolResultState.DENIED)

    def _returned(
        self, request: Request, text: str, state: ToolResultState, metadata: dict[str, object] | None = None
    ) -> Said:
        self.screen.tally.answered += state is not ToolResultState.DENIED
        self.screen.know(request.call_id, request.tool, request.input, outside=True)
        result = ToolResultBlock(
            id=request.call_id,
            name=request.tool,
            output=[TextBlock(text=text)],
            state=state,
            metadata=metadata or {},
        )
        return ExternalExecutionResultEvent(reply_id=request.reply_id, execution_results=[result])

    # -- questions -------------------------------------------------------------------------------------

    async def _ask(self, request: Request) -> Said:
        form = self._forms.setdefault(
            request.id, Form(questions_of(json.loads(request.input)), self.keyboard, self._context)
        )
        self.screen.side.print()
        while True:
            match await form.fill():
                case "later":
                    return self._later()
                case "declined":
                    try:
                        return self._declined(request, await self._reason(request))
                    except Back as back:
                        self._drafts[request.id, "n"] = back.text
                case _:
                    return self._answered(request, form)

    def _context(self, question: Question) -> None:
        if question.context:
            self.screen.side.print(Text(visible(question.context)), highlight=False)
            self.screen.side.print()

    def _answered(self, request: Request, form: Form) -> Said:
        pairs = list(zip(form.questions, form.answers, strict=True))
        said = "\n".join(f"{q.header or q.text}: {words_of(q, a)}" for q, a in pairs)
        answers = [_answer(q, a) for q, a in pairs]
        return self._returned(request, said, ToolResultState.SUCCESS, {"answers": answers})


def _answer(question: Question, answer: Answer) -> dict[str, object]:
    selected = [question.choices[i].label for i in answer.chosen]
    return {"question": question.text, "selected": selected, "other": answer.other or None}


def _confirmation(
    request: Request,
    confirmed: bool,
    *,
    rules: list[PermissionRule] | None = None,
    edited: str | None = None,
    reason: str | None = None,
) -> UserConfirmResultEvent:
    """The answer, naming what was seen by its digest."""
    call = ToolCallBlock(
        id=request.call_id,
        name=request.tool,
        input=edited if edited is not None else request.input,
        metadata={"digest": request.digest},
    )
    result = ConfirmResult(confirmed=confirmed, tool_call=call, rules=rules, reason=reason)
    return UserConfirmResultEvent(reply_id=request.reply_id, confirm_results=[result])

"""The questions of AskUser on a terminal: options with preview, several answers, a text of one's own, a review.

Owns how a question looks and how it is answered; nothing is chosen until the person chooses. Knows no agent.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer, HSplit, VerticalAlign, VSplit, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.utils import get_cwidth

from sayso.cli.flow import folded
from sayso.cli.keyboard import Keyboard
from sayso.cli.prompt import DIM, WAITING, Back, Guard, columns, line, page
from sayso.visible import visible

__all__ = ["Answer", "Choice", "Form", "Question", "questions_of"]

_ONE_BLANK = re.compile(r"(?<=\S) (?=\S)")
_MARKED = 8  # columns before an option's label
_SIDE_BY_SIDE = 72  # columns from which a preview stands beside the options


@dataclass(frozen=True)
class Choice:
    """An option, as the model wrote it: not filtered."""

    label: str
    description: str = ""
    preview: str = ""


@dataclass(frozen=True)
class Question:
    """One question, as the model wrote it: not filtered."""

    text: str
    header: str = ""
    context: str = ""
    several: bool = False
    choices: tuple[Choice, ...] = ()


@dataclass
class Answer:
    """What was chosen: positions of choices, and a text of the person's own."""

    chosen: list[int] = field(default_factory=list)
    other: str = ""

    def __bool__(self) -> bool:
        return bool(self.chosen or self.other)


def questions_of(tool_input: dict[str, Any]) -> list[Question]:
    """The questions in the arguments of an AskUser call, which the agent has validated."""
    return [
        Question(
            text=str(q.get("question", "")),
            header=str(q.get("header") or ""),
            context=str(q.get("context") or ""),
            several=bool(q.get("multi_select")),
            choices=tuple(
                Choice(str(o.get("label", "")), str(o.get("description") or ""), str(o.get("preview") or ""))
                for o in q.get("options", [])
            ),
        )
        for q in tool_input.get("questions", [])
    ]


Outcome = Literal["sent", "declined", "later"]


@dataclass
class Form:
    """Asks `questions` one after the other; what is chosen stays in `answers`, so that it can be gone on with later.

    show_context(question): prints what must be read before answering, above the form.
    """

    questions: Sequence[Question]
    keyboard: Keyboard
    show_context: Callable[[Question], None]
    answers: list[Answer] = field(default_factory=list)
    at: int = 0
    _shown: set[int] = field(default_factory=set)
    _look: int | None = None

    def __post_init__(self) -> None:
        self.answers = self.answers or [Answer() for _ in self.questions]

    async def fill(self) -> Outcome:
        """Ask until the answers are sent, declined or left for later. Raises Interrupted on Ctrl-C."""
        armed = False
        while True:
            asking = self.at < len(self.questions)
            word = await (self._ask(armed) if asking else self._review())
            armed = True
            match word:
                case "next":
                    self._go(self.at + 1)
                    if len(self.questions) == 1:
                        return "sent"
                case "back":
                    self._go(max(self.at - 1, 0))
                case "other":
                    await self._own_words()
                case "sent":
                    return "sent"
                case "declined":
                    return "declined"
                case "later":
                    return "later"
                case change:
                    self._go(int(change))

    def _go(self, at: int) -> None:
        self.at, self._look = at, None

    async def _own_words(self) -> None:
        question, answer = self.questions[self.at], self.answers[self.at]
        try:
            text = await line(f"{visible(question.header or 'Other')}: ", default=answer.other)
        except Back:
            return
        answer.other = text
        if text and not question.several:
            answer.chosen.clear()

    # -- one question ----------------------------------------------------------------------------------

    async def _ask(self, armed: bool) -> str:
        question = self.questions[self.at]
        if self.at not in self._shown:
            self._shown.add(self.at)
            self.show_context(question)
        guard = Guard(self.keyboard, armed=armed)
        return await page(self._page(question, guard), self._bindings(question, guard), guard)

    def _bindings(self, question: Question, guard: Guard) -> KeyBindings:
        bindings = KeyBindings()
        answer = self.answers[self.at]
        letters = {"n": "declined", "l": "later", "o": "other"} | ({"b": "back"} if self.at else {})

        @bindings.add(Keys.Any)
        def _(event: KeyPressEvent) -> None:
            pressed = guard.take(event)
            if pressed is None:
                return
            if pressed.isdecimal() and 0 < int(pressed) <= len(question.choices):
                self._choose(question, int(pressed) - 1)
                if self._goes_on(question) and answer:
                    event.app.exit(result="next")
            elif pressed == " " and self._look is not None:
                self._choose(question, self._look)
            elif (word := letters.get(pressed.lower())) is not None:
                event.app.exit(result=word)

        @bindings.add("up")
        @bindings.add("down")
        def _(event: KeyPressEvent) -> None:
            if guard.take(event) is not None:
                step = 1 if event.key_sequence[0].key == Keys.Down else -1
                start = self._look if self._look is not None else (-1 if step > 0 else 0)
                self._look = (start + step) % len(question.choices)

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            if guard.take(event) is None:
                return
            if not answer and self._look is not None and not question.several:
                self._choose(question, self._look)
            if answer:
                event.app.exit(result="next")

        return bindings

    def _choose(self, question: Question, i: int) -> None:
        answer = self.answers[self.at]
        self._look = i
        if not question.several:
            answer.chosen, answer.other = [i], ""
        elif i in answer.chosen:
            answer.chosen.remove(i)
        else:
            answer.chosen = sorted([*answer.chosen, i])

    def _goes_on(self, question: Question) -> bool:
        """Whether a choice leads on at once: there is nothing to look at first, and a review comes."""
        return len(self.questions) > 1 and not question.several and not any(c.preview for c in question.choices)

    # -- how it looks ----------------------------------------------------------------------------------

    def _page(self, question: Question, guard: Guard) -> AnyContainer:
        options = Window(
            FormattedTextControl(lambda: self._options(question)), wrap_lines=True, dont_extend_height=True
        )
        foot = Window(
            FormattedTextControl(lambda: self._keys(question, guard)), wrap_lines=True, dont_extend_height=True
        )
        head = Window(FormattedTextControl(lambda: self._head(question)), wrap_lines=True, dont_extend_height=True)
        if not any(c.preview for c in question.choices):
            return HSplit([head, options, foot], align=VerticalAlign.TOP)
        preview = Window(
            FormattedTextControl(lambda: self._preview(question)), wrap_lines=True, dont_extend_height=True
        )
        wide = Condition(lambda: columns() >= _SIDE_BY_SIDE)
        beside = VSplit([options, Window(width=1, char="│", style=DIM), preview], padding=1)
        below = HSplit([options, Window(height=1, char="─", style=DIM), preview])
        parts = [head, ConditionalContainer(beside, wide), ConditionalContainer(below, ~wide), foot]
        return HSplit(parts, align=VerticalAlign.TOP)

    def _head(self, question: Question) -> StyleAndTextTuples:
        out: list[tuple[str, str]] = []
        if question.header:
            out += [("reverse", f" {visible(question.header)} "), ("", " ")]
        out.append(("bold", visible(question.text)))
        if len(self.questions) > 1:
            out.append((DIM, f"   {self.at + 1} of {len(self.questions)}"))
        return [*folded(out, columns())]

    def _options(self, question: Question) -> StyleAndTextTuples:
        answer = self.answers[self.at]
        previewed = any(c.preview for c in question.choices)
        # Beside a preview there is half of the screen.
        width = columns() // 2 - 2 if previewed and columns() >= _SIDE_BY_SIDE else columns()
        out: StyleAndTextTuples = []
        labels = [visible(c.label) for c in question.choices]
        room = max([get_cwidth(label) for label in labels], default=0)
        for i, (choice, label) in enumerate(zip(question.choices, labels, strict=True)):
            chosen, looked = i in answer.chosen, self._look == i
            mark = ("bold" if looked else "", f"{'›' if looked else ' '} {i + 1} {_mark(question, chosen)} ")
            row = [mark, ("bold" if chosen or looked else "", label)]
            if choice.description:
                gap = "\n" + " " * _MARKED if previewed else " " * (room - get_cwidth(label) + 2)
                row.append((DIM, gap + visible(choice.description).replace("\n", " ")))
            out += [*folded(row, width, indent=_MARKED), ("", "\n")]
        out.append(("", f"  o {_mark(question, bool(answer.other))} "))
        out.append(("bold" if answer.other else "", f"Other: {visible(answer.other)}" if answer.other else "Other…"))
        return out

    def _preview(self, question: Question) -> StyleAndTextTuples:
        chosen = self.answers[self.at].chosen
        at = self._look if self._look is not None else (chosen[0] if chosen else 0)
        text = visible(question.choices[at].preview) or "(no preview)"
        return [(DIM, f"{visible(question.choices[at].label)}\n"), ("", text)]

    def _keys(self, question: Question, guard: Guard) -> StyleAndTextTuples:
        if not guard.armed:
            return [(DIM, WAITING)]
        count = len(question.choices)
        on = "send" if len(self.questions) == 1 else "next"
        verb = "mark" if question.several else "choose"
        back = "b back   " if self.at else ""
        answered = bool(self.answers[self.at]) or (self._look is not None and not question.several)
        enter = ("bold" if answered else DIM, f"Enter {on}   ")
        before = (DIM, f" 1-{count} {verb}   o other   ↑↓ look   ")
        return _foot(before, enter, (DIM, f"{back}n decline   l later"))

    # -- the review ------------------------------------------------------------------------------------

    async def _review(self) -> str:
        guard = Guard(self.keyboard, armed=True)
        bindings = KeyBindings()
        words = {str(i + 1): str(i) for i in range(len(self.questions))} | {
            "b": "back",
            "n": "declined",
            "l": "later",
        }

        @bindings.add(Keys.Any)
        def _(event: KeyPressEvent) -> None:
            word = words.get((guard.take(event) or "").lower())
            if word is not None:
                event.app.exit(result=word)

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            if (missing := self._missing()) is None:
                event.app.exit(result="sent")
            else:
                event.app.exit(result=str(missing))

        return await page(Window(FormattedTextControl(self._summary), wrap_lines=True), bindings, guard)

    def _missing(self) -> int | None:
        return next((i for i, a in enumerate(self.answers) if not a), None)

    def _summary(self) -> StyleAndTextTuples:
        out: StyleAndTextTuples = [("bold", "Your answers\n")]
        heads = [visible(q.header or q.text).replace("\n", " ") for q in self.questions]
        room = max(get_cwidth(h) for h in heads)
        for i, (head, question, answer) in enumerate(zip(heads, self.questions, self.answers, strict=True)):
            out.append((DIM, f" {i + 1} "))
            out.append(("", head + " " * (room - get_cwidth(head) + 2)))
            said = words_of(question, answer)
            out.append(("bold" if said else "fg:ansiyellow", (visible(said) or "not answered yet") + "\n"))
        ready = self._missing() is None
        enter = "Enter send" if ready else "Enter answer what is missing"
        keys = _foot(("bold", f" {enter}   "), (DIM, f"1-{len(self.questions)} change   n decline   l later"))
        return [*out, *keys]


def words_of(question: Question, answer: Answer) -> str:
    """An answer as one line: the labels chosen, then the person's own words. Not filtered."""
    return ", ".join([question.choices[i].label for i in answer.chosen] + ([answer.other] if answer.other else []))


def _foot(*parts: tuple[str, str]) -> StyleAndTextTuples:
    """Keys and what they do, three blanks between them; no line is broken between a key and what it does."""
    tied = [(style, _ONE_BLANK.sub("\xa0", text)) for style, text in parts]
    return [(style, text.replace("\xa0", " ")) for style, text in folded(tied, columns(), indent=1)]


def _mark(question: Question, chosen: bool) -> str:
    if question.several:
        return "[x]" if chosen else "[ ]"
    return "(*)" if chosen else "( )"

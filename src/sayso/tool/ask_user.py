"""AskUser: the agent asks a person questions with options, and waits.

Owns the questions, the answers and what makes an answer one. How they are shown is each surface's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from sayso.errors import InvalidAnswer
from sayso.message import ToolResultBlock, ToolResultState
from sayso.tool.base import ToolBase
from sayso.tool.schema import pydantic_problems, schema_of

__all__ = [
    "AskUser",
    "AskUserAnswer",
    "AskUserMetadata",
    "AskUserOption",
    "AskUserParams",
    "AskUserQuestion",
    "answers_text",
    "check_answers",
]

_CONFIG = ConfigDict(extra="forbid")
_HEADER = 12  # characters of a header: it is shown as a chip (the seed document's table)
_OTHER = frozenset({"other", "其他", "其它"})  # every surface offers that by itself


def _same(text: str) -> str:
    """Text as a person compares it: normal form, blanks and case aside."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def _unique(what: str, texts: Sequence[str]) -> None:
    seen: set[str] = set()
    for text in texts:
        if not text.strip():
            raise ValueError(f"a {what} is empty")
        if _same(text) in seen:
            raise ValueError(f"two {what}s are {text!r}; each must be different")
        seen.add(_same(text))


class AskUserOption(BaseModel):
    """One option of a question."""

    model_config = _CONFIG

    label: Annotated[str, Field(min_length=1, description="What the person chooses: one to five words.")]
    description: Annotated[str, Field(description="What choosing it means.")]
    preview: Annotated[
        str | None, Field(description="Text to look at while it is in focus, such as code; single choice only.")
    ] = None


class AskUserQuestion(BaseModel):
    """One question. `context` is what to look at while answering: a draft, an error, two designs to compare."""

    model_config = _CONFIG

    question: Annotated[str, Field(min_length=1, description="The whole question.")]
    header: Annotated[str, Field(min_length=1, max_length=_HEADER, description="A label of at most 12 characters.")]
    context: Annotated[str | None, Field(description="What to look at while answering; shown above the options.")] = (
        None
    )
    options: Annotated[
        list[AskUserOption],
        Field(min_length=2, max_length=4, description="2 to 4 options; none is 'Other', which is always offered."),
    ]
    multi_select: Annotated[bool, Field(description="Several options may be chosen.")] = False

    @model_validator(mode="after")
    def _options(self) -> Self:
        if not self.header.strip():
            raise ValueError("the header is empty")
        _unique("label", [o.label for o in self.options])
        for option in self.options:
            if _same(option.label) in _OTHER:
                raise ValueError(f"an option is called {option.label!r}; a free answer is always offered, leave it out")
            if option.preview is not None and self.multi_select:
                raise ValueError("a preview goes with a single choice only; leave it out, or multi_select")
        return self


class AskUserParams(BaseModel):
    """What a call asks: one to four questions, each different."""

    model_config = _CONFIG

    questions: Annotated[list[AskUserQuestion], Field(min_length=1, max_length=4, description="1 to 4 questions.")]

    @model_validator(mode="after")
    def _each_different(self) -> Self:
        _unique("question", [q.question for q in self.questions])
        return self


class AskUserAnswer(BaseModel):
    """The answer to one question. `other` is what the person typed instead of choosing, or besides."""

    model_config = _CONFIG

    question: Annotated[str, Field(description="The question, as it was asked.")]
    selected: Annotated[list[str], Field(description="Labels that were chosen.")] = []
    other: Annotated[str | None, Field(description="What was typed.")] = None


class AskUserMetadata(BaseModel):
    """The answers as data, for programs; it goes into the result's `metadata`."""

    model_config = _CONFIG

    answers: list[AskUserAnswer]


def check_answers(params: AskUserParams, metadata: AskUserMetadata) -> None:
    """Raises InvalidAnswer, naming question and reason, unless every question is answered, once, by what it offers."""
    asked = {q.question: q for q in params.questions}
    answered: set[str] = set()
    for answer in metadata.answers:
        question = asked.get(answer.question)
        if question is None:
            raise InvalidAnswer(f"{answer.question!r} was not asked")
        if answer.question in answered:
            raise InvalidAnswer(f"{answer.question!r} is answered twice")
        answered.add(answer.question)
        _check_one(question, answer)
    if missing := [q for q in asked if q not in answered]:
        raise InvalidAnswer(f"{missing[0]!r} is not answered")


def _check_one(question: AskUserQuestion, answer: AskUserAnswer) -> None:
    labels = [o.label for o in question.options]
    for label in answer.selected:
        if label not in labels:
            raise InvalidAnswer(f"{question.question!r} has no option {label!r}; it has: {', '.join(labels)}")
    if len(set(answer.selected)) != len(answer.selected):
        raise InvalidAnswer(f"{question.question!r}: one option is chosen twice")
    typed = answer.other is not None and bool(answer.other.strip())
    if answer.other is not None and not typed:
        raise InvalidAnswer(f"{question.question!r}: the free answer is empty")
    if not answer.selected and not typed:
        raise InvalidAnswer(f"{question.question!r}: nothing is chosen and nothing is typed")
    if not question.multi_select and len(answer.selected) + typed > 1:
        raise InvalidAnswer(f"{question.question!r} takes one answer")


def answers_text(params: AskUserParams, metadata: AskUserMetadata) -> str:
    """The answers as the model reads them, one line a question."""
    given = {a.question: a for a in metadata.answers}
    lines = []
    for question in params.questions:
        answer = given[question.question]
        said = list(answer.selected)
        if answer.other:
            said.append(f"in their own words: {answer.other}")
        lines.append(f"{question.header}: {'; '.join(said)}")
    return "\n".join(lines)


_PARAMS: TypeAdapter[AskUserParams] = TypeAdapter(AskUserParams)


class AskUser(ToolBase):
    """Asks the person; a call pauses the reply until their answers come back, as words and as `AskUserMetadata`."""

    name = "AskUser"
    description = (
        "Ask the person who runs you one to four questions, each with two to four options, when a decision is theirs. "
        "They can always answer in their own words instead. Do not ask what you can find out yourself."
    )
    arguments = _PARAMS
    is_read_only = True
    is_external_tool = True
    request_kind = "ask"

    def __init__(self) -> None:
        self.input_schema = schema_of(_PARAMS)
        self.metadata_schema = AskUserMetadata.model_json_schema()

    def check_result(self, tool_input: dict[str, Any], result: ToolResultBlock) -> None:
        """Raises InvalidAnswer unless a successful result answers every question by what it offers."""
        if result.state is not ToolResultState.SUCCESS:
            return
        try:
            metadata = AskUserMetadata.model_validate(result.metadata)
        except ValidationError as exc:
            problems = "; ".join(pydantic_problems(exc))
            raise InvalidAnswer(f"the metadata of an answer to AskUser is not an AskUserMetadata: {problems}") from exc
        check_answers(AskUserParams.model_validate(tool_input), metadata)

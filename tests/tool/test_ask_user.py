import json
from typing import Any

import pytest

from sayso.errors import InvalidAnswer
from sayso.message import ToolResultBlock, ToolResultState
from sayso.tool import (
    AskUser,
    AskUserAnswer,
    AskUserMetadata,
    AskUserParams,
    InvalidInput,
    Toolkit,
    answers_text,
    check_answers,
)


def question(**changes: Any) -> dict[str, Any]:
    base = {
        "question": "接入哪种鉴权方式？",
        "header": "鉴权方式",
        "options": [
            {"label": "OAuth 2.0（推荐）", "description": "standard"},
            {"label": "API Key", "description": "simple", "preview": "curl -H ..."},
        ],
    }
    return base | changes


def options(*labels: str, **more: Any) -> list[dict[str, Any]]:
    return [{"label": label, "description": "d", **more} for label in labels]


def asked(*questions: dict[str, Any]) -> AskUserParams:
    tool = AskUser()
    value = Toolkit([tool]).parse(tool, json.dumps({"questions": list(questions)}))
    return AskUserParams.model_validate(value)


def test_the_seed_s_question_is_one() -> None:
    params = asked(question(context="a draft", multi_select=False))
    assert params.questions[0].options[1].preview == "curl -H ..."


@pytest.mark.parametrize(
    ("questions", "why"),
    [
        ([], "at least 1"),
        ([question(question=str(n)) for n in range(5)], "at most 4"),
        ([question(), question(question=" 接入哪种鉴权方式？")], "each must be different"),
        ([question(question="  ")], "a question is empty"),
        ([question(header="x" * 13)], "at most 12 characters"),
        ([question(header="  ")], "header is empty"),
        ([question(options=options("only"))], "at least 2"),
        ([question(options=options("a", "b", "c", "d", "e"))], "at most 4"),
        ([question(options=options("Red", "red "))], "each must be different"),
        ([question(options=options("A", " "))], "a label is empty"),
        ([question(options=options("A", " OTHER"))], "always offered"),
        ([question(options=options("A", "其他"))], "always offered"),
        ([question(options=options("A", "B", preview="p"), multi_select=True)], "single choice only"),
        ([question(colour="red")], "is not an argument"),
    ],
)
def test_a_question_that_no_surface_could_put_is_refused(questions: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        asked(*questions)


def test_twelve_characters_are_counted_as_characters() -> None:
    asked(question(header="一二三四五六七八九十甲乙"))


def answer(**changes: Any) -> AskUserAnswer:
    return AskUserAnswer.model_validate({"question": "接入哪种鉴权方式？", "selected": ["API Key"]} | changes)


@pytest.mark.parametrize("answered", [{}, {"selected": [], "other": "mTLS"}, {"selected": ["OAuth 2.0（推荐）"]}])
def test_one_offered_label_or_free_text_is_an_answer(answered: dict[str, Any]) -> None:
    check_answers(asked(question()), AskUserMetadata(answers=[answer(**answered)]))


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([], "is not answered"),
        ([answer(), answer()], "answered twice"),
        ([answer(question="another?")], "was not asked"),
        ([answer(selected=["JWT"])], "no option 'JWT'; it has"),
        ([answer(selected=["api key"])], "no option"),
        ([answer(selected=["API Key", "OAuth 2.0（推荐）"])], "takes one answer"),
        ([answer(other="and this")], "takes one answer"),
        ([answer(selected=[])], "nothing is chosen"),
        ([answer(selected=[], other="  \n")], "free answer is empty"),
        ([answer(other="")], "free answer is empty"),
    ],
)
def test_what_is_no_answer_to_what_was_asked_is_refused(answers: list[AskUserAnswer], why: str) -> None:
    with pytest.raises(InvalidAnswer, match=why):
        check_answers(asked(question()), AskUserMetadata(answers=answers))


def test_several_labels_and_free_text_answer_a_multiple_choice() -> None:
    params = asked(question(multi_select=True, options=options("A", "B", "C")))
    metadata = AskUserMetadata(answers=[answer(selected=["C", "A"], other="and D")])
    check_answers(params, metadata)
    assert answers_text(params, metadata) == "鉴权方式: C; A; in their own words: and D"
    with pytest.raises(InvalidAnswer, match="chosen twice"):
        check_answers(params, AskUserMetadata(answers=[answer(selected=["A", "A"])]))


def test_the_tool_checks_a_result_from_outside_the_same_way() -> None:
    tool = AskUser()
    tool_input = {"questions": [question()]}
    good = ToolResultBlock(
        id="1",
        name="AskUser",
        state=ToolResultState.SUCCESS,
        metadata=AskUserMetadata(answers=[answer()]).model_dump(),
    )
    tool.check_result(tool_input, good)
    bad: list[dict[str, Any]] = [{}, {"answers": []}, {"answers": [{"question": 1}]}, {"answers": [], "extra": 1}]
    for metadata in bad:
        with pytest.raises(InvalidAnswer):
            tool.check_result(tool_input, good.model_copy(update={"metadata": metadata}))
    tool.check_result(tool_input, good.model_copy(update={"state": ToolResultState.ERROR, "metadata": {}}))

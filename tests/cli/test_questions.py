"""AskUser at the terminal."""

from typing import Any

import pytest
from rich.cells import cell_len

from terminal import Desk

pytestmark = pytest.mark.slow


def question(text: str, *labels: str, several: bool = False, header: str = "") -> dict[str, Any]:
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": text, "header": header or text[:8], "multi_select": several, "options": options}


def ask(*questions: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return ("AskUser", {"questions": list(questions)})


def test_an_option_is_chosen_by_its_number_and_sent_with_enter(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(ask(question("Which colour?", "Red", "Blue")), "Fine."), "go") as t:
        t.until("Which colour?", "Red", "about Blue")
        t.ready()
        t.key("2")
        t.key("\r")
        t.until("Which co: Blue", "Fine.")


def test_several_options_may_be_chosen_where_the_question_allows_it(desk: Desk) -> None:
    model = desk.script(ask(question("Which fruits?", "Apple", "Pear", "Plum", several=True)), "Fine.")
    with desk.terminal("chat", "-m", model, "go") as t:
        t.ready()
        t.key("1")
        t.key("3")
        t.key("\r")
        shown = t.until("Fine.")
    assert "Apple" in shown.split("AskUser")[-1]
    assert "Plum" in shown.split("AskUser")[-1]
    assert "Pear" not in shown.split("AskUser")[-1]


def test_words_of_ones_own_are_an_answer(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(ask(question("Which colour?", "Red", "Blue")), "Fine."), "go") as t:
        t.ready()
        t.key("o")
        t.key("mauve\r")
        t.key("\r")
        t.until("mauve", "Fine.")


def test_wide_characters_line_up(desk: Desk) -> None:
    model = desk.script(ask(question("选择一个语言", "简体中文", "English", header="语言")), "好的。")
    with desk.terminal("chat", "-m", model, "开始") as t:
        shown = t.until("选择一个语言", "about English")
        rows = [row for row in shown.split("\n") if "about" in row]
        assert len(rows) == 2
        assert len({cell_len(row[: row.index("about")]) for row in rows}) == 1, rows
        t.ready()
        t.key("1")
        t.key("\r")
        t.until_that(lambda text: "好" in text, "the words after the answer")


def test_a_question_is_answered_from_a_shell_by_its_label(desk: Desk) -> None:
    asked = desk.run("chat", "-m", desk.script(ask(question("Which colour?", "Red", "Blue")), "Fine."), "go")
    assert asked.returncode == 3, asked.stderr
    assert "--answers Red" in asked.stdout
    (request,) = desk.waiting()
    done = desk.run("answer", request["id"], "--answers", "Blue")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Blue" in desk.run("log", request["session_id"]).stdout

"""Where lines are broken: at words, and nothing of what was written is lost."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from sayso.cli.flow import folded


def lines(text: str, width: int, indent: int = 0) -> list[str]:
    return "".join(part for _, part in folded([("", text)], width, indent)).split("\n")


def test_a_line_is_broken_between_words_and_goes_on_indented() -> None:
    assert lines("allow this and that", 11, indent=2) == ["allow this", "  and that"]


def test_a_word_keeps_its_style_and_is_not_cut_between_two_styles() -> None:
    assert folded([("bold", "one "), ("dim", "three")], 6) == [("bold", "one"), ("", "\n"), ("dim", "three")]


def test_wide_characters_count_as_two_and_a_line_may_break_between_them() -> None:
    assert lines("选择一个语言", 6) == ["选择一", "个语言"]


def test_a_word_wider_than_the_screen_is_left_whole() -> None:
    assert lines("a " + "x" * 30, 10) == ["a " + "x" * 30]


@given(st.text(alphabet="ab 选，\n\t\xa0\u3000", max_size=60), st.integers(4, 30))
def test_nothing_but_blanks_at_a_break_is_left_out(text: str, width: int) -> None:
    shown = "".join(lines(text, width))
    kept = [c for c in text if c not in " \t\n"]
    assert [c for c in shown if c not in " \t\n"] == kept


@given(st.lists(st.text(alphabet="ab选", min_size=1, max_size=4), max_size=12), st.integers(8, 30))
def test_no_line_is_wider_than_the_screen_where_its_words_are_not(words: list[str], width: int) -> None:
    assert all(cell_len(line) <= width for line in lines(" ".join(words), width))

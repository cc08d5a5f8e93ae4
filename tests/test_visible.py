"""What a terminal or a browser would obey is shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("over\roverwritten", r"over\x0doverwritten"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("pay\u200bpal", r"pay\u200bpal"),
        ("\ufeffhead", r"\ufeffhead"),
        ("a\u2028b", r"a\u2028b"),
        ("\U000e0041", r"\U000e0041"),
        ("lone \ud800", r"lone \ud800"),
        ("\u3164", r"\u3164"),
        ("x\ufe0f", r"x\ufe0f"),
    ],
)
def test_what_would_be_obeyed_is_written_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["", "plain", "two\nlines\tand a tab", "中文：鉴权方式？", "café", "⚠\ufe0f careful", "👍"]
)
def test_what_is_only_read_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text(st.characters()))
def test_nothing_that_is_obeyed_is_left(text: str) -> None:
    shown = visible(text)
    shown.encode()
    left = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert left <= {"\n", "\t"}


@given(st.text(st.characters()))
def test_what_is_shown_once_is_shown_the_same_again(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_every_control_and_format_character_of_unicode_is_covered() -> None:
    hidden = [
        f"U+{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(c := chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and c not in "\n\t"
        and visible(c) == c
    ]
    assert hidden == []

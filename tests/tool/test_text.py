import random
import subprocess
from pathlib import Path

import pytest

from sayso.tool.text import NoMatch, decoded, diff, kind_of, numbered, replaced


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"RIFF\0\0\0\0WEBP", "a WebP image"),
        (b"%PDF-1.7", "a PDF document"),
        (b"ab\0cd", "binary data"),
        (b"\xff\xfea\0", "UTF-16 text"),
        (b"BMW is a car", None),
        (b"", None),
        ("中文".encode(), None),
    ],
)
def test_what_a_file_is_can_be_told_from_its_first_bytes(start: bytes, kind: str | None) -> None:
    assert kind_of(start) == kind


@pytest.mark.parametrize(
    "data", [b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\n", b"\xef\xbb\xbfa\r\n", b"\xef\xbb\xbf", b"", b"a"]
)
def test_a_text_that_is_not_changed_comes_out_byte_for_byte(data: bytes) -> None:
    text = decoded(data)
    assert text.encoded(text.text) == data


def test_line_ends_that_are_all_the_same_are_not_in_the_way_of_an_edit() -> None:
    text = decoded(b"a\r\nb\r\n")
    assert text.text == "a\nb\n"
    assert text.encoded("a\nx\nb\n") == b"a\r\nx\r\nb\r\n"


def test_a_very_long_line_is_cut_and_says_so() -> None:
    line = numbered(7, "x" * 10_000)
    assert line.startswith("     7\txxx")
    assert len(line) < 2_100
    assert "more than 2,000 characters" in line


def why_not(text: str, old: str) -> str:
    with pytest.raises(NoMatch) as caught:
        replaced(text, old, "new", every=False)
    return str(caught.value)


def test_an_exact_piece_is_replaced_once() -> None:
    assert replaced("a\nb\nc\n", "b\n", "x\ny\n", every=False) == ("a\nx\ny\nc\n", 1)


def test_every_occurrence_is_replaced_if_asked_for() -> None:
    assert replaced("a a a", "a", "b", every=True) == ("b b b", 3)


def test_an_ambiguous_piece_is_refused_with_count_and_lines() -> None:
    message = why_not("x = 1\ny = 2\nx = 1\n", "x = 1")
    assert "occurs 2 times (lines 1, 3)" in message
    assert "replace_all" in message


def test_overlapping_occurrences_are_ambiguous_too() -> None:
    assert "occurs 2 times" in why_not("aaa", "aa")


def test_a_difference_in_white_space_is_shown() -> None:
    message = why_not("def f():\n\treturn 1\n", "def f():\n    return 1\n")
    assert r"the file has '\treturn 1'" in message
    assert "old_string has '    return 1'" in message


def test_the_nearest_line_is_named() -> None:
    assert "nearest line is 2: 'retrun total'" in why_not("a = 1\nretrun total\n", "return total")


def test_line_numbers_copied_from_read_are_recognised() -> None:
    assert "leave them out" in why_not("foo\nbar\n", "     1\tfoo\n     2\tbar")


def test_nothing_near_is_said_too() -> None:
    assert "No line of it is near" in why_not("abc\n", "zzzzzz")


@pytest.mark.parametrize("seed", range(25))
def test_a_diff_is_one_that_patch_applies(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    before = "".join(f"line {rng.randrange(9)}\n" for _ in range(rng.randrange(0, 60)))
    lines = before.splitlines(keepends=True)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(lines) + 1)
        lines[at : at + rng.randrange(3)] = [f"new {rng.randrange(9)}\n"] * rng.randrange(3)
    after = "".join(lines)
    if seed % 3 == 0:
        after = after.rstrip("\n") or "x"
    (tmp_path / "f").write_text(before)
    shown = diff(before, after, "f")
    if shown:
        subprocess.run(["patch", "-s", "f"], input=shown.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "f").read_text() == after


def test_a_new_file_s_diff_comes_from_nothing() -> None:
    assert diff(None, "a\nb", "/w/f") == (
        "--- /dev/null\n+++ /w/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    )


def test_a_change_too_large_to_read_is_summed_up_at_once() -> None:
    before = "".join(f"{n}\n" for n in range(100_000))
    assert "100,000 lines become 100,000" in diff(before, before.replace("\n", "x\n"), "f")

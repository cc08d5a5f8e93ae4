import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from running import NO_RULES, preview, run
from sayso.message import TextBlock, ToolResultBlock, ToolResultState
from sayso.permission.unit import FileUnit
from sayso.tool import Edit, FileLedger, Read, Toolkit, Write


class Desk:
    """A directory with the three file tools of one toolkit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read, self.write, self.edit = Read(path), Write(path), Edit(path)
        self.kit = Toolkit([self.read, self.write, self.edit])

    def file(self, text: str | bytes, *, seen: bool = True) -> Path:
        file = self.path / "f"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        if seen:
            assert run(self.read, file_path="f").ok
        return file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- Write -------------------------------------------------------------------------------------------------


def test_a_new_file_is_written_with_the_directories_it_needs(desk: Desk) -> None:
    ran = run(desk.write, file_path="a/b/f.txt", content="one\ntwo\n")
    assert ran.ok
    assert "Created" in ran.text
    assert (desk.path / "a/b/f.txt").read_text() == "one\ntwo\n"


def test_a_file_that_was_read_is_replaced(desk: Desk) -> None:
    file = desk.file("old\n")
    assert run(desk.write, file_path="f", content="new\n").ok
    assert file.read_text() == "new\n"


def test_a_file_that_was_never_read_is_not_overwritten(desk: Desk) -> None:
    file = desk.file("precious", seen=False)
    ran = run(desk.write, file_path="f", content="new")
    assert ran.state is ToolResultState.ERROR
    assert "Read it first" in ran.text
    assert file.read_text() == "precious"


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(desk: Desk) -> None:
    file = desk.file("old")
    file.write_text("theirs")
    ran = run(desk.write, file_path="f", content="mine")
    assert "changed by somebody else since it was last read. Read it again" in ran.text
    assert file.read_text() == "theirs"


def test_a_preview_does_not_count_as_reading(desk: Desk) -> None:
    file = desk.file("precious", seen=False)
    assert "would fail" in preview(desk.write, file_path="f", content="new").text
    assert run(desk.write, file_path="f", content="new").state is ToolResultState.ERROR
    assert file.read_text() == "precious"


def test_what_the_agent_wrote_itself_it_may_write_again(desk: Desk) -> None:
    run(desk.write, file_path="f", content="one")
    assert run(desk.write, file_path="f", content="two").ok
    assert (desk.path / "f").read_text() == "two"


def test_writing_twice_is_as_writing_once_even_after_a_restart(desk: Desk) -> None:
    run(desk.write, file_path="f", content="one")
    again = run(Write(desk.path), file_path="f", content="one")
    assert again.ok
    assert "had this content already" in again.text
    assert desk.write.idempotent


def test_a_session_that_goes_on_elsewhere_recalls_what_it_read(desk: Desk) -> None:
    file = desk.file("old", seen=False)
    read = run(desk.read, file_path="f")
    elsewhere = Desk(desk.path)
    elsewhere.kit.recall(
        [
            ToolResultBlock(
                id="1", name="Read", output=[TextBlock(text=read.text)], state=read.state, metadata=read.metadata
            )
        ]
    )
    assert run(elsewhere.write, file_path="f", content="new").ok
    assert file.read_text() == "new"


def test_a_huge_or_binary_file_that_is_replaced_is_named_in_the_preview(desk: Desk) -> None:
    desk.file(b"\x89PNG\r\n\x1a\n", seen=False)
    desk.write.ledger.read(str(desk.path / "f"), "stale")
    assert "would fail" in preview(desk.write, file_path="f", content="x").text
    from sayso.tool.disk import version_of

    desk.write.ledger.read(str(desk.path / "f"), version_of(b"\x89PNG\r\n\x1a\n"))
    assert "Replaces a PNG image of 8 bytes" in preview(desk.write, file_path="f", content="x").text


@pytest.mark.parametrize("path", ["/", ".", "/dev/null", "/proc/self/mem", "a\0b", "f/below"])
def test_what_is_no_place_for_a_file_is_refused(desk: Desk, path: str) -> None:
    desk.file("x")
    assert run(desk.write, file_path=path, content="y").state is ToolResultState.ERROR


def test_a_link_leads_to_its_target_and_stays_a_link(desk: Desk) -> None:
    (desk.path / "target").write_text("old")
    (desk.path / "f").symlink_to("target")
    run(desk.read, file_path="f")
    ran = run(desk.write, file_path="f", content="new")
    assert str(desk.path / "target") in ran.text
    assert (desk.path / "target").read_text() == "new"
    assert (desk.path / "f").is_symlink()


def test_a_link_swapped_in_after_the_judgement_is_not_followed(desk: Desk) -> None:
    (desk.path / "other").mkdir()
    desk.write.units({"file_path": "new"}, NO_RULES)
    (desk.path / "new").symlink_to("other/file")
    ran = run(desk.write, file_path="new", content="x")
    assert ran.state is ToolResultState.ERROR
    assert not (desk.path / "other" / "file").exists()


def test_a_directory_that_cannot_be_written_is_an_error_that_names_the_file(desk: Desk) -> None:
    ran = run(desk.write, file_path="/proc/sayso-test/f", content="x")
    assert ran.state is ToolResultState.ERROR
    assert "/proc/sayso-test/f" in ran.text


def test_a_new_file_is_shown_as_a_diff(desk: Desk) -> None:
    shown = preview(desk.write, file_path="f", content="a\n")
    assert shown.kind == "diff"
    assert shown.text == f"--- /dev/null\n+++ {desk.path}/f\n@@ -0,0 +1 @@\n+a\n"
    assert not (desk.path / "f").exists()


def test_a_file_that_appears_after_the_preview_is_not_overwritten(desk: Desk) -> None:
    preview(desk.write, file_path="f", content="mine")
    (desk.path / "f").write_text("theirs")
    assert run(desk.write, file_path="f", content="mine").state is ToolResultState.ERROR
    assert (desk.path / "f").read_text() == "theirs"


# -- Edit --------------------------------------------------------------------------------------------------


def edit(desk: Desk, old: str, new: str, **more: Any) -> Any:
    return run(desk.edit, file_path="f", old_string=old, new_string=new, **more)


def test_an_exact_piece_is_replaced_and_the_diff_comes_back(desk: Desk) -> None:
    file = desk.file("a\nb\nc\n")
    ran = edit(desk, "b", "x")
    assert ran.ok
    assert "-b\n+x\n" in ran.text
    assert file.read_text() == "a\nx\nc\n"


def test_every_occurrence_is_replaced_if_asked_for(desk: Desk) -> None:
    file = desk.file("a a")
    assert edit(desk, "a", "b").state is ToolResultState.ERROR
    assert "Replaced 2 times" in edit(desk, "a", "b", replace_all=True).text
    assert file.read_text() == "b b"


def test_an_edit_needs_no_reading_because_it_must_match_exactly(desk: Desk) -> None:
    file = desk.file("a\n", seen=False)
    assert edit(desk, "a", "b").ok
    assert file.read_text() == "b\n"


def test_a_file_that_changed_since_it_was_read_is_not_edited(desk: Desk) -> None:
    file = desk.file("a\nb\n")
    file.write_text("a\nb\nc\n")
    assert "Read it again" in edit(desk, "a", "x").text
    assert file.read_text() == "a\nb\nc\n"


def test_a_file_that_changed_since_the_change_was_shown_is_not_edited(desk: Desk) -> None:
    file = desk.file("a\nb\n", seen=False)
    assert "-a\n+x\n" in preview(desk.edit, file_path="f", old_string="a", new_string="x").text
    file.write_text("a\nc\n")
    assert "shown for approval" in edit(desk, "a", "x").text
    assert file.read_text() == "a\nc\n"


def test_two_edits_shown_before_either_ran_both_run(desk: Desk) -> None:
    file = desk.file("a\nb\n")
    preview(desk.edit, file_path="f", old_string="a", new_string="x")
    preview(desk.edit, file_path="f", old_string="b", new_string="y")
    assert edit(desk, "a", "x").ok
    assert edit(desk, "b", "y").ok
    assert file.read_text() == "x\ny\n"


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"a\r\nb\r\n", b"a\r\nX\r\nY\r\n"),
        (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nX\nY\n"),
        (b"a\nb", b"a\nX\nY"),
    ],
)
def test_byte_order_mark_line_ends_and_last_line_stay_as_they_are(desk: Desk, data: bytes, after: bytes) -> None:
    file = desk.file(data)
    assert edit(desk, "b", "X\nY").ok
    assert file.read_bytes() == after


def test_a_piece_of_several_lines_matches_a_file_with_windows_line_ends(desk: Desk) -> None:
    file = desk.file(b"a\r\nb\r\nc\r\n")
    assert edit(desk, "a\nb\n", "x\n").ok
    assert file.read_bytes() == b"x\r\nc\r\n"


def test_mixed_line_ends_outside_the_edit_are_not_touched(desk: Desk) -> None:
    file = desk.file(b"a\r\nb\nc\r\n")
    assert edit(desk, "b", "x").ok
    assert file.read_bytes() == b"a\r\nx\nc\r\n"


@pytest.mark.parametrize(("data", "why"), [(b"a\0b", "binary data"), (b"a\xe9b", "not UTF-8")])
def test_what_is_not_utf_8_text_is_left_alone(desk: Desk, data: bytes, why: str) -> None:
    file = desk.file(data, seen=False)
    assert why in edit(desk, "a", "x").text
    assert file.read_bytes() == data


def test_nothing_to_change_and_nothing_there_are_errors(desk: Desk) -> None:
    assert "There is no file" in edit(desk, "a", "b").text
    desk.file("a")
    assert "the same" in edit(desk, "a", "a").text
    assert "not in the file" in edit(desk, "zzz", "b").text


def test_an_edit_that_would_fail_is_said_to_in_the_preview(desk: Desk) -> None:
    desk.file("a a")
    shown = preview(desk.edit, file_path="f", old_string="a", new_string="b")
    assert shown.kind == "text"
    assert "would fail" in shown.text
    assert "occurs 2 times" in shown.text


@pytest.mark.parametrize(
    ("now", "outcome"), [("a = 1", "not_done"), ("a = 2", "done"), ("b", "unknown"), ("a = 1; a = 2", "unknown")]
)
def test_whether_a_lost_edit_happened_is_read_from_the_file(desk: Desk, now: str, outcome: str) -> None:
    desk.file(now)
    tool_input = {"file_path": "f", "old_string": "a = 1", "new_string": "a = 2"}
    assert asyncio.run(desk.edit.verify(tool_input)).outcome == outcome


def test_a_lost_edit_of_a_file_that_is_gone_is_unknown(desk: Desk) -> None:
    tool_input = {"file_path": "f", "old_string": "a", "new_string": "b"}
    assert asyncio.run(desk.edit.verify(tool_input)).outcome == "unknown"


# -- both --------------------------------------------------------------------------------------------------


def test_rules_for_writing_and_for_editing_speak_about_both(tmp_path: Path) -> None:
    (write,) = Write(tmp_path).units({"file_path": "f"}, NO_RULES)
    (change,) = Edit(tmp_path).units({"file_path": "f"}, NO_RULES)
    assert isinstance(write, FileUnit)
    assert isinstance(change, FileUnit)
    assert (write.op, write.rule_tools) == ("write", ("Write", "Edit"))
    assert (change.op, change.rule_tools) == ("write", ("Edit", "Write"))


def test_the_tools_of_one_toolkit_share_what_they_know_unless_told_otherwise(tmp_path: Path) -> None:
    own = FileLedger()
    read, write, edit_ = Read(tmp_path), Write(tmp_path), Edit(tmp_path, ledger=own)
    Toolkit([read, write, edit_])
    assert read.ledger is write.ledger
    assert edit_.ledger is own


def test_no_temporary_file_stays_behind(desk: Desk) -> None:
    desk.file("a")
    edit(desk, "a", "b")
    run(desk.write, file_path="f", content="c")
    run(desk.write, file_path="g", content="c")
    assert sorted(os.listdir(desk.path)) == ["f", "g"]

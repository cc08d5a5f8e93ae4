import os
from pathlib import Path

import pytest

from running import NO_RULES, run
from sayso.message import ToolResultState
from sayso.permission.unit import FileUnit, OpaqueUnit
from sayso.tool import Read, Toolkit


def test_lines_come_numbered(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\ntwo\n\nfour")
    ran = run(Read(tmp_path), file_path="f")
    assert ran.text == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n"
    assert ran.ok
    assert ran.metadata["path"] == str(tmp_path / "f")


def test_a_range_is_shown_and_where_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"{n}\n" for n in range(1, 11)))
    assert run(Read(tmp_path), file_path="f", offset=3, limit=2).text == (
        "     3\t3\n     4\t4\n[more follows; go on with offset=5]"
    )
    assert run(Read(tmp_path), file_path="f", offset=9, limit=2).text == "     9\t9\n    10\t10\n"


def test_an_offset_past_the_end_is_an_error_with_the_length(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    ran = run(Read(tmp_path), file_path="f", offset=5)
    assert ran.state is ToolResultState.ERROR
    assert "has 2 lines" in ran.text


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert run(Read(tmp_path), file_path="f").text == "[the file is empty]"


def test_a_long_file_stops_where_the_result_is_full_and_can_be_read_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(("x" * 1_000 + "\n") * 1_500)
    ran = run(Read(tmp_path), file_path="f")
    assert len(ran.text) <= 100_000
    assert "characters were cut" not in ran.text
    assert ran.text.endswith("[more follows; go on with offset=99]")


def test_a_huge_file_is_read_in_part_without_reading_it_all(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.write(b"first\nsecond\n" + b" " * 9_000)
        file.truncate(20_000_000_000)
    assert run(Read(tmp_path), file_path="f", limit=1).text.startswith("     1\tfirst\n[more")


def test_one_endless_line_is_cut(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("y" * 3_000_000 + "\nlast\n")
    ran = run(Read(tmp_path), file_path="f")
    assert "more than 2,000 characters" in ran.text
    assert ran.text.endswith("     2\tlast\n")


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"\x89PNG\r\n\x1a\n" + b"\0" * 92, "a PNG image of 100 bytes"), (b"a\0b", "binary data of 3 bytes")],
)
def test_images_and_binary_files_are_refused_with_kind_and_size(tmp_path: Path, data: bytes, kind: str) -> None:
    (tmp_path / "f").write_bytes(data)
    ran = run(Read(tmp_path), file_path="f")
    assert ran.state is ToolResultState.ERROR
    assert kind in ran.text


def test_other_encodings_are_shown_as_well_as_can_be_and_said(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9\r\n")
    assert (
        run(Read(tmp_path), file_path="f").text == "     1\tcaf\ufffd\n\n[bytes that are not UTF-8 are shown as \ufffd]"
    )


def test_a_byte_order_mark_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\n")
    assert run(Read(tmp_path), file_path="f").text == "     1\ta\n"


def test_a_file_that_is_not_there_names_similar_ones(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    ran = run(Read(tmp_path), file_path="Readme.txt")
    assert ran.state is ToolResultState.ERROR
    assert "There is no file" in ran.text
    assert "README.md" in ran.text
    assert "what exists is " + str(tmp_path) in run(Read(tmp_path), file_path="a/b/c").text


@pytest.mark.parametrize("path", [".", "pipe", "/dev/zero", "/proc/self/environ", "a\0b", "\ud800"])
def test_what_is_no_file_is_refused_and_nothing_hangs(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert run(Read(tmp_path), file_path=path).state is ToolResultState.ERROR


def test_names_in_any_script_work(tmp_path: Path) -> None:
    (tmp_path / "报告 ü.txt").write_text("内容\n")
    assert run(Read(tmp_path), file_path="报告 ü.txt").text == "     1\t内容\n"


def test_a_link_is_followed_where_it_led_when_the_call_was_judged(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n")
    (tmp_path / "b").write_text("b\n")
    (tmp_path / "link").symlink_to("a")
    read = Read(tmp_path)
    read.units({"file_path": "link"}, NO_RULES)
    assert run(read, file_path="link").ok
    read.units({"file_path": "link"}, NO_RULES)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    ran = run(read, file_path="link")
    assert ran.state is ToolResultState.ERROR
    assert "when this call was judged" in ran.text


def test_its_unit_is_one_file_that_is_read(tmp_path: Path) -> None:
    (unit,) = Read(tmp_path).units({"file_path": "f"}, NO_RULES)
    assert isinstance(unit, FileUnit)
    assert (unit.op, unit.path, unit.rule_tools) == ("read", str(tmp_path / "f"), ("Read",))
    assert isinstance(Read(tmp_path).units({"file_path": 7}, NO_RULES)[0], OpaqueUnit)


def test_bad_arguments_are_refused() -> None:
    kit = Toolkit([read := Read()])
    for text in ('{"file_path": ""}', '{"file_path": "a", "offset": 0}', '{"file_path": "a", "limit": "3"}', "{}"):
        with pytest.raises(ValueError, match="Read was not run"):
            kit.parse(read, text)

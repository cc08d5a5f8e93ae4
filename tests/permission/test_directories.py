"""Which directories are working directories: where edits may be accepted."""

import os
from pathlib import Path

import pytest

from judging import Files, Shell, World


def test_the_directory_of_the_process_is_a_working_directory(world: World) -> None:
    world.under(mode="accept_edits")
    assert world.said("touch build/x") == "allow"
    assert world.said("touch ../outside/x") == "ask"


def test_the_directory_of_a_tool_is_not_one_by_itself(world: World) -> None:
    world.under(mode="accept_edits")
    there = str(world.root / "outside")
    assert world.decide(Shell(there), {"command": "touch x"}).behavior == "ask"
    assert world.decide(Files("Write", there), {"file_path": "x"}).behavior == "ask"
    world.under(mode="accept_edits", directories=[world.root / "outside"])
    assert world.decide(Shell(there), {"command": "touch x"}).behavior == "allow"
    assert world.decide(Files("Write", there), {"file_path": "x"}).behavior == "allow"


@pytest.mark.parametrize("above", ["/", ".."])
def test_a_directory_above_the_home_directory_is_not_one(
    world: World, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    monkeypatch.chdir(Path(os.path.normpath(world.work / above)))
    assert world.under(mode="accept_edits").write("build/x") == "ask"


def test_neither_working_directories_nor_a_tools_own_may_be_removed(world: World) -> None:
    world.under(mode="accept_edits", directories=[world.root / "outside"])
    for command in ("rm -rf ../work", "rm -rf .", "rm -r ../outside", "rm -rf ~"):
        decision = world.bash(command)
        assert (decision.behavior, decision.bypass_immune) == ("ask", True), command

"""A second parser, shfmt's: every simple command that it sees is one of our units, or the whole call asks.

SAYSO_FUZZ=N makes N times as many texts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shell_text
from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, OpaqueUnit

FUZZ = int(os.environ.get("SAYSO_FUZZ", "1"))
SHFMT = shutil.which("shfmt") or str(Path(sys.executable).with_name("shfmt"))
CASES = Path(__file__).parents[1] / "cases.jsonl"
OWN = [
    command for line in CASES.read_text("utf-8").splitlines() if (command := json.loads(line)["input"].get("command"))
]
# shfmt continues a comment that ends in a backslash; Bash does not.
CONTINUED_COMMENT = re.compile(r"#[^\n]*\\\n")


def tree(text: str) -> Any:
    """shfmt's tree, or None where it sees no valid text."""
    done = subprocess.run([SHFMT, "-ln", "bash", "--to-json"], input=text.encode(), capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def literal(word: dict[str, Any]) -> str | None:
    """The text of a word as shfmt cuts it, or None where it is not literal."""
    found = ""
    for part in word.get("Parts", []):
        value = part.get("Value", "")
        match part["Type"]:
            case "Lit" if not re.search(r"(?<!\\)[*?\[{~]", value):
                found += re.sub(r"\\(\n|.)", lambda match: match[1].replace("\n", ""), value, flags=re.DOTALL)
            case "SglQuoted" if not part.get("Dollar"):
                found += value
            case "DblQuoted" if not part.get("Dollar") and all(p["Type"] == "Lit" for p in part.get("Parts", [])):
                inner = "".join(p.get("Value", "") for p in part.get("Parts", []))
                found += re.sub(r'\\([$`"\\\n])', lambda match: match[1].replace("\n", ""), inner)
            case _:
                return None
    return found


def calls(node: Any) -> Iterator[list[str | None]]:
    """The simple commands of a tree."""
    if isinstance(node, dict):
        if node.get("Type") == "CallExpr" and node.get("Args"):
            yield [literal(word) for word in node["Args"]]
        for value in node.values():
            yield from calls(value)
    elif isinstance(node, list):
        for value in node:
            yield from calls(value)


def unseen(text: str) -> list[list[str | None]] | None:
    """Simple commands that shfmt sees and we do not; None if the call asks or shfmt sees no valid text."""
    units = shell_units(text, cwd="/w", home="/h", workspace=["/w"])
    if any(isinstance(unit, OpaqueUnit) for unit in units) or CONTINUED_COMMENT.search(text):
        return None
    found = tree(text)
    if found is None:
        return None
    own = [[word.text for word in unit.argv] for unit in units if isinstance(unit, CommandUnit)]
    return [call for call in calls(found) if not any(same(call, words) for words in own)]


def same(theirs: list[str | None], ours: list[str | None]) -> bool:
    """Whether these may be one command: a word that is not literal for either may be any."""
    return len(theirs) == len(ours) and all(a is None or b is None or a == b for a, b in zip(theirs, ours, strict=True))


def test_every_simple_command_that_shfmt_sees_in_our_cases_is_a_unit() -> None:
    commands = [command for command in OWN if command.isprintable() or "\n" in command]
    answers = {command: unseen(command) for command in commands}
    assert {command: answer for command, answer in answers.items() if answer} == {}
    assert sum(answer is not None for answer in answers.values()) > 100


@pytest.mark.parametrize(
    ("make", "count", "least"),
    [(shell_text.program, 150, 50), (shell_text.damaged, 150, 20), (shell_text.soup, 200, 2)],
)
def test_every_simple_command_that_shfmt_sees_in_random_text_is_a_unit(
    make: Callable[[int], str], count: int, least: int
) -> None:
    answers = {text: unseen(text) for text in map(make, range(count * FUZZ))}
    assert {text: answer for text, answer in answers.items() if answer} == {}
    assert sum(answer is not None for answer in answers.values()) >= least * FUZZ

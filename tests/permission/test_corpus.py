"""Calls with the verdict that must come out: our own, and a larger collection where it lies beside the repository."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judging import Files, Shell, World
from sayso.permission import PermissionBehavior, PermissionRule

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text("utf-8").splitlines()]
CORPUS = HERE.parents[2] / "shared" / "corpus" / "score.py"


def ids(case: dict[str, Any]) -> str:
    return f"{case['id']} {next(iter(case['input'].values()))[:40]!r}"


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_case_of_our_own_comes_out_as_written(world: World, case: dict[str, Any]) -> None:
    rules = [PermissionRule(tool_name=t, rule_content=c, behavior=PermissionBehavior(b)) for b, t, c in case["rules"]]
    world.under(*rules, mode=case["mode"])
    cwd = str(world.work)
    decision = world.decide(Shell(cwd) if case["tool"] == "Bash" else Files(case["tool"], cwd), case["input"])
    assert decision.behavior in {case["expect"], *case.get("also", [])}, decision.decision_reason
    if case.get("immune"):
        assert decision.bypass_immune, decision.decision_reason


def test_the_cases_are_many_and_each_has_a_name_of_its_own() -> None:
    assert len(CASES) >= 150
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_the_collection_beside_the_repository_has_no_silent_allow_and_no_needless_ask() -> None:
    if not CORPUS.exists() or importlib.util.find_spec("sayso.tool") is None:
        assert {case["expect"] for case in CASES} == {"allow", "ask", "deny"}  # our own stand in for it
        return
    done = subprocess.run(
        [sys.executable, str(CORPUS)], capture_output=True, text=True, check=True, env={**os.environ, "HOME": "/root"}
    )
    score = json.loads(done.stdout.splitlines()[-1])
    for kind in ("silent_allow", "deny_lost", "errors", "immune_missing", "suggest_wide", "suggest_useless"):
        assert score[kind] == 0, kind
    assert score["needless"] <= 0.02 * score["must_allow"]

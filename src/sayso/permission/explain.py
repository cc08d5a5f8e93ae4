"""Why a command would be allowed, asked about or denied; and what a rule matches, in one sentence.

Owns the words. Decides nothing: the engine's own judgement is what is shown, unit by unit.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sayso.permission.context import PermissionContext
from sayso.permission.decision import PermissionDecision
from sayso.permission.engine import PermissionEngine
from sayso.permission.path import home_directory
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import FILE_TOOLS, UnitVerdict
from sayso.permission.unit import CallUnit, CommandUnit, FileUnit, OpaqueUnit, Unit
from sayso.visible import visible

__all__ = ["Explanation", "UnitExplanation", "describe_rule", "explain"]


@dataclass(frozen=True, slots=True)
class UnitExplanation:
    """One part of a command. what: what it does, in words; reason: the rule or check that decides it."""

    what: str
    behavior: PermissionBehavior
    reason: str
    rule: PermissionRule | None = None
    safety: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """A command, taken apart and judged. `str()` is text for a terminal, with nothing in it that one would obey."""

    command: str
    behavior: PermissionBehavior
    reason: str
    units: tuple[UnitExplanation, ...]

    def __str__(self) -> str:
        width = max((len(unit.what) for unit in self.units), default=0)
        width = min(width, 60)
        lines = [f"  {unit.behavior:<5}  {unit.what:<{width}}  {unit.reason}" for unit in self.units]
        return visible("\n".join([*lines, f"{self.behavior}: {self.reason}"]))


@dataclass(frozen=True, slots=True)
class _Shell:
    """A shell tool that only says what a command would do."""

    cwd: str
    home: str
    name: str = "Bash"
    is_read_only: bool = False
    is_external_tool: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"command": {"type": "string"}}}

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        from sayso.permission.shell.units import shell_units

        workspace = [self.cwd, *context.working_directories]
        command = tool_input["command"]
        return shell_units(command, cwd=self.cwd, home=self.home, workspace=workspace, exported=os.environ)

    async def check_permissions(self, tool_input: dict[str, Any], context: Any) -> PermissionDecision | None:
        return None

    def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool | None:
        return None

    def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        return []


def explain(
    command: str,
    *,
    context: PermissionContext,
    cwd: str | os.PathLike[str],
    policy: PermissionContext | None = None,
    home: str | None = None,
) -> Explanation:
    """What the engine says of a Bash command in `cwd`, and why, part by part. Runs nothing and raises nothing."""
    tool = _Shell(os.path.realpath(cwd), home or home_directory())
    engine = PermissionEngine(context, policy=policy, home=home)
    judgement = engine.judge_call(tool, {"command": command})
    behavior, reason = engine.settle(judgement)
    units = tuple(
        UnitExplanation(_what(verdict), verdict.behavior, verdict.reason, verdict.rule, verdict.safety)
        for verdict in judgement.verdicts
    )
    return Explanation(command, behavior, reason, units)


def _what(verdict: UnitVerdict) -> str:
    match verdict.unit:
        case CommandUnit() as unit:
            words = " ".join(word.source for word in unit.argv)
            settings = "".join(f"{name}={word.source} " for name, word in unit.assignments)
            return f"runs {settings}{words}" if words else f"sets {settings.strip()}"
        case FileUnit() as unit:
            return f"{_DOES[unit.op]} {unit.path or unit.source or 'an unknown path'}"
        case OpaqueUnit() as unit:
            return f"is not understood: {unit.source}" if unit.source else "is not understood"
        case CallUnit():
            return "calls the tool"


_DOES = {"read": "reads", "write": "writes", "remove": "removes", "search": "searches"}


# -- rules in words -----------------------------------------------------------------------------------

_VERB = {
    PermissionBehavior.ALLOW: "Allows",
    PermissionBehavior.DENY: "Denies",
    PermissionBehavior.ASK: "Asks before",
}
_FILES = {
    "Read": "reading",
    "Write": "writing",
    "Edit": "editing",
    "Grep": "searching in",
    "Glob": "listing",
}


def describe_rule(rule: PermissionRule) -> str:
    """One sentence that says exactly which calls a rule is about. Safe to print."""
    verb, content = _VERB[rule.behavior], rule.rule_content
    if content is None:
        said = f"{verb} every call of {rule.tool_name}."
    elif rule.tool_name == "Bash":
        from sayso.permission.shell.match import explain_pattern

        said = f"{verb} {explain_pattern(content)}."
    elif rule.tool_name in FILE_TOOLS:
        said = f"{verb} {_FILES[rule.tool_name]} {_described_glob(rule, content)}."
    else:
        said = f"{verb} calls of {rule.tool_name} whose arguments match {content}."
    return visible(said)


def _described_glob(rule: PermissionRule, content: str) -> str:
    where = "" if content.startswith(("/", "~")) else " in the working directory"
    stem = content.removesuffix("/**").removesuffix("/")
    if content.endswith(("/", "/**")) and not any(mark in stem for mark in "*?["):
        return f"any file below {stem or '/'}{where}"
    if not any(mark in content for mark in "*?["):
        below = "" if rule.behavior is PermissionBehavior.ALLOW else " and anything below it"
        return f"the file {content}{where}{below}"
    if "/" not in content and rule.behavior is not PermissionBehavior.ALLOW:
        return f"any path with a name that matches {content}, anywhere"
    return f"files that match {content}{where}"

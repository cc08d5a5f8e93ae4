"""What a judgement is made under, and what it is: the value types and last steps that every kind of unit shares.

Owns how a reason reads and what happens to a unit that neither a rule nor a check decided. Knows no kind of unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sayso.permission.context import PermissionMode
from sayso.permission.decision import PermissionDecision
from sayso.permission.index import Tables
from sayso.permission.path import ResolvedPath, resolve
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.unit import Unit

__all__ = ["FILE_TOOLS", "JudgedTool", "Setting", "UnitVerdict", "by_rule", "cite", "overrides", "refused"]

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
FILE_TOOLS = ("Read", "Write", "Edit", "Grep", "Glob")


class JudgedTool(Protocol):
    """What the engine needs of a tool (`sayso.tool.base.ToolBase`)."""

    @property
    def name(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def is_external_tool(self) -> bool: ...
    def units(self, tool_input: dict[str, Any], context: Any) -> Sequence[Unit]: ...
    async def check_permissions(self, tool_input: dict[str, Any], context: Any) -> PermissionDecision | None: ...
    def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool | None: ...
    def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]: ...


def overrides(tool: JudgedTool, method: str) -> bool:
    """Whether the tool replaces what the protocol gives it. Told by where a method was written: tools are above us."""
    return getattr(getattr(type(tool), method), "__module__", None) != "sayso.tool.base"


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """What is said of one unit. reason names the rule or check; safety: no allow rule silences this ask.

    certain: False where the rule may or may not hold, which only running would tell.
    """

    unit: Unit
    behavior: PermissionBehavior
    reason: str
    rule: PermissionRule | None = None
    safety: bool = False
    certain: bool = True


def cite(rule: PermissionRule) -> str:
    """A rule as a reason names it: `deny rule Bash(rm:*) from session`."""
    content = "" if rule.rule_content is None else f"({rule.rule_content})"
    return f"{rule.behavior} rule {rule.tool_name}{content} from {rule.source}"


def by_rule(unit: Unit, rule: PermissionRule, certain: bool = True) -> UnitVerdict:
    """What a rule says of a unit that it holds for: certainly, or possibly, which asks."""
    if certain:
        return UnitVerdict(unit, rule.behavior, cite(rule), rule)
    return UnitVerdict(unit, ASK, f"{cite(rule)} may apply", rule, certain=False)


@dataclass(slots=True, kw_only=True)
class Setting:
    """One judgement's surroundings.

    base: the tool's directory, from which relative globs start. directories: the working directories, in which edits
    may be accepted: the process's own and those that were added. A tool's directory is not one by itself: whoever made
    the tool chose where it starts, not what it may change.
    opinion: what the tool itself says of the call.
    """

    tables: Tables
    tool: JudgedTool
    mode: PermissionMode
    base: str
    home: str
    directories: Sequence[str]
    opinion: PermissionDecision | None = None
    _places: list[ResolvedPath] | None = field(default=None, init=False)
    _guarded: bool | None = field(default=None, init=False)

    @property
    def exploring(self) -> bool:
        """Only what is proven to read runs."""
        return self.mode is PermissionMode.EXPLORE

    @property
    def bypassing(self) -> bool:
        """What nothing forbids runs."""
        return self.mode is PermissionMode.BYPASS

    @property
    def places(self) -> list[ResolvedPath]:
        """The working directories in both their forms."""
        if self._places is None:
            self._places = [resolve(directory, cwd=self.base) for directory in self.directories]
        return self._places

    @property
    def kept(self) -> list[str]:
        """What must not be removed: the working directories and the tool's own."""
        return [self.base, *self.directories]

    @property
    def guards_files(self) -> bool:
        """Whether a deny or ask rule speaks about files."""
        if self._guarded is None:
            self._guarded = self.tables.forbid(FILE_TOOLS)
        return self._guarded

    def rest(self, unit: Unit, what: str, *, in_edits: bool = False) -> UnitVerdict:
        """Nothing forbids the unit and no rule covers it: the tool's own opinion decides, then the mode.

        in_edits: it changes only files inside the working directories.
        """
        opinion = self.opinion
        if opinion is not None and opinion.behavior is ALLOW:
            return UnitVerdict(unit, ALLOW, "the tool's own check allows it")
        if opinion is not None and opinion.behavior is ASK:
            return UnitVerdict(unit, ASK, f"the tool's own check asks: {opinion.decision_reason or opinion.message}")
        if self.mode is PermissionMode.ACCEPT_EDITS and in_edits:
            return UnitVerdict(unit, ALLOW, f"mode accept_edits: {what} stays inside the working directories")
        return UnitVerdict(unit, ASK, f"no rule covers {what}")


def refused(unit: Unit, what: str) -> UnitVerdict:
    """What explore mode says of anything that is not proven to only read."""
    return UnitVerdict(unit, DENY, f"mode explore: {what} is not proven to only read")

"""Judging one unit: which rule or check decides, in the order that the design fixes.

    deny rule > ask rule > proven read-only > safety ask > allow rule > the tool's own opinion > the mode

Owns that order for whole calls and for what is not understood; judge_file.py and judge_command.py have it for files
and commands. Knows nothing of how rules are found (index.py).
"""

from sayso.permission.index import ArgumentRules
from sayso.permission.judge_file import FileJudge
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import FILE_TOOLS, Setting, UnitVerdict, by_rule, overrides, refused
from sayso.permission.unit import CallUnit, CommandUnit, FileUnit, OpaqueUnit, Unit

__all__ = ["Judge"]

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


class Judge:
    """Judges the units of one call."""

    def __init__(self, setting: Setting) -> None:
        self._s = setting
        self._files = FileJudge(setting)

    def judge(self, unit: Unit) -> UnitVerdict:
        """The verdict of one unit, before a person's yes and before `dont_ask`."""
        match unit:
            case CommandUnit():
                from sayso.permission.judge_command import CommandJudge

                return CommandJudge(self._s, self._files).judge(unit)
            case FileUnit():
                return self._files.judge(unit)
            case CallUnit():
                return self._call(unit)
            case OpaqueUnit():
                return self._opaque(unit)

    def _call(self, unit: CallUnit) -> UnitVerdict:
        tool, what = self._s.tool, f"this call of {self._s.tool.name}"
        denied = self._call_rule(unit, DENY)
        if denied is not None and denied[0]:
            return by_rule(unit, denied[1])
        if self._s.exploring and not tool.is_read_only:
            return refused(unit, what)
        if (hit := denied or self._call_rule(unit, ASK)) is not None:
            return by_rule(unit, hit[1], certain=hit[0])
        if tool.is_read_only:
            return UnitVerdict(unit, ALLOW, f"{tool.name} is declared to only read")
        if self._s.bypassing:
            return UnitVerdict(unit, ALLOW, "mode bypass")
        if (hit := self._call_rule(unit, ALLOW)) is not None:
            return by_rule(unit, hit[1])
        if tool.is_external_tool and (self._s.opinion is None or self._s.opinion.behavior is not ASK):
            return UnitVerdict(unit, ALLOW, f"{tool.name} runs outside: whether it does is decided there")
        return self._s.rest(unit, what)

    def _call_rule(self, unit: CallUnit, behavior: PermissionBehavior) -> tuple[bool, PermissionRule] | None:
        """The rule that holds: certainly (True) or possibly. The tool's own `match_rule` speaks first."""
        tables = self._s.tables.allowing(self._s.tool.name) if behavior is ALLOW else ()
        for table in tables or (self._s.tables.table(behavior, self._s.tool.name),):
            if table.every is not None:
                return True, table.every
            if not table.rules:
                continue
            arguments = table.arguments
            if overrides(self._s.tool, "match_rule"):
                answers = [(self._s.tool.match_rule(rule.rule_content, unit.tool_input), rule) for rule in table.rules]
                if (own := next((rule for yes, rule in answers if yes), None)) is not None:
                    return True, own
                left = [rule for yes, rule in answers if yes is None]
                arguments = ArgumentRules(left, refusing=behavior is not ALLOW)
            if behavior is ALLOW:
                if (covering := arguments.covering(unit.tool_input, self._s.tool.input_schema)) is not None:
                    return True, covering
            elif (found := arguments.holding(unit.tool_input, self._s.tool.input_schema)) is not None:
                return found
        return None

    def _opaque(self, unit: OpaqueUnit) -> UnitVerdict:
        if self._s.exploring:
            return refused(unit, "what is not understood")
        if not self._s.bypassing:
            return UnitVerdict(unit, ASK, f"not understood: {unit.why}", safety=True)
        for behavior in (DENY, ASK):
            for tool in (self._s.tool.name, *FILE_TOOLS):
                if rules := self._s.tables.table(behavior, tool).rules:
                    return by_rule(unit, rules[0], certain=False)
        return UnitVerdict(unit, ALLOW, "mode bypass")

"""Judging a file operation: rules on its path, what it reveals, what it would put in danger.

Owns the order of checks for a `FileUnit`. What a glob matches is glob.py's, what a path means is path.py's.
"""

from sayso.permission.files import FileRules
from sayso.permission.path import ResolvedPath, inside, is_secret, is_sensitive, is_sink, resolve
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import Setting, UnitVerdict, by_rule, refused
from sayso.permission.unit import FileUnit

__all__ = ["FileJudge"]

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
_DOING = {"read": "reading", "write": "writing", "remove": "removing", "search": "searching"}


class FileJudge:
    """Judges file operations under one setting."""

    def __init__(self, setting: Setting) -> None:
        self._s = setting

    def judge(self, unit: FileUnit) -> UnitVerdict:
        """The verdict of one file operation."""
        path = self.resolved(unit)
        reads = unit.op in ("read", "search")
        what = f"{_DOING[unit.op]} an unknown path" if unit.path is None else f"{_DOING[unit.op]} {unit.path!r}"
        found = self.forbidden(unit, path)
        if found is not None and (found.behavior is DENY or reads):
            return found
        if reads:
            return self._read(unit, path, what)
        if path is not None and is_sink(path) and found is None:
            return UnitVerdict(unit, ALLOW, f"{path.lexical} keeps nothing that is written to it")
        if self._s.exploring:
            return refused(unit, what)
        if not self._s.bypassing and path is not None and (why := self.unsafe(unit, path)) is not None:
            return UnitVerdict(unit, ASK, f"safety: {what}: {why}", safety=True)
        if found is not None:
            return found
        if self._s.bypassing:
            return UnitVerdict(unit, ALLOW, "mode bypass")
        if (rule := self._covering(unit, path)) is not None:
            return by_rule(unit, rule)
        return self._s.rest(unit, what, in_edits=path is not None and self.is_inside(path))

    def _read(self, unit: FileUnit, path: ResolvedPath | None, what: str) -> UnitVerdict:
        """Reading changes nothing; but for keys and for what another process would see, it may always be done."""
        content = unit.rule_tools[:1] != ("Glob",)
        why = None
        if path is not None and content:
            why = path.outside or next((why for form in path.forms if (why := is_secret(form))), None)
            if why is None and unit.op == "search" and any(inside(self._s.home, form) for form in path.forms):
                why = "the home directory holds keys and credentials"
        if why is None or self._s.bypassing:
            return UnitVerdict(unit, ALLOW, "reading changes nothing" if why is None else "mode bypass")
        if (rule := self._covering(unit, path)) is not None and not self._s.exploring:
            return by_rule(unit, rule)
        return UnitVerdict(unit, ASK, f"{what}: {why}")

    def resolved(self, unit: FileUnit) -> ResolvedPath | None:
        """Where the unit's path lies, None where that is not known."""
        if unit.path is None:
            return None
        path = f"./{unit.path}" if unit.path.startswith("~") else unit.path
        try:
            return resolve(path, cwd=unit.cwd)
        except ValueError:
            return None

    def forbidden(self, unit: FileUnit, path: ResolvedPath | None) -> UnitVerdict | None:
        """The deny rule, else the ask rule, that holds or may hold for the path or for something below it."""
        for behavior in (DENY, ASK):
            possible: PermissionRule | None = None
            for tool in unit.rule_tools:
                table = self._s.tables.table(behavior, tool)
                if not table.rules:
                    continue
                rules = table.files(self._s.base, self._s.home)
                if (rule := rules.every if path is None else rules.holding(path)) is not None:
                    return by_rule(unit, rule)
                possible = possible or self._possible(unit, path, rules) or table.every
            if possible is not None:
                return by_rule(unit, possible, certain=False)
        return None

    def _possible(self, unit: FileUnit, path: ResolvedPath | None, rules: FileRules) -> PermissionRule | None:
        if rules.broken is not None:
            return rules.broken
        if path is None or path.outside is not None:
            return rules.first
        if unit.op in ("search", "remove"):
            for form in path.forms:
                for _glob, rule in rules.below(form, unit.excludes):
                    return rule
        return None

    def _covering(self, unit: FileUnit, path: ResolvedPath | None) -> PermissionRule | None:
        """The allow rule that covers the unit: one of its first tool, or one for every call of the tool at hand."""
        if path is None or path.outside is not None:
            return None
        for table in self._s.tables.allowing(self._s.tool.name):
            if table.every is not None:
                return table.every
        for table in self._s.tables.allowing(unit.rule_tools[0]) if unit.rule_tools else ():
            if table.rules and (rule := table.files(self._s.base, self._s.home).covering(path)) is not None:
                return rule
        return None

    def unsafe(self, unit: FileUnit, path: ResolvedPath) -> str | None:
        """Why no allow rule may silence the ask for changing what lies there, or None."""
        workspace = [form for place in self._s.places for form in place.forms]
        for form in path.forms:
            if (why := is_sensitive(form, workspace=workspace, home=self._s.home)) is not None:
                return why
            if unit.op == "remove" and any(inside(kept, form) for kept in (self._s.home, *workspace)):
                return "a working directory or the home directory lies there"
        return path.outside

    def is_inside(self, path: ResolvedPath) -> bool:
        """Whether both forms lie below a working directory."""
        if path.outside is not None:
            return False
        places = self._s.places
        return any(inside(path.real, place.real) for place in places) and any(
            inside(path.lexical, form) for place in places for form in place.forms
        )

"""Judging a file operation: rules on its path, what it reveals, what it would put in danger.

Owns the order of checks for a `FileUnit`. What a glob matches is glob.py's, what a path means is path.py's.
"""

from dataclasses import replace

from sayso.permission.files import FileRules
from sayso.permission.path import ResolvedPath, inside, is_secret, is_sensitive, is_sink, may_be_secret, resolve
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
        reads = unit.op in ("read", "search")
        if reads and unit.rule_tools[:1] == ("Glob",) and not self._s.tables.forbid(unit.rule_tools):
            return UnitVerdict(unit, ALLOW, "names are read, and no content")
        path = self.resolved(unit)
        named = unit.path if unit.path is not None else unit.source if unit.prefix else None
        what = f"{_DOING[unit.op]} an unknown path" if named is None else f"{_DOING[unit.op]} {named!r}"
        found = self.forbidden(unit, path)
        if found is not None and (found.behavior is DENY or reads):
            return found
        if reads:
            return self._read(unit, path, what)
        if path is not None and is_sink(path) and found is None:
            return UnitVerdict(unit, ALLOW, f"{path.lexical} keeps nothing that is written to it")
        if self._s.exploring:
            return refused(unit, what)
        if not self._s.bypassing and (why := self.unsafe(unit, path)) is not None:
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
        why = self._revealing(unit, path) if unit.rule_tools[:1] != ("Glob",) else None
        if why is None or self._s.bypassing:
            return UnitVerdict(unit, ALLOW, "reading changes nothing" if why is None else "mode bypass")
        if (rule := self._covering(unit, path)) is not None and not self._s.exploring:
            return by_rule(unit, rule)
        return UnitVerdict(unit, ASK, f"{what}: {why}")

    def _revealing(self, unit: FileUnit, path: ResolvedPath | None) -> str | None:
        """Why what lies there is not read like anything else."""
        if path is None:
            if unit.path is not None:
                return is_secret(unit.path)  # relative to a directory that is not known
            if not _is_glob(unit):
                return None
            directory, _, name = unit.prefix.rpartition("/")
            if may_be_secret(name):
                return "it may match what holds keys or credentials"
            path = self.resolved(replace(unit, path=directory or ("/" if unit.prefix.startswith("/") else ".")))
            if path is None:
                return None
        if path.outside is not None:
            return path.outside
        if unit.op == "search" and any(inside(self._s.home, form) for form in path.forms):
            return "the home directory holds keys and credentials"
        return next((why for form in path.forms if (why := is_secret(form))), None)

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
        if not self._s.tables.forbid(unit.rule_tools):
            return None
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

    def unsafe(self, unit: FileUnit, path: ResolvedPath | None) -> str | None:
        """Why no allow rule may silence the ask for changing what lies there, or None."""
        if path is None:
            return None if unit.path is None else is_sensitive(f"/{unit.path}", home=self._s.home)
        workspace = [self._s.base, *(form for place in self._s.places for form in place.forms)]
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


def _is_glob(unit: FileUnit) -> bool:
    """Whether wildcards are all that is unknown: then no match leaves the directory in which they begin."""
    return bool(unit.prefix) and not set("$`{") & set(unit.source) and ".." not in unit.source

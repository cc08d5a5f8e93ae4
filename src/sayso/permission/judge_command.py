"""Judging one simple command of a shell text: rules on its words, rules on the files it touches, proofs, safety.

Owns the order of checks for a `CommandUnit`. What a pattern matches, what only reads, what is dangerous and what is
edited are the shell package's.
"""

import os
from collections.abc import Iterable, Sequence

from sayso.permission.judge_file import FileJudge
from sayso.permission.path import is_sink
from sayso.permission.rule import PermissionBehavior
from sayso.permission.setting import FILE_TOOLS, Setting, UnitVerdict, by_rule, refused
from sayso.permission.shell.edits import edit_units
from sayso.permission.shell.match import Match
from sayso.permission.shell.readonly import Proof, prove
from sayso.permission.shell.safety import safety
from sayso.permission.unit import CommandUnit, FileUnit

__all__ = ["CommandJudge"]

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
# Words of one command that are looked up as paths when file rules forbid some; more of them may be anything.
MOST_WORDS = 256


class CommandJudge:
    """Judges commands under one setting."""

    def __init__(self, setting: Setting, files: FileJudge) -> None:
        self._s = setting
        self._files = files

    def judge(self, unit: CommandUnit) -> UnitVerdict:
        """The verdict of one command."""
        proof = prove(unit) if unit.needs_cover or self._s.guards_files else None
        edits = edit_units(unit) if proof is None else None
        touched: Sequence[FileUnit] = proof.reads if proof is not None else edits or ()
        found = self._forbidden_command(unit, touched, known=proof is not None or edits is not None)
        if found is not None and found.behavior is DENY:
            return found
        if self._s.exploring and unit.needs_cover and proof is None:
            return refused(unit, _name(unit))
        if proof is None and not self._s.bypassing and (why := self._unsafe(unit, touched)) is not None:
            return UnitVerdict(unit, ASK, f"safety: {_name(unit)}: {why}", safety=True)
        if found is not None:
            return found
        if not unit.needs_cover:
            return UnitVerdict(unit, ALLOW, "it is judged as part of another command")
        return self._uncovered(unit, edits) if proof is None else self._proven(unit, proof)

    def _uncovered(self, unit: CommandUnit, edits: Sequence[FileUnit] | None) -> UnitVerdict:
        if self._s.bypassing:
            return UnitVerdict(unit, ALLOW, "mode bypass")
        for table in self._s.tables.allowing(self._s.tool.name):
            if table.every is not None:
                return by_rule(unit, table.every)
            if table.rules and (rule := table.commands.covering(unit)) is not None:
                secret = next((v for v in self._reads(edits or ()) if v.behavior is not ALLOW), None)
                return by_rule(unit, rule) if secret is None else UnitVerdict(unit, ASK, secret.reason)
        in_edits = edits is not None and all(self._may_edit(edit) for edit in edits)
        return self._s.rest(unit, _name(unit), in_edits=in_edits)

    def _proven(self, unit: CommandUnit, proof: Proof) -> UnitVerdict:
        for read in self._reads(proof.reads):
            if read.behavior is not ALLOW:
                return UnitVerdict(unit, read.behavior, read.reason, read.rule)
        return UnitVerdict(unit, ALLOW, f"read-only: {proof.why}")

    def _reads(self, touched: Iterable[FileUnit]) -> Iterable[UnitVerdict]:
        return (self._files.judge(file) for file in touched if file.op in ("read", "search"))

    def _may_edit(self, edit: FileUnit) -> bool:
        if edit.op in ("read", "search"):
            return self._files.judge(edit).behavior is ALLOW
        path = self._files.resolved(edit)
        return path is not None and (is_sink(path) or self._files.is_inside(path))

    def _unsafe(self, unit: CommandUnit, touched: Sequence[FileUnit]) -> str | None:
        if (why := safety(unit, home=self._s.home, workspace=self._s.directories)) is not None:
            return why
        for file in touched:
            path = self._files.resolved(file) if file.op in ("write", "remove") else None
            if path is not None and not is_sink(path) and (why := self._files.unsafe(file, path)) is not None:
                return why
        return None

    def _forbidden_command(self, unit: CommandUnit, touched: Sequence[FileUnit], *, known: bool) -> UnitVerdict | None:
        """The deny rule, else the ask rule, that holds or may hold for the command or a file that it touches."""
        found: list[UnitVerdict] = []
        for behavior in (DENY, ASK):
            table = self._s.tables.table(behavior, self._s.tool.name)
            if table.rules and (hit := table.commands.holding(unit)) is not None:
                match, rule = hit
                found.append(by_rule(unit, rule, certain=match is Match.CERTAIN))
        if self._s.guards_files:
            files = touched if known else self._operands(unit)
            for file in files:
                verdict = self._files.forbidden(file, self._files.resolved(file))
                if verdict is not None and verdict.rule is not None:
                    found.append(by_rule(unit, verdict.rule, certain=known and verdict.certain))
        return min(found, key=_strictness, default=None)

    def _operands(self, unit: CommandUnit) -> list[FileUnit]:
        """Words of a command of unknown meaning that look like paths: what it does with them is not known."""
        found: list[FileUnit] = []
        for word in unit.argv[1 : MOST_WORDS + 1]:
            for text in _path_like(word.text):
                found.append(FileUnit(op="search", path=text, cwd=unit.cwd, rule_tools=FILE_TOOLS, source=word.source))
        return found


def _strictness(verdict: UnitVerdict) -> int:
    return (DENY, ASK, ALLOW).index(verdict.behavior)


def _name(unit: CommandUnit) -> str:
    """A command as a reason names it: by its first word only, as the others may hold a secret."""
    head = unit.argv[0].text if unit.argv else None
    return "a command of unknown name" if head is None else f"the command {os.path.basename(head) or head!r}"


def _path_like(text: str | None) -> Iterable[str]:
    """What in a word may be a path: the word, what follows `=`, what follows curl's `@`."""
    if text is None or ("/" not in text and "." not in text):
        return
    yield text
    if "=" in text:
        yield text.partition("=")[2] or "."
    if "@" in text:
        yield text.rpartition("@")[2] or "."

"""Judging one simple command of a shell text: rules on its words, rules on the files it touches, proofs, safety.

Owns the order of checks for a `CommandUnit`. What a pattern matches, what only reads, what is dangerous and what is
edited are the shell package's.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

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
        found = self._forbidden(unit, touched if proof is not None or edits is not None else None)
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
            if table.rules and not self._elsewhere(unit) and (rule := table.commands.covering(unit)) is not None:
                secret = next((v for v in self._reads(edits or ()) if v.behavior is not ALLOW), None)
                return by_rule(unit, rule) if secret is None else UnitVerdict(unit, ASK, secret.reason)
        in_edits = edits is not None and all(self._may_edit(edit) for edit in edits)
        return self._s.rest(unit, _name(unit), in_edits=in_edits)

    def _elsewhere(self, unit: CommandUnit) -> bool:
        """Whether its name is a path that, after a `cd`, is another file than the one a rule was made for."""
        head = unit.argv[0].text if unit.argv else None
        return head is not None and "/" in head and not head.startswith("/") and unit.cwd != self._s.base

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
        if (why := safety(unit, home=self._s.home, workspace=self._s.kept)) is not None:
            return why
        for file in touched:
            if file.op in ("read", "search"):
                continue
            path = self._files.resolved(file)
            if (path is None or not is_sink(path)) and (why := self._files.unsafe(file, path)) is not None:
                return why
        return None

    def _forbidden(self, unit: CommandUnit, touched: Sequence[FileUnit] | None) -> UnitVerdict | None:
        """The deny rule, else the ask rule, that holds or may hold for the command or a file that it touches.

        touched: None where it is not known which files those are.
        """
        found: list[UnitVerdict] = []
        for behavior in (DENY, ASK):
            table = self._s.tables.table(behavior, self._s.tool.name)
            if table.rules and (hit := table.commands.holding(unit)) is not None:
                match, rule = hit
                found.append(by_rule(unit, rule, certain=match is Match.CERTAIN))
        if self._s.guards_files:
            known = touched if touched is not None else _bare_touches(unit)
            for file in self._operands(unit) if known is None else known:
                verdict = self._files.forbidden(file, self._files.resolved(file))
                if verdict is not None and verdict.rule is not None:
                    found.append(by_rule(unit, verdict.rule, certain=known is not None and verdict.certain))
        return min(found, key=_strictness, default=None)

    def _operands(self, unit: CommandUnit) -> list[FileUnit]:
        """Words of a command of unknown meaning that may be paths: what it does with them is not known.

        For programs whose words are files, a word that only running would tell counts as well, and what lies below a
        directory. For others, a word without a slash or a dot counts if there is such a file, and then only against
        rules on reading: many programs have a subcommand by the name of a directory.
        """
        found: list[FileUnit] = []
        files = os.path.basename(unit.argv[0].text or "") in _EDITORS if unit.argv else False
        for word in unit.argv[1 : MOST_WORDS + 1]:
            if word.text is None and files:
                found.append(FileUnit(op="search", path=None, cwd=unit.cwd, rule_tools=FILE_TOOLS))
            for text in _path_like(word.text):
                if files:
                    found.append(FileUnit(op="search", path=text, cwd=unit.cwd, rule_tools=FILE_TOOLS))
                elif "/" in text or "." in text:
                    found.append(FileUnit(op="read", path=text, cwd=unit.cwd, rule_tools=FILE_TOOLS))
                elif unit.cwd is not None and os.path.lexists(os.path.join(unit.cwd, text)):
                    found.append(FileUnit(op="read", path=text, cwd=unit.cwd, rule_tools=("Read", "Grep")))
        return found


# Their operands are files (coreutils and friends), so an operand that is not known may be any file.
_EDITORS = frozenset(
    """cp mv rm rmdir ln install touch mkdir tee dd truncate shred sed chmod chown chgrp rsync scp tar zip unzip gzip
    patch""".split()  # noqa: SIM905
)


def _bare_touches(unit: CommandUnit) -> Sequence[FileUnit] | None:
    """What the command touches if nothing in front of it makes it another: enough to refuse it, not to allow it."""
    bare = replace(unit, wrapped=(), behind=(), assignments=())
    proof = prove(bare)
    return edit_units(bare) if proof is None else proof.reads


def _strictness(verdict: UnitVerdict) -> int:
    return (DENY, ASK, ALLOW).index(verdict.behavior)


def _name(unit: CommandUnit) -> str:
    """A command as a reason names it: by its first word only, as the others may hold a secret."""
    head = unit.argv[0].text if unit.argv else None
    return "a command of unknown name" if head is None else f"the command {os.path.basename(head) or head!r}"


def _path_like(text: str | None) -> Iterable[str]:
    """What in a word may be a path: the word, what follows `=`, what follows curl's `@`."""
    if not text:
        return
    yield text
    for mark in ("=", "@"):
        if after := text.partition(mark)[2]:
            yield after

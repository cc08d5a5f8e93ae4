"""Bugs planted in the permission engine, one at a time, to see that the tests notice each.

    python tests/permission/mutants.py [NAME ...]

Each mutant is a change of one place in the sources, made in a copy of the tree; the permission tests then run on that
copy and must fail. `test_mutants.py` checks, in every ordinary run, that each place still exists exactly once.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "sayso" / "permission"
SECONDS = 300


@dataclass(frozen=True)
class Mutant:
    """In `file`, below the permission package, `old` stands once; `new` is the bug."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = [
    Mutant(
        "a yes settles a deny",
        "engine.py",
        "if behavior is not ASK:\n            return",
        "if behavior is ALLOW:\n            return",
    ),
    Mutant(
        "dont_ask asks",
        "engine.py",
        "if self.context.mode is PermissionMode.DONT_ASK:",
        "if self.context.mode is PermissionMode.EXPLORE:",
    ),
    Mutant("the mildest unit decides", "engine.py", "deciding = max(verdicts", "deciding = min(verdicts"),
    Mutant(
        "a failed check is settled by a yes",
        "engine.py",
        "if confirmed and judgement.failed:",
        "if confirmed and not judgement:",
    ),
    Mutant(
        "the policy is ignored",
        "engine.py",
        "return (self.context,) if policy is None else (self.context, policy)",
        "return (self.context,)",
    ),
    Mutant(
        "a tool's own deny is a wish",
        "engine.py",
        "if opinion is not None and opinion.behavior is DENY:",
        "if opinion is not None and opinion.behavior is None:",
    ),
    Mutant("an index is never stale", "index.py", "made[0] == lists", "len(made[0]) == len(lists)"),
    Mutant(
        "allow looks at the written path only",
        "files.py",
        "        for form in path.forms:\n            names = self._forms(form)\n            found = next",
        "        for form in path.forms[:1]:\n            names = self._forms(form)\n            found = next",
    ),
    Mutant(
        "deny looks at the written path only",
        "files.py",
        "        for form in path.forms:\n            for name in self._forms(form):\n                for glob",
        "        for form in path.forms[:1]:\n            for name in self._forms(form):\n                for glob",
    ),
    Mutant(
        "a search does not look below its root",
        "judge_file.py",
        'if unit.op in ("search", "remove"):',
        'if unit.op == "remove":',
    ),
    Mutant(
        "a directory contains its siblings",
        "path.py",
        'path == directory or path.startswith(directory + "/")',
        "path.startswith(directory)",
    ),
    Mutant("case counts in a refusal", "path.py", "        return text.lower()\n", "        return text\n"),
    Mutant(
        "dots are collapsed before links are followed",
        "path.py",
        '    rest = _components(path)\n    here = ""',
        '    rest = _components(os.path.normpath(path))\n    here = ""',
    ),
    Mutant(
        "paths through /proc are like others",
        "path.py",
        'if here.startswith(("/proc/", "/dev/")) and _MAGIC.match(here):',
        'if here.startswith("/never/") and _MAGIC.match(here):',
    ),
    Mutant(
        "an allow glob covers directories whole",
        "glob.py",
        'regex.fullmatch(path[1:] + "/")',
        'regex.match(path[1:] + "/")',
    ),
    Mutant(
        "one element of a list is enough to allow",
        "arguments.py",
        "return bool(value) and all(_covered(item",
        "return bool(value) and any(_covered(item",
    ),
    Mutant(
        "a missing argument cannot be a denied one",
        "arguments.py",
        "            found: Certainty = None\n",
        "            found: Certainty = False\n",
    ),
    Mutant("a star crosses separators", "arguments.py", "stop = None if anything else", "stop = None if True else"),
    Mutant(
        "unknown arguments are covered",
        "arguments.py",
        '            elif name not in schema.get("properties", {}):\n                return False',
        '            elif name not in schema.get("properties", {}):\n                continue',
    ),
    Mutant(
        "a proof beats a rule",
        "judge_command.py",
        "        if found is not None and found.behavior is DENY:\n            return found\n",
        "        if found is not None and found.behavior is DENY and proof is None:\n            return found\n",
    ),
    Mutant(
        "rules about files do not hold for commands",
        "judge_command.py",
        "        if self._s.guards_files:\n            known",
        "        if not self._s.guards_files:\n            known",
    ),
    Mutant(
        "an allow rule silences a safety ask",
        "judge_command.py",
        "        if proof is None and not self._s.bypassing and (why",
        "        if proof is None and self._s.exploring and (why",
    ),
    Mutant(
        "sensitive places are ordinary",
        "judge_file.py",
        "        if not self._s.bypassing and (why",
        "        if self._s.exploring and (why",
    ),
    Mutant(
        "explore helps itself to allow rules",
        "judge_command.py",
        "        if self._s.exploring and unit.needs_cover and proof is None:",
        "        if self._s.bypassing and unit.needs_cover and proof is None:",
    ),
    Mutant(
        "accept_edits accepts anything",
        "setting.py",
        "PermissionMode.ACCEPT_EDITS and in_edits:",
        "PermissionMode.ACCEPT_EDITS:",
    ),
    Mutant(
        "bypass allows what it does not understand",
        "judge.py",
        "                if rules := self._s.tables.table(behavior, tool).rules:\n",
        "                if rules := self._s.tables.table(behavior, tool).rules[:0]:\n",
    ),
    Mutant(
        "an unreadable deny rule is skipped",
        "judge_file.py",
        "        if rules.broken is not None:\n            return rules.broken\n",
        "        if rules.broken is not None:\n            return None\n",
    ),
    Mutant(
        "a project allows itself",
        "rulefile.py",
        "if is_trusted or rule.behavior is not",
        "if True or rule.behavior is not",
    ),
    Mutant(
        "trust does not look at the content", "rulefile.py", "trusted.get(str(path)) == digest", "str(path) in trusted"
    ),
    Mutant("offers are not probed", "suggest.py", "and not too_wide(", "and not None and not (lambda *_: False)("),
    Mutant(
        "offers are not replayed", "suggest.py", "extra=rules).behavior is ALLOW:", "extra=rules).behavior is not None:"
    ),
    Mutant(
        "a prefix ends inside a word",
        "shell/match.py",
        "any(word.text != named for word",
        "any(not (word.text or '').startswith(named) for word",
    ),
    Mutant(
        "an exact rule is a prefix",
        "shell/match.py",
        "return pattern.prefix or (len(words) == size and not unit.open_argv)",
        "return True",
    ),
    Mutant(
        "variables in front do not matter to a rule",
        "shell/match.py",
        "    if not _harmless(unit, pattern.assignments):\n        return False\n",
        "",
    ),
    Mutant("a rule for a wrapper covers what it runs", "shell/match.py", "literal < reach", "literal < 0"),
    Mutant(
        "a name covers any file of that name",
        "shell/match.py",
        "command_name(head) == named)",
        "os.path.basename(head) == named)",
    ),
    Mutant(
        "variables in front do not matter to a proof",
        "shell/readonly/__init__.py",
        "if not unit.argv or not all(",
        "if not unit.argv or not unit.argv and not all(",
    ),
    Mutant(
        "privilege does not matter to a proof",
        "shell/readonly/__init__.py",
        "if unit.wrapped and not TRANSPARENT",
        "if not unit.wrapped and not TRANSPARENT",
    ),
    Mutant(
        "a redirection writes nothing",
        "shell/redirection.py",
        '_WRITES = frozenset({">", ">>",',
        '_WRITES = frozenset({">>",',
    ),
    Mutant(
        "what lies between two words is skipped",
        "shell/cursor.py",
        "if not (_LINES if lines else _BLANKS).fullmatch(between):",
        "if not between:",
    ),
    Mutant(
        "a pipeline moves the shell",
        "shell/walk.py",
        "        if len(parts) > 1:\n            return Flow(start, start)\n",
        "",
    ),
    Mutant(
        "a subshell moves the shell",
        "shell/compound.py",
        "    _group(walk, node)\n    return Flow(start, start)",
        "    return _group(walk, node)",
    ),
    Mutant(
        "a loop is read once",
        "shell/compound.py",
        "if not set(after) <= set(entry) and None not in entry:",
        "if not after:",
    ),
    Mutant(
        "every wrapper is transparent",
        "shell/command.py",
        "transparent = row.kind is Kind.TRANSPARENT and known",
        "transparent = known",
    ),
    Mutant(
        "a builtin is one behind a program too",
        "shell/command.py",
        "if text == name and not call.external and",
        "if text == name and",
    ),
    Mutant(
        "a word that may vanish moves nothing",
        "shell/wrapper.py",
        "return found if certain else None",
        "return found",
    ),
    Mutant(
        "values in arithmetic are numbers",
        "shell/variable.py",
        "self.values.get(name, Value.NUMBER) > at_most",
        "self.values.get(name, Value.NUMBER) > Value.UNKNOWN",
    ),
    Mutant(
        "an expression in parentheses may end anywhere",
        "shell/arithmetic.py",
        'if depth == 1 and data[at : at + 1] != b")":',
        "if not depth:",
    ),
    Mutant(
        "a here-document in a substitution ends a line",
        "shell/walk.py",
        "if self.behind_document and not first:",
        "if self.behind_document and first:",
    ),
    Mutant(
        "blanks of Unicode are letters",
        "shell/word.py",
        "if not run.isascii() and _BLANKS.search(run):",
        "if not run:",
    ),
    Mutant(
        "a deny rule misses git's options",
        "shell/match.py",
        "    if at > 1:\n        yield",
        "    if not at:\n        yield",
    ),
]


def killed(mutant: Mutant | None, place: Path) -> bool:
    """Whether the tests fail on a copy of the tree, made in `place`, with the mutant in it, or as it is."""
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "permission", place / "tests" / "permission")
    for shared in (ROOT / "tests").glob("[!t]*.py"):
        shutil.copy(shared, place / "tests")
    shutil.copy(ROOT / "pyproject.toml", place)
    if mutant is not None:
        source = place / "src" / "sayso" / "permission" / mutant.file
        text = source.read_text("utf-8")
        if text.count(mutant.old) != 1:
            raise SystemExit(f"{mutant.name}: its place in {mutant.file} is not there exactly once")
        source.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "tests/permission"]
    deselected = ["--deselect", "tests/permission/test_mutants.py"]
    environment = {**os.environ, "PYTHONPATH": str(place / "src")}
    done = subprocess.run([*tests, *deselected], cwd=place, env=environment, capture_output=True, timeout=SECONDS)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant}: the tests could not run\n{done.stdout.decode()[-2000:]}")
    return done.returncode == 1


def main(names: list[str]) -> int:
    """Run the mutants named, or all; the number that survived."""
    survived = 0
    with tempfile.TemporaryDirectory() as place:
        if killed(None, Path(place)):
            raise SystemExit("the tests fail without any planted bug")
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        with tempfile.TemporaryDirectory() as place:
            dead = killed(mutant, Path(place))
        survived += not dead
        print(f"{'killed  ' if dead else 'SURVIVED'} {mutant.file}: {mutant.name}", flush=True)
    print(f"{survived} survived")
    return survived


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Whether offered rules are as narrow as they look: calls near the one at hand are tried under these rules alone.

Owns the probes. Knows nothing of how offers are made; the engine judges, nothing is run.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sayso.permission.context import PermissionContext
from sayso.permission.engine import PermissionEngine
from sayso.permission.path import home_directory, resolve
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import JudgedTool
from sayso.permission.unit import CommandUnit, FileUnit, Unit, Word

__all__ = ["too_wide"]

ALLOW = PermissionBehavior.ALLOW
# What may follow a command; each starts another one.
_TAILS = (" && evil", "\nevil", " | evil", " $(evil)")
_EVIL, _OPTION = Word("evil", "evil"), Word("--probe", "--probe")


def too_wide(tool: JudgedTool, tool_input: dict[str, Any], offers: Sequence[tuple[Unit, PermissionRule]]) -> bool:
    """Whether anything passes, under the offered rules alone, that they were not offered for."""
    context = PermissionContext()
    for _unit, rule in offers:
        context.add_rule(rule)
    alone, bare = PermissionEngine(context), PermissionEngine(PermissionContext())
    for unit, rule in offers:
        for probe in _probes(unit, rule):
            passes = alone.judge_units(tool, [probe]).behavior is ALLOW
            # What passes without any rule says nothing of this one.
            if passes and bare.judge_units(tool, [probe]).behavior is not ALLOW:
                return True
    command = tool_input.get("command")
    if not isinstance(command, str) or not any(isinstance(unit, CommandUnit) for unit, _rule in offers):
        return False
    return any(alone.judge_call(tool, {**tool_input, "command": command + tail}).behavior is ALLOW for tail in _TAILS)


def _probes(unit: Unit, rule: PermissionRule) -> Iterable[Unit]:
    """Units near the one at hand that the rule offered for it may not cover."""
    content = rule.rule_content or ""
    if isinstance(unit, CommandUnit):
        yield from _command_probes(unit, len(content[:-2].split()) if content.endswith(":*") else 0)
    elif isinstance(unit, FileUnit) and unit.path is not None:
        path = resolve(unit.path, cwd=unit.cwd).lexical
        directory = os.path.dirname(path)
        home = home_directory()
        others = ["/etc/passwd", "/newfile", f"{home}/notes.txt", f"{home}/.bashrc", f"{directory}-evil/x"]
        for other in [*others, f"{os.path.dirname(directory)}/other.txt", f"{directory}/../../other.txt"]:
            if resolve(other, cwd=unit.cwd).lexical != path:
                yield replace(unit, path=other)


def _command_probes(unit: CommandUnit, prefix: int) -> Iterable[CommandUnit]:
    """Other commands; the same one made dangerous; another option or word where the rule may not leave it open.

    prefix: how many words the rule begins with if any may follow, else 0.
    """
    head, *rest = unit.argv
    yield replace(unit, argv=(_EVIL, *unit.argv))
    yield replace(unit, argv=(Word("./" + (head.text or ""), head.source), *rest))
    yield replace(unit, argv=(Word("sudo", "sudo"), *unit.argv))
    yield replace(unit, assignments=(("LD_PRELOAD", _EVIL), *unit.assignments))
    yield replace(unit, assignments=(("PATH", _EVIL), *unit.assignments))
    if prefix != 1:
        yield replace(unit, argv=(head, _OPTION, *rest))
        last = (prefix or len(unit.argv)) - 1
        yield replace(unit, argv=(*unit.argv[:last], _EVIL, *unit.argv[last + 1 :]))
    if prefix == 0:
        yield replace(unit, argv=(*unit.argv, _OPTION))

"""The rules that are offered with a question: narrow, and each proven by replay before anybody sees it.

Owns which commands may be offered as a prefix (a closed list: what is not on it is offered word for word) and which
directories as a glob. Knows nothing of matching: the engine is asked whether the call would pass with the offer, and
whether a fixed set of probes would not.
"""

import functools
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sayso.errors import InvalidRule
from sayso.permission.context import PermissionContext
from sayso.permission.engine import Judgement, PermissionEngine
from sayso.permission.glob import escape
from sayso.permission.path import home_directory, inside, is_secret, is_sensitive, resolve
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import JudgedTool, UnitVerdict
from sayso.permission.unit import CallUnit, CommandUnit, FileUnit, Unit, Word
from sayso.permission.validation import check_rule

__all__ = ["suggestions"]

ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK
# A rule longer than a person reads is not offered; nor are more rules than fit a question.
LONGEST_OFFER = 200
MOST_OFFERS = 6

# How many words name what a command does, for commands whose further words are its operands. A word with `|` stands
# for each. Not here, so offered word for word or not at all: interpreters, wrappers and runners; whatever removes,
# reaches the network or publishes; whatever takes a program to run as an option that people use (git rebase --exec).
_PREFIXES = """
    git add|commit|checkout|switch|branch|merge|tag|mv|cherry-pick|revert|restore
    git stash push|pop|apply|save
    git worktree add
    npm|pnpm|yarn|bun test|build|lint|start
    npm|pnpm|yarn|bun run|run-script *
    cargo build|check|clippy|test|fmt|doc|bench
    go build|test|vet|fmt|generate
    go mod tidy|verify
    pytest
    tox
    nox
    mypy
    pyright
    black
    isort
    flake8
    pylint
    ruff check|format
    python|python3 -m pytest|unittest|mypy|black|ruff|isort|flake8|pylint
    eslint
    prettier
    tsc
    jest
    vitest
    make|ninja|just|task|rake *
    ctest
    mvn|gradle compile|test|build|check|package|verify|assemble
    dotnet|swift|bazel|mix build|test|format
    docker build
    docker compose build|up|down|logs|ps|start|stop|restart
    kubectl apply|describe|diff|logs|get
    terraform plan|validate|fmt|init|show
    gh pr|issue create|comment|list|view|edit
    alembic upgrade|revision|history
"""
_TAKES_SCRIPTS = frozenset({"python", "python3", "node", "ruby", "perl", "php", "deno", "bun"})


@functools.cache
def _arity() -> dict[tuple[str, ...], bool]:
    """The prefixes, word by word; True where one is complete."""
    found: dict[tuple[str, ...], bool] = {}
    for line in _PREFIXES.strip().splitlines():
        heads: list[tuple[str, ...]] = [()]
        for word in line.split():
            heads = [(*head, option) for head in heads for option in word.split("|")]
            for head in heads:
                found.setdefault(head, False)
        found |= dict.fromkeys(heads, True)
    return found


async def suggestions(
    engine: PermissionEngine,
    tool: JudgedTool,
    tool_input: dict[str, Any],
    judgement: Judgement,
    policy: PermissionContext | None,
) -> list[PermissionRule]:
    """Rules that would make this very call pass, narrowest first; an empty list where none is safe to offer.

    A call with several uncovered parts needs a rule for each, so those are offered together and pass together.
    """
    open_units = [verdict for verdict in judgement.verdicts if verdict.behavior is ASK]
    if not open_units or any(verdict.rule is not None or verdict.safety for verdict in open_units):
        return []
    options = [_options(tool, verdict) for verdict in open_units]
    if len(options) == 1:
        own = [rule.rule_content for rule in tool.generate_suggestions(tool_input) if _is_own(tool, rule)]
        found = [[content] for content in dict.fromkeys([*own, *options[0]])]
    elif all(options):
        found = [[option[-1] for option in options]]
    else:
        found = []
    offered: list[PermissionRule] = []
    for contents in found[:MOST_OFFERS]:
        rules = [
            PermissionRule(tool_name=tool.name, rule_content=content, behavior=ALLOW, source="session")
            for content in dict.fromkeys(contents)
        ]
        if await _proven(engine, tool, tool_input, rules, [v.unit for v in open_units], policy):
            offered += [rule for rule in rules if rule not in offered]
    return offered


def _is_own(tool: JudgedTool, rule: PermissionRule) -> bool:
    return rule.tool_name == tool.name and rule.behavior is ALLOW and rule.rule_content is not None


# -- candidates, narrowest first ----------------------------------------------------------------------


def _options(tool: JudgedTool, verdict: UnitVerdict) -> list[str]:
    match verdict.unit:
        case CommandUnit() as unit:
            return _for_command(unit)
        case FileUnit() as unit if unit.rule_tools[:1] == (tool.name,):
            return _for_file(unit)
        case CallUnit() as unit:
            return _for_call(unit)
        case _:
            return []


def _for_command(unit: CommandUnit) -> list[str]:
    """The command word for word, then the prefix that names what it does."""
    if unit.inner_at is not None or unit.open_argv or not unit.needs_cover or not unit.argv:
        return []
    from sayso.permission.shell.match import quote

    words = [word.text for word in unit.argv]
    found: list[str] = []
    literal = [text for text in words if text is not None]
    if len(literal) == len(words):
        found.append(" ".join(map(quote, literal)))
    size = _prefix_size(words, unit.cwd)
    if size:
        found.append(" ".join(quote(text) for text in words[:size] if text is not None) + ":*")
    return [text for text in found if len(text) <= LONGEST_OFFER and "\n" not in text]


def _prefix_size(words: Sequence[str | None], cwd: str | None) -> int:
    """How many leading words make a prefix rule; 0 where none is safe."""
    head = words[0]
    if head is None:
        return 0
    if "/" in head:
        return 1 if not any(text is None for text in words[:1]) else 0
    if head in _TAKES_SCRIPTS and len(words) > 1 and _is_script(words[1]):
        return 2
    arity = _arity()
    known: tuple[str, ...] = ()
    for text in words:
        if text is None:
            break
        longer = (*known, text) if (*known, text) in arity else (*known, "*")
        if longer not in arity or (longer[-1] == "*" and text.startswith("-")):
            break
        known = longer
    while known and not arity[known]:
        known = known[:-1]
    return len(known)


def _is_script(text: str | None) -> bool:
    """Whether an interpreter's first argument names a file of code: then the rule is about that file."""
    return text is not None and not text.startswith("-") and "." in os.path.basename(text)


def _for_file(unit: FileUnit) -> list[str]:
    """The file, then the directory it lies in, unless that is a place where a rule for everything would be too wide."""
    if unit.path is None:
        return []
    path = resolve(unit.path, cwd=unit.cwd)
    if path.outside is not None or "\n" in path.lexical:
        return []
    found = [escape(path.lexical)]
    directory = os.path.dirname(path.lexical)
    home, base = home_directory(), unit.cwd or "/"
    wide = inside(home, directory) or inside(base, directory) or directory.count("/") < 2
    if not wide and unit.op == "write" and is_sensitive(directory) is None and is_secret(directory) is None:
        found.append(f"{escape(directory)}/**")
    return found


def _for_call(unit: CallUnit) -> list[str]:
    """Exactly these arguments and no other."""
    named: dict[str, Any] = {}
    for name, value in unit.tool_input.items():
        if not isinstance(value, str | int | float | None) or not name or name == "*":
            return []
        named[name.replace(".", "\\.")] = _exactly(value) if isinstance(value, str) else value
    if not named:
        return []
    text = json.dumps({**named, "*": None}, ensure_ascii=False)
    return [text] if len(text) <= LONGEST_OFFER else []


def _exactly(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("*", "\\*")
    return f"\\{quoted}" if quoted[:1] in ("<", ">") else quoted


# -- proof --------------------------------------------------------------------------------------------


async def _proven(
    engine: PermissionEngine,
    tool: JudgedTool,
    tool_input: dict[str, Any],
    rules: Sequence[PermissionRule],
    units: Sequence[Unit],
    policy: PermissionContext | None,
) -> bool:
    """Whether the call passes with these rules and no probe passes with them alone."""
    try:
        for rule in rules:
            check_rule(rule, tool)
    except InvalidRule:
        return False
    replayed = await engine.judge(tool, tool_input, policy=policy, extra=rules)
    if replayed.behavior is not ALLOW:
        return False
    alone = PermissionContext()
    for rule in rules:
        alone.add_rule(rule)
    return not await _too_wide(PermissionEngine(alone), tool, tool_input, rules, units)


async def _too_wide(
    alone: PermissionEngine,
    tool: JudgedTool,
    tool_input: dict[str, Any],
    rules: Sequence[PermissionRule],
    units: Sequence[Unit],
) -> bool:
    """Whether anything passes, under the offered rules alone, that they were not offered for."""
    for unit in units:
        for probe in _probes(unit, rules):
            if alone.judge_units(tool, [probe]).behavior is ALLOW:
                return True
    command = tool_input.get("command")
    if isinstance(command, str) and any(isinstance(unit, CommandUnit) for unit in units):
        for tail in (" && evil", "; evil", "\nevil", " | evil", " $(evil)"):
            if (await alone.judge(tool, {**tool_input, "command": command + tail})).behavior is ALLOW:
                return True
    return False


def _probes(unit: Unit, rules: Sequence[PermissionRule]) -> Iterable[Unit]:
    """Units near the one at hand that no rule offered for it may cover."""
    if isinstance(unit, CommandUnit):
        sizes = [len((rule.rule_content or "")[:-2].split()) for rule in rules if _is_prefix(rule)]
        yield from _command_probes(unit, max(sizes, default=0))
    elif isinstance(unit, FileUnit) and unit.path is not None:
        path = resolve(unit.path, cwd=unit.cwd).lexical
        directory = os.path.dirname(path)
        others = ["/etc/passwd", "/newfile", f"{home_directory()}/notes.txt", f"{home_directory()}/.bashrc"]
        beside = [f"{directory}-evil/x", f"{os.path.dirname(directory)}/other.txt", f"{directory}/../../other.txt"]
        for other in (*others, *beside):
            if resolve(other, cwd=unit.cwd).lexical != path:
                yield replace(unit, path=other)


def _is_prefix(rule: PermissionRule) -> bool:
    return (rule.rule_content or "").endswith(":*")


def _command_probes(unit: CommandUnit, prefix: int) -> Iterable[CommandUnit]:
    """Other commands, the same command made dangerous, and, where no prefix of this many words is offered, another."""
    evil, option = Word("evil", "evil"), Word("--probe", "--probe")
    head, *rest = unit.argv
    yield replace(unit, argv=(evil,))
    yield replace(unit, argv=(evil, *unit.argv))
    yield replace(unit, argv=(Word("./" + (head.text or ""), head.source), *rest))
    yield replace(unit, argv=(Word("sudo", "sudo"), *unit.argv))
    for name in ("LD_PRELOAD", "PATH"):
        yield replace(unit, assignments=((name, evil), *unit.assignments))
    if prefix == 0:
        yield replace(unit, argv=(*unit.argv, option))
    if prefix != 1:
        yield replace(unit, argv=(head, option, *rest))
        yield replace(
            unit,
            argv=(*unit.argv[: max(prefix, len(unit.argv)) - 1], evil)
            if not prefix
            else (*unit.argv[: prefix - 1], evil, *unit.argv[prefix:]),
        )

"""The rules that are offered with a question: narrow, and each proven by replay before anybody sees it.

Owns which commands may be offered as a prefix (a closed list: what is not on it is offered word for word) and which
directories as a glob. Knows nothing of matching: the engine is asked whether the call would pass with the offer, and
whether a fixed set of probes would not.
"""

import functools
import json
import os
from collections.abc import Sequence
from typing import Any

from sayso.errors import InvalidRule
from sayso.permission.context import PermissionContext
from sayso.permission.engine import Judgement, PermissionEngine
from sayso.permission.glob import escape
from sayso.permission.path import home_directory, inside, is_secret, is_sensitive, resolve
from sayso.permission.probe import too_wide
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import JudgedTool
from sayso.permission.unit import CallUnit, CommandUnit, FileUnit, Unit
from sayso.permission.validation import check_rule

__all__ = ["suggestions"]

ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK
# A rule longer than a person reads is not offered; nor are more rules than fit a question.
LONGEST_OFFER = 300
MOST_OFFERS = 6

# The words that name what a command does, where its further words are operands. A word with `|` stands for each. Not
# here, so offered word for word or not at all: interpreters, wrappers and runners; whatever removes or discards (git
# checkout, git branch -D), reaches the network or publishes; whatever takes a program to run as an option that people
# use (git rebase --exec).
_PREFIXES = """
    git add|commit|merge|mv|cherry-pick|revert
    git stash push|pop|apply|save
    npm|pnpm|yarn|bun test|build|lint|start
    npm|pnpm|yarn|bun run|run-script *
    cargo build|check|clippy|test|fmt|doc|bench
    go build|test|vet|fmt
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
    mvn|gradle|gradlew|mvnw compile|test|build|check|package|verify|assemble
    dotnet|swift|bazel|mix build|test|format
    docker build
    docker compose build|up|logs|ps|start|stop|restart
    kubectl apply|describe|diff|logs|get
    terraform plan|validate|fmt|init|show
"""
# They run what they are given: a file, code in an option, or what comes from standard input, which no rule sees.
_INTERPRETERS = frozenset(
    """python python3 node nodejs ruby perl php deno bun lua tclsh expect osascript irb ghci R Rscript julia scala
    groovy swift psql mysql mariadb sqlite3 redis-cli mongo mongosh gdb lldb ed ex bc dc""".split()  # noqa: SIM905
)
_CODE_OPTIONS = frozenset({"-c", "-e", "-m", "-p", "-r", "-E", "--eval", "--print", "--command", "--execute"})
_SCRIPT = (".sh", ".bash", ".py", ".rb", ".pl", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".jl", ".R")

# Sets found for commands, which depend on nothing but the key; the same command is often asked about again.
_KNOWN: dict[Any, Sequence[Sequence[PermissionRule]]] = {}
_MOST_KNOWN = 4096


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


def suggestions(
    engine: PermissionEngine,
    tool: JudgedTool,
    tool_input: dict[str, Any],
    judgement: Judgement,
    policy: PermissionContext | None,
) -> list[PermissionRule]:
    """Rules that would make this very call pass, narrowest first; an empty list where none is safe to offer.

    A call with several uncovered parts needs a rule for each, so those are offered together and pass together.
    """
    open_verdicts = [verdict for verdict in judgement.verdicts if verdict.behavior is ASK]
    if not open_verdicts or any(verdict.rule is not None or verdict.safety for verdict in open_verdicts):
        return []
    units = _distinct([verdict.unit for verdict in open_verdicts])
    if len(units) > MOST_OFFERS:
        return []
    offered: list[PermissionRule] = []
    for rules in _narrow(tool, tool_input, units):
        # The other units pass already, and a further allow rule does not change that.
        if engine.judge_units(tool, units, policy=policy, extra=rules).behavior is ALLOW:
            offered += [rule for rule in rules if rule not in offered]
    return offered


def _narrow(tool: JudgedTool, tool_input: dict[str, Any], units: Sequence[Unit]) -> Sequence[Sequence[PermissionRule]]:
    """Sets of rules, a rule for each unit, of which none is too wide; narrowest first."""
    if not all(isinstance(unit, CommandUnit) for unit in units):
        return _proven(tool, tool_input, units)
    key = (type(tool), tool.name, getattr(tool, "cwd", None), tool_input.get("command"), tuple(units))
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = _proven(tool, tool_input, units)
    return found


def _proven(tool: JudgedTool, tool_input: dict[str, Any], units: Sequence[Unit]) -> Sequence[Sequence[PermissionRule]]:
    options = [_options(tool, unit) for unit in units]
    found: list[list[str]] = []
    if len(units) == 1:
        own = [rule.rule_content for rule in tool.generate_suggestions(tool_input) if _is_own(tool, rule)]
        found = [[content] for content in dict.fromkeys([*own, *options[0]]) if content is not None]
    elif all(options):
        found = [[option[-1] for option in options]]
    sets: list[list[PermissionRule]] = []
    for contents in found[:MOST_OFFERS]:
        rules = [
            PermissionRule(tool_name=tool.name, rule_content=content, behavior=ALLOW, source="session")
            for content in contents
        ]
        if _can_match(tool, rules) and not too_wide(tool, tool_input, list(zip(units, rules, strict=True))):
            sets.append(list(dict.fromkeys(rules)))
    return sets


def _can_match(tool: JudgedTool, rules: Sequence[PermissionRule]) -> bool:
    try:
        for rule in rules:
            check_rule(rule, tool)
    except InvalidRule:
        return False
    return True


def _distinct(units: Sequence[Unit]) -> list[Unit]:
    found: list[Unit] = []
    for unit in units:
        if unit not in found:
            found.append(unit)
        if len(found) > MOST_OFFERS:
            break
    return found


def _is_own(tool: JudgedTool, rule: PermissionRule) -> bool:
    return rule.tool_name == tool.name and rule.behavior is ALLOW and rule.rule_content is not None


# -- candidates, narrowest first ----------------------------------------------------------------------


def _options(tool: JudgedTool, unit: Unit) -> list[str]:
    match unit:
        case CommandUnit():
            return _for_command(unit)
        case FileUnit() if unit.rule_tools[:1] == (tool.name,):
            return _for_file(unit)
        case CallUnit():
            return _for_call(unit)
        case _:
            return []


def _for_command(unit: CommandUnit) -> list[str]:
    """The command word for word, then the prefix that names what it does."""
    if unit.inner_at is not None or unit.open_argv or not unit.needs_cover or not unit.argv:
        return []
    from sayso.permission.shell.match import quote

    words = [word.text for word in unit.argv]
    if _reads_code(words):
        return []
    found: list[str] = []
    literal = [text for text in words if text is not None]
    if len(literal) == len(words):
        found.append(" ".join(map(quote, literal)))
    size = _prefix_size(words)
    if size:
        found.append(" ".join(quote(text) for text in words[:size] if text is not None) + ":*")
    return [text for text in found if len(text) <= LONGEST_OFFER and "\n" not in text]


def _reads_code(words: Sequence[str | None]) -> bool:
    """Whether an interpreter would take code from its standard input: then its words say nothing of what runs."""
    if os.path.basename(words[0] or "") not in _INTERPRETERS:
        return False
    if any(text in ("-", "/dev/stdin", "-s", "-i") for text in words[1:]):
        return True
    return not any(text is not None and (text in _CODE_OPTIONS or text.endswith(_SCRIPT)) for text in words[1:])


def _prefix_size(words: Sequence[str | None]) -> int:
    """How many leading words make a prefix rule; 0 where none is safe."""
    head = words[0]
    if head is None:
        return 0
    name = os.path.basename(head)
    if name in _INTERPRETERS and len(words) > 1 and (words[1] or "-")[0] != "-" and (words[1] or "").endswith(_SCRIPT):
        return 2
    if "/" in head and name.endswith(_SCRIPT):
        return 1
    arity = _arity()
    known: tuple[str, ...] = ()
    for text in (name, *words[1:]):
        if text is None:
            break
        longer = (*known, text) if (*known, text) in arity else (*known, "*")
        if longer not in arity or (longer[-1] == "*" and text.startswith("-")):
            break
        known = longer
    while known and not arity[known]:
        known = known[:-1]
    return len(known)


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

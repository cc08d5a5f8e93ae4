"""The rules in force, found by behaviour and tool, kept up to date with contexts that programs change as they like.

Owns the indexes and when they are stale. Knows what a rule is, not what a verdict is.

Contexts are mutable: a program may append to a list of rules, replace an element, or put another list in its place. So
an index is kept together with copies of the lists that it was made from and used only while they are equal; comparing
10,000 unchanged rules takes about 15 us, as list equality looks at identity first.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sayso.errors import InvalidRule
from sayso.permission.arguments import ArgumentPattern, Text, Value, parse_arguments
from sayso.permission.context import PermissionContext
from sayso.permission.files import FileRules
from sayso.permission.path import fold
from sayso.permission.rule import PermissionBehavior, PermissionRule

if TYPE_CHECKING:
    from sayso.permission.shell.match import CommandIndex

__all__ = ["ArgumentRules", "RuleIndex", "Table", "Tables"]

Key = tuple[PermissionBehavior, str]


class Table:
    """The rules of one behaviour for one tool. Each kind of index is made when it is first needed."""

    def __init__(self, rules: Sequence[PermissionRule], behavior: PermissionBehavior) -> None:
        self.rules = rules
        self.refusing = behavior is not PermissionBehavior.ALLOW
        self.every = next((rule for rule in rules if rule.rule_content is None), None)
        self._files: dict[tuple[str, str], FileRules] = {}
        self._commands: CommandIndex | None = None
        self._arguments: ArgumentRules | None = None

    def files(self, base: str, home: str) -> FileRules:
        """As globs, relative ones anchored at `base`."""
        found = self._files.get((base, home))
        if found is None:
            found = self._files[base, home] = FileRules(self.rules, base=base, home=home, refusing=self.refusing)
        return found

    @property
    def commands(self) -> "CommandIndex":
        """As command patterns."""
        if self._commands is None:
            from sayso.permission.shell.match import CommandIndex

            self._commands = CommandIndex(self.rules)
        return self._commands

    @property
    def arguments(self) -> "ArgumentRules":
        """As argument patterns."""
        if self._arguments is None:
            self._arguments = ArgumentRules(self.rules, refusing=self.refusing)
        return self._arguments


_EMPTY = {behavior: Table((), behavior) for behavior in PermissionBehavior}


class RuleIndex:
    """The tables of the contexts in force; the first is the session's."""

    def __init__(self) -> None:
        self._made: dict[Key, tuple[list[Sequence[PermissionRule]], Table]] = {}

    def now(self, contexts: Sequence[PermissionContext], extra: Sequence[PermissionRule] = ()) -> "Tables":
        """The tables as the contexts stand, and as if the allow rules `extra` were there. Use it for one judgement."""
        return Tables(self._made, contexts, extra)


class Tables:
    """The tables of one judgement: each is compared with the contexts once."""

    def __init__(
        self,
        made: dict[Key, tuple[list[Sequence[PermissionRule]], Table]],
        contexts: Sequence[PermissionContext],
        extra: Sequence[PermissionRule] = (),
    ) -> None:
        self._made = made
        self._of = {
            PermissionBehavior.ALLOW: [context.allow_rules for context in contexts if context.allow_rules],
            PermissionBehavior.DENY: [context.deny_rules for context in contexts if context.deny_rules],
            PermissionBehavior.ASK: [context.ask_rules for context in contexts if context.ask_rules],
        }
        self._forbidding = [*self._of[PermissionBehavior.DENY], *self._of[PermissionBehavior.ASK]]
        self._seen: dict[Key, Table] = {}
        self._extra = extra

    def table(self, behavior: PermissionBehavior, tool: str) -> Table:
        """The rules of one behaviour for one tool."""
        if not self._of[behavior]:
            return _EMPTY[behavior]
        key = (behavior, tool)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self._current(key)
        return found

    def forbid(self, tools: Sequence[str]) -> bool:
        """Whether there is a deny or ask rule for one of these tools."""
        if not self._forbidding:
            return False
        return any(of_context.get(tool) for of_context in self._forbidding for tool in tools)

    def allowing(self, tool: str) -> tuple[Table, ...]:
        """The allow rules for one tool."""
        table = self.table(PermissionBehavior.ALLOW, tool)
        if not self._extra:
            return (table,)
        return (table, Table([rule for rule in self._extra if rule.tool_name == tool], PermissionBehavior.ALLOW))

    def _current(self, key: Key) -> Table:
        behavior, tool = key
        lists = [of_tool for of_context in self._of[behavior] if (of_tool := of_context.get(tool))]
        if not lists:
            return _EMPTY[behavior]
        made = self._made.get(key)
        if made is not None and made[0] == lists:
            return made[1]
        copies: list[Sequence[PermissionRule]] = [list(of_tool) for of_tool in lists]
        table = Table([rule for of_tool in copies for rule in of_tool], behavior)
        self._made[key] = (copies, table)
        return table


class ArgumentRules:
    """Argument patterns of one behaviour for one tool: those with a fixed value are found by that value."""

    def __init__(self, rules: Sequence[PermissionRule], *, refusing: bool) -> None:
        self.broken: PermissionRule | None = None
        self._refusing = refusing
        self._fixed: dict[tuple[str, ...], dict[str, list[tuple[ArgumentPattern, PermissionRule]]]] = {}
        self._loose: list[tuple[ArgumentPattern, PermissionRule]] = []
        for rule in rules:
            if rule.rule_content is None:
                continue
            try:
                pattern = parse_arguments(rule.rule_content)
            except InvalidRule:
                self.broken = self.broken or rule
                continue
            self._add(pattern, rule)

    def _add(self, pattern: ArgumentPattern, rule: PermissionRule) -> None:
        for path, alternatives in pattern.named.items():
            keys = [_fixed_key(alternative) for alternative in alternatives]
            if len(path) == 1 and None not in keys:
                of_path = self._fixed.setdefault(path, {})
                for key in {key for key in keys if key is not None}:
                    of_path.setdefault(key, []).append((pattern, rule))
                return
        self._loose.append((pattern, rule))

    def _near(self, arguments: Mapping[str, Any]) -> Iterator[tuple[ArgumentPattern, PermissionRule]]:
        for (name,), by_key in self._fixed.items():
            if name in arguments:
                for key in _keys(arguments[name]):
                    yield from by_key.get(key, ())
            elif self._refusing:
                for rules in by_key.values():
                    yield from rules
        yield from self._loose

    def covering(self, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> PermissionRule | None:
        """The allow rule that covers the call."""
        return next((rule for pattern, rule in self._near(arguments) if pattern.covers(arguments, schema)), None)

    def holding(self, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[bool, PermissionRule] | None:
        """The deny or ask rule that holds for the call: certainly (True), or possibly."""
        possible: PermissionRule | None = None
        for pattern, rule in self._near(arguments):
            found = pattern.holds(arguments, schema)
            if found:
                return True, rule
            if found is None:
                possible = possible or rule
        possible = possible or self.broken
        return None if possible is None else (False, possible)


def _fixed_key(pattern: Any) -> str | None:
    """What an argument looks like, leniently, if only one value can match."""
    if isinstance(pattern, Text):
        return None if pattern.rest else fold(pattern.start).strip()
    return next(_keys(pattern.value)) if isinstance(pattern, Value) else None


def _keys(value: Any) -> Iterator[str]:
    """What a value may look like. Equal numbers have equal hashes, whatever their type."""
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)
    elif isinstance(value, str):
        yield fold(value).strip()
        try:
            yield f"#{hash(float(value))}"
        except ValueError:
            return
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"#{hash(value)}"
        yield json.dumps(value)
    elif value is None or isinstance(value, bool):
        yield json.dumps(value)

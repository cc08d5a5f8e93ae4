"""Argument patterns: what a rule with a JSON object as content matches, for any tool that is no shell and no file tool.

Owns the language; whether a rule can ever match its tool is schema.py's. Knows nothing of verdicts. The language:

    {"amount": ">=0 <=100", "to": "*@example.com", "options.dry_run": true, "kind": ["a", "b"], "*": null}

    text         the whole string; `*` any characters but blanks, control characters and / \\ , ; : ? # @ & = < > " ' `,
                 `**` any characters at all, `"*"` alone any string, `\\` before a character takes it as it is
    "<=100"      a number (several comparisons, separated by blanks, must all hold)
    number, true, false, null   exactly that value
    [...]        any of these
    "a.b"        the argument b inside the object a; `\\.` is a dot in a name
    "*"          as a name: every argument that the rule does not name (`null`: there is none)

An allow rule matches only what is there: a missing argument never matches, every element of a list must match and
there must be one, and an argument that neither the rule nor the tool's schema names is not covered. Arguments that the
schema names and the rule does not may have any value. A deny or ask rule matches if any element does, compares text
leniently (`*` is any text; case and surrounding blanks do not count), and may match an argument that is missing and
has no default.
"""

import functools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sayso.errors import InvalidRule
from sayso.permission.path import fold

__all__ = ["ArgumentPattern", "Pattern", "Range", "Text", "Value", "parse_arguments"]

LONGEST_CONTENT = 10_000
_COMPARISONS = re.compile(r"\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_SEPARATOR = re.compile(r"[\s\x00-\x1f\x7f/\\,;:?#@&=<>\"'`]")
_TOKEN = re.compile(r"\\(.)|(\*\*+)|(\*)|([^\\*]+)|\\$", re.DOTALL)
_MISSING: Any = object()

# Certain, possible (None) and impossible.
Certainty = bool | None


@dataclass(frozen=True, slots=True)
class Text:
    """A glob over a string: a literal start, then stars (True: any characters) each followed by a literal."""

    start: str
    rest: tuple[tuple[bool, str], ...]
    any: bool

    def covers(self, value: Any) -> bool:
        return isinstance(value, str) and (self.any or _fits(value, self.start, self.rest))

    def holds(self, value: Any) -> Certainty:
        if not isinstance(value, str):
            if isinstance(value, dict | list) or value is None:
                return False
            return None if self.holds(json.dumps(value)) is not False else False
        wide = tuple((True, literal) for _any, literal in self.rest)
        if _fits(value, self.start, wide):
            return True
        folded = tuple((True, fold(literal)) for _any, literal in self.rest)
        return None if _fits(fold(value).strip(), fold(self.start).lstrip(), folded) else False


@dataclass(frozen=True, slots=True)
class Range:
    """A number that satisfies every comparison."""

    bounds: tuple[tuple[str, float], ...]

    def covers(self, value: Any) -> bool:
        return _is_number(value) and all(_compare(value, sign, bound) for sign, bound in self.bounds)

    def holds(self, value: Any) -> Certainty:
        if isinstance(value, str):
            try:
                return None if self.holds(float(value)) is not False else False
            except ValueError:
                return False
        if isinstance(value, float) and math.isnan(value):
            return None
        return self.covers(value)


@dataclass(frozen=True, slots=True)
class Value:
    """Exactly one value: a number, true, false or null."""

    value: float | bool | None

    def covers(self, value: Any) -> bool:
        if isinstance(self.value, bool) or self.value is None or isinstance(value, bool):
            return value is self.value
        return _is_number(value) and value == self.value

    def holds(self, value: Any) -> Certainty:
        if self.covers(value):
            return True
        # `"true"` and `"5"` may be read as true and 5 by a tool that does not insist on types.
        return None if isinstance(value, str) and value.strip().lower() == json.dumps(self.value) else False


Pattern = Text | Range | Value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare(value: float, sign: str, bound: float) -> bool:
    match sign:
        case "<":
            return value < bound
        case "<=":
            return value <= bound
        case ">":
            return value > bound
        case _:
            return value >= bound


def _fits(text: str, start: str, rest: tuple[tuple[bool, str], ...]) -> bool:
    """Whether the whole text matches, in time proportional to its length: `spans` are the places reached so far."""
    if not text.startswith(start):
        return False
    spans = [(len(start), len(start))]
    for anything, literal in rest:
        reach: list[tuple[int, int]] = []
        for low, high in spans:
            stop = None if anything else _SEPARATOR.search(text, high)
            end = len(text) if stop is None else stop.start()
            if reach and low <= reach[-1][1]:
                reach[-1] = (reach[-1][0], max(end, reach[-1][1]))
            else:
                reach.append((low, end))
        spans = reach if not literal else list(_found(text, literal, reach))
    return any(low <= len(text) <= high for low, high in spans)


def _found(text: str, literal: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for low, high in spans:
        at = text.find(literal, low, high + len(literal))
        while at >= 0:
            yield at + len(literal), at + len(literal)
            at = text.find(literal, at + 1, high + len(literal))


# -- a rule -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArgumentPattern:
    """A rule's content, parsed. named: argument path -> alternatives. others: for every argument not named."""

    named: Mapping[tuple[str, ...], tuple[Pattern, ...]]
    others: tuple[Pattern, ...] | None = None

    def covers(self, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
        """Whether an allow rule with this content covers the call. `schema` is the tool's input schema."""
        for path, alternatives in self.named.items():
            values = list(_values(arguments, path))
            if not values or not all(_covered(value, alternatives) for value in values):
                return False
        heads = {path[0] for path in self.named}
        for name in arguments.keys() - heads:
            if self.others is not None:
                if not _covered(arguments[name], self.others):
                    return False
            elif name not in schema.get("properties", {}):
                return False
        return True

    def holds(self, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Certainty:
        """Whether a deny or ask rule with this content holds for the call."""
        found: list[Certainty] = []
        for path, alternatives in self.named.items():
            found.append(_held(_values(arguments, path, schema), alternatives))
        if self.others is not None:
            heads = {path[0] for path in self.named}
            rest = [value for name, value in arguments.items() if name not in heads]
            found.append(_held(rest or [None], self.others))
        if False in found:
            return False
        return None if None in found else True


def _covered(value: Any, alternatives: tuple[Pattern, ...]) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_covered(item, alternatives) for item in value)
    return any(pattern.covers(value) for pattern in alternatives)


def _held(values: Iterable[Any], alternatives: tuple[Pattern, ...]) -> Certainty:
    best: Certainty = False
    for value in values:
        if value is _MISSING:
            found: Certainty = None
        elif isinstance(value, list):
            found = _held(value, alternatives)
        else:
            marks = [pattern.holds(value) for pattern in alternatives]
            found = True if True in marks else None if None in marks else False
        if found is True:
            return True
        best = None if found is None else best
    return best


def _values(value: Any, path: tuple[str, ...], schema: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """What lies at `path`, through lists; where nothing does, `_MISSING`, or the default that `schema` gives."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, path, schema)
        return
    if not path:
        yield value
        return
    below = (schema or {}).get("properties", {}).get(path[0], {})
    if isinstance(value, dict) and path[0] in value:
        yield from _values(value[path[0]], path[1:], below)
    elif len(path) == 1 and isinstance(below, dict) and "default" in below:
        yield below["default"]
    else:
        yield _MISSING


# -- reading ------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=16384)
def parse_arguments(content: str) -> ArgumentPattern:
    """The pattern of a rule's content. Raises InvalidRule, with the reason, for what is not in the language."""
    if len(content) > LONGEST_CONTENT:
        raise InvalidRule(f"argument patterns have at most {LONGEST_CONTENT} characters")
    try:
        raw = json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InvalidRule('argument patterns are a JSON object such as {"amount": "<=100"}') from None
    if not isinstance(raw, dict):
        raise InvalidRule('argument patterns are a JSON object such as {"amount": "<=100"}')
    if not raw:
        raise InvalidRule("{} names no argument; leave the content out to mean every call")
    named = {_path(name): _alternatives(name, value) for name, value in raw.items() if name != "*"}
    return ArgumentPattern(named, _alternatives("*", raw["*"]) if "*" in raw else None)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) < len(pairs):
        raise InvalidRule("an argument is named twice")
    return seen


def _no_constant(text: str) -> Any:
    raise ValueError(text)


def _path(name: str) -> tuple[str, ...]:
    parts = tuple(part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", name))
    if not all(parts):
        raise InvalidRule(f"{name!r} is no argument name: a part of it is empty")
    return parts


def _alternatives(name: str, raw: Any) -> tuple[Pattern, ...]:
    options = raw if isinstance(raw, list) else [raw]
    if not options:
        raise InvalidRule(f"{name!r} has no alternative, so nothing can match")
    return tuple(_pattern(name, option) for option in options)


def _pattern(name: str, raw: Any) -> Pattern:
    if raw is None or isinstance(raw, bool | int | float):
        return Value(raw)
    if not isinstance(raw, str):
        raise InvalidRule(f'{name!r}: write nested arguments as one dotted name, such as "{name}.part"')
    if raw[:1] in ("<", ">"):
        return _range(name, raw)
    pieces: list[list[Any]] = [[None, ""]]
    for escaped, anything, star, plain in _TOKEN.findall(raw):
        if anything or star:
            pieces.append([bool(anything), ""])
        else:
            pieces[-1][1] += escaped or plain
    rest = tuple((wide, literal) for wide, literal in pieces[1:])
    return Text(pieces[0][1], rest, raw in ("*", "**"))


def _range(name: str, raw: str) -> Range:
    found = _COMPARISONS.findall(raw)
    if not found or _COMPARISONS.sub("", raw).strip():
        raise InvalidRule(
            f'{name!r}: {raw!r} is no comparison such as ">=0 <=100"; for text that begins so write \\\\ before it'
        )
    return Range(tuple((sign, float(text) if not text.lstrip("-").isdigit() else int(text)) for sign, text in found))

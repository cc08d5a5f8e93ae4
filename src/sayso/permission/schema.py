"""Whether argument patterns can ever match a tool: its input schema says which arguments and values there are.

Owns the little of JSON schema that this takes (types, `enum`, `const`, bounds, references); where a schema says more, a
pattern counts as possible. Knows nothing of matching a call.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sayso.errors import InvalidRule
from sayso.permission.arguments import Pattern, Range, Text, Value, parse_arguments

__all__ = ["validate_arguments"]


def validate_arguments(content: str, schema: Mapping[str, Any]) -> None:
    """Check that a rule can match some call of the tool with this input schema.

    Raises InvalidRule, with the reason: it cannot be read, it names an argument that the tool does not have, or no
    value that the schema admits for an argument can match.
    """
    for path, alternatives in parse_arguments(content).named.items():
        here: Mapping[str, Any] = schema
        for depth, name in enumerate(path):
            here = _property(here, name, path[:depth], schema)
        if not any(_possible(pattern, here, schema) for pattern in alternatives):
            wanted = here.get("enum") or here.get("type") or "another kind of value"
            raise InvalidRule(f"{'.'.join(path)!r} is {wanted}, so this pattern can never match")


def _property(
    schema: Mapping[str, Any], name: str, above: tuple[str, ...], root: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The schema of one argument; {} where any value may be."""
    found: dict[str, Mapping[str, Any]] = {}
    open_ended = False
    for form in _forms(schema, root):
        form = _deref(form.get("items", {}), root) if form.get("type") == "array" else form
        found.update(form.get("properties", {}))
        is_open = form.get("additionalProperties", "properties" not in form)
        open_ended = open_ended or is_open not in (False, None) or "patternProperties" in form
    if name in found:
        return _deref(found[name], root)
    if open_ended:
        return {}
    place = f"{'.'.join(above)!r}" if above else "the tool"
    raise InvalidRule(f"{place} has no argument {name!r}; it has {', '.join(sorted(found)) or 'none'}")


def _deref(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow `$ref` within the document; what cannot be followed admits anything."""
    for _hop in range(16):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = root if reference.startswith("#") else {}
        for part in reference.split("/")[1:]:
            schema = schema.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(schema, Mapping) else {}
    return {}


def _forms(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The schema itself and the alternatives or parts it is made of."""
    parts = [part for key in ("anyOf", "oneOf", "allOf") for part in schema.get(key, ())]
    if not parts:
        return [schema]
    below = [form for part in parts for form in _forms(_deref(part, root), root)]
    return [schema, *below] if "properties" in schema else below


def _possible(pattern: Pattern, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether some value that `schema` admits matches. Only types, `enum`, `const` and bounds are looked at."""
    return any(_possible_in(pattern, form, root) for form in _forms(schema, root))


def _possible_in(pattern: Pattern, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    if "enum" in schema or "const" in schema:
        return any(pattern.covers(value) for value in schema.get("enum", [schema.get("const")]))
    types = schema.get("type")
    if types is None:
        return True
    for kind in [types] if isinstance(types, str) else types:
        if kind == "array" and _possible(pattern, _deref(schema.get("items", {}), root), root):
            return True
        if kind in ("integer", "number") and _numeric(pattern, schema):
            return True
        if kind == "string" and isinstance(pattern, Text):
            return True
        if isinstance(pattern, Value) and {"boolean": bool, "null": type(None)}.get(kind) is type(pattern.value):
            return True
    return False


def _numeric(pattern: Pattern, schema: Mapping[str, Any]) -> bool:
    """Whether a number between the schema's bounds can match."""
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if isinstance(pattern, Value):
        return (
            isinstance(pattern.value, int | float)
            and not isinstance(pattern.value, bool)
            and low <= pattern.value <= high
        )
    if not isinstance(pattern, Range):
        return False
    low = max([low, *(bound for sign, bound in pattern.bounds if sign[0] == ">")])
    high = min([high, *(bound for sign, bound in pattern.bounds if sign[0] == "<")])
    # A strict comparison leaves its own bound out.
    return low < high or (low == high and all(bound != low or sign[1:] for sign, bound in pattern.bounds))

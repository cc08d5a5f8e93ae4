"""A call's arguments: strict JSON, then validated; and the words in which the model is told what was wrong.

Owns parsing, schemas made from Python types, and validation. Must not know any tool, nor what runs it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Never, TypeVar
from weakref import WeakKeyDictionary

from sayso.errors import InvalidAnswer
from sayso.message import ToolResultBlock, ToolResultState

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError as SchemaViolation
    from pydantic import TypeAdapter, ValidationError

    from sayso.tool.base import ToolBase

__all__ = ["InvalidInput", "cached", "check_metadata", "json_object", "pydantic_problems", "schema_of", "validate"]

_SHOWN = 5  # problems named in one message: more would not be read
_CLIP = 60  # characters of an offending value that are quoted

# Which keywords of a JSON schema hold schemas: as the value, as a list, as the values of an object.
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")


_T = TypeVar("_T")


class InvalidInput(ValueError):
    """The arguments of a call cannot be used. The message is for the model: what was wrong, and what to do."""


# -- JSON --------------------------------------------------------------------------------------------------


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:_CLIP]} is too large")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return made


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def json_object(text: str, tool_name: str) -> dict[str, Any]:
    """The JSON object in `text`; an empty text is an empty object. Raises InvalidInput.

    Stricter than `json.loads`: no NaN or Infinity, no key twice, no lone surrogates; nothing is completed by guessing.
    """
    if not text.strip():
        return {}
    again = f"Nothing was run. Call {tool_name} again with one JSON object."
    try:
        value = _decoder.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except JSONDecodeError as exc:
        if exc.pos >= len(text.rstrip()) or exc.msg.startswith("Unterminated"):
            where = f"the JSON stops at character {len(text)}, unfinished"
            raise InvalidInput(f"The arguments of {tool_name} are cut off: {where}. {again}") from exc
        raise InvalidInput(
            f"The arguments of {tool_name} are not JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}. {again}"
        ) from exc
    except UnicodeEncodeError as exc:
        raise InvalidInput(
            f"The arguments of {tool_name} hold half of a surrogate pair, which is not text. {again}"
        ) from exc
    except RecursionError as exc:
        raise InvalidInput(f"The arguments of {tool_name} are nested too deep. {again}") from exc
    except ValueError as exc:
        raise InvalidInput(f"The arguments of {tool_name} are not JSON: {exc}. {again}") from exc
    if not isinstance(value, dict):
        raise InvalidInput(f"The arguments of {tool_name} are a JSON {_kind(value)}, not an object. {again}")
    return value


def _kind(value: Any) -> str:
    names = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), "number")


# -- schemas from Python types -----------------------------------------------------------------------------


def schema_of(arguments: TypeAdapter[Any]) -> dict[str, Any]:
    """The JSON schema of a pydantic adapter, without the titles that pydantic adds and no model needs."""
    schema = arguments.json_schema()
    _untitle(schema)
    schema.pop("description", None)  # the class's docstring; what the tool does is in the tool's description
    return schema


def _untitle(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    schema.pop("title", None)
    for key in _ONE:
        _untitle(schema.get(key))
    for key in _MANY:
        for inner in schema.get(key, ()):
            _untitle(inner)
    for key in _NAMED:
        for inner in schema.get(key, {}).values():
            _untitle(inner)


# -- validation --------------------------------------------------------------------------------------------


def validate(tool: ToolBase, text: str, value: dict[str, Any]) -> None:
    """Refuse arguments that do not fit the tool: `value` is what `text` says. Raises InvalidInput."""
    if tool.arguments is not None:
        from pydantic import ValidationError

        try:
            tool.arguments.validate_json(text if text.strip() else "{}", strict=True)
        except ValidationError as exc:
            raise _refusal(tool, pydantic_problems(exc, known=_names(tool))) from exc
        return
    try:
        problems = _schema_problems(_validator(tool, "input_schema"), value)
    except ValueError as exc:
        raise InvalidInput(f"{exc} Nothing was run; tell the person who runs this agent.") from exc
    if problems:
        raise _refusal(tool, problems)


def check_metadata(tool: ToolBase, result: ToolResultBlock) -> None:
    """On success, the result's metadata must fit the tool's `metadata_schema`, if it has one. Raises InvalidAnswer."""
    if tool.metadata_schema is None or result.state is not ToolResultState.SUCCESS:
        return
    try:
        problems = _schema_problems(_validator(tool, "metadata_schema"), result.metadata)
    except ValueError as exc:
        raise InvalidAnswer(str(exc)) from exc
    if problems:
        raise InvalidAnswer(
            f"the metadata of the result of {tool.name!r} does not fit: {'; '.join(problems)}. Send it corrected."
        )


def _names(tool: ToolBase) -> list[str]:
    return list(tool.input_schema.get("properties", {}))


def _refusal(tool: ToolBase, problems: Iterable[str]) -> InvalidInput:
    return InvalidInput(
        f"{tool.name} was not run; its arguments do not fit: {'; '.join(problems)}. Correct them and call it again."
    )


def pydantic_problems(error: ValidationError, known: Iterable[str] = ()) -> list[str]:
    """What was wrong, one phrase for each of the first problems: `'timeout' must be ... (got "x")`."""
    problems = error.errors(include_url=False, include_context=False)
    phrases = []
    for problem in problems[:_SHOWN]:
        where = ".".join(str(part) for part in problem["loc"]) or "the input"
        match problem["type"]:
            case "missing":
                phrases.append(f"{where!r} is missing")
            case "extra_forbidden":
                hint = f" (it takes {', '.join(known)})" if len(problem["loc"]) == 1 and known else ""
                phrases.append(f"{where!r} is not an argument{hint}")
            case _:
                message = problem["msg"].removeprefix("Value error, ")
                phrases.append(f"{where!r}: {message} (got {_clip(problem['input'])})")
    return _with_rest(phrases, len(problems))


def _with_rest(phrases: list[str], total: int) -> list[str]:
    return [*phrases, f"and {total - len(phrases)} more problems"] if total > len(phrases) else phrases


def _clip(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _CLIP else f"{text[:_CLIP]}..."


def _schema_problems(validator: Draft202012Validator, value: Any) -> list[str]:
    from referencing.exceptions import Unresolvable

    try:
        found = sorted(validator.iter_errors(value), key=lambda e: [str(p) for p in e.absolute_path])
    except Unresolvable as exc:
        raise ValueError(f"the schema refers to {exc.ref!r}, which is not part of it.") from exc
    except RecursionError as exc:
        raise ValueError("the schema or the value is nested too deep to check.") from exc
    return _with_rest([_phrase(e) for e in found[:_SHOWN]], len(found))


def _phrase(error: SchemaViolation) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    message = error.message if len(error.message) <= 4 * _CLIP else f"{error.message[: 4 * _CLIP]}..."
    return f"{where!r}: {message}" if where else message


def _validator(tool: ToolBase, which: str) -> Draft202012Validator:
    return cached(tool, which, getattr(tool, which), lambda: _new_validator(tool.name, which, getattr(tool, which)))


def _new_validator(name: str, which: str, schema: dict[str, Any]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        raise ValueError(f"The {which} of the tool {name!r} is not a JSON schema: {exc.message}.") from exc
    # An empty registry: a schema may come from a server, and `$ref` must not make us fetch what it names.
    return Draft202012Validator(schema, registry=Registry())


# -- what is worked out once for each tool -----------------------------------------------------------------

_cache: WeakKeyDictionary[ToolBase, dict[str, tuple[Any, Any]]] = WeakKeyDictionary()


def cached(tool: ToolBase, what: str, of: Any, make: Callable[[], _T]) -> _T:
    """`make()`, kept as long as the tool lives and `of`, what it was made of, is the same object or equal tuple."""
    try:
        kept = _cache.setdefault(tool, {})
    except TypeError:  # a tool that cannot be hashed (a dataclass, say) is worked out anew each time
        return make()
    found = kept.get(what)
    if found is not None and (found[0] is of or (type(of) is tuple and found[0] == of)):
        kept_value: _T = found[1]
        return kept_value
    made = make()
    kept[what] = (of, made)
    return made

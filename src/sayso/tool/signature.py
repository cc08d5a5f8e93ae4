"""What a typed Python function says about itself: the arguments it takes, as a schema and as a validator; its docs.

Owns reading annotations, defaults and docstrings. Must not know tools, nor call the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NotRequired, get_type_hints
from weakref import WeakKeyDictionary

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from sayso.tool.schema import schema_of

__all__ = ["Docs", "Signature", "docs_of", "signature_of"]


@dataclass(frozen=True, slots=True)
class Docs:
    """What a docstring says of the function, and of each argument."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function.

    adapter: turns JSON into typed keyword arguments. schema: JSON schema of them.
    defaults: defaults that are written as pydantic fields, which Python itself would pass on as they are.
    """

    adapter: TypeAdapter[Any]
    schema: dict[str, Any]
    defaults: dict[str, FieldInfo]


def docs_of(function: Callable[..., Any]) -> Docs:
    """The docstring, read as Google, NumPy or reST style, whichever fits best."""
    text = inspect.cleandoc(_underlying(function).__doc__ or "")
    if not text:
        return Docs()
    # Lazily: it takes 20 ms to import, and most programs that import this define no function tool.
    from docstring_parser import DocstringStyle, ParseError, parse

    try:
        doc = parse(text, style=DocstringStyle.AUTO)
    except ParseError:  # not in any of the styles: then it is all description
        return Docs(description=text)
    parts = [doc.short_description, doc.long_description]
    if doc.returns is not None and doc.returns.description:
        parts.append(f"Returns: {doc.returns.description}")
    return Docs(
        description="\n\n".join(p.strip() for p in parts if p),
        arguments={p.arg_name: p.description.strip() for p in doc.params if p.description},
    )


_known: WeakKeyDictionary[Callable[..., Any], Signature] = WeakKeyDictionary()


def signature_of(function: Callable[..., Any], docs: Docs) -> Signature:
    """Schema and validator of a function's parameters. Raises TypeError, naming the parameter that has none.

    Known again for the same function: a host builds the agent of a session, and its tools, at every input.
    """
    try:
        known = _known.get(function)
    except TypeError:  # it cannot be kept by weak reference, such as a partial
        return _signature(function, docs)
    if known is None:
        known = _known[function] = _signature(function, docs)
    return known


def _signature(function: Callable[..., Any], docs: Docs) -> Signature:
    name = getattr(function, "__qualname__", repr(function))
    hints = _hints(function, name)
    fields: dict[str, Any] = {}
    defaults: dict[str, FieldInfo] = {}
    schema_defaults: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint, required = _hint(parameter, hints, name), parameter.default is inspect.Parameter.empty
        if isinstance(parameter.default, FieldInfo):
            hint, required = Annotated[hint, parameter.default], parameter.default.is_required()
            if not required:
                defaults[parameter.name] = parameter.default
        elif not required:
            schema_defaults[parameter.name] = parameter.default
        fields[parameter.name] = hint if required else NotRequired[hint]
    adapter = _adapter(name, fields)
    schema = schema_of(adapter)
    _complete(schema.get("properties", {}), docs, schema_defaults)
    return Signature(adapter=adapter, schema=schema, defaults=defaults)


def _underlying(function: Callable[..., Any]) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(_underlying(function), include_extras=True)
    except NameError as exc:
        raise TypeError(
            f"the annotations of {name} cannot be read: {exc}; define or import that type at the top of its module"
        ) from exc


def _hint(parameter: inspect.Parameter, hints: dict[str, Any], function: str) -> Any:
    what = f"parameter {parameter.name!r} of {function}"
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            raise TypeError(f"{what} takes any arguments, so a model cannot be told which; pass input_schema=")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise TypeError(f"{what} is positional-only, but arguments are passed by name; remove the '/'")
    if parameter.name not in hints:
        raise TypeError(f"{what} has no annotation, so a model cannot be told its type; annotate it")
    return hints[parameter.name]


def _adapter(name: str, fields: dict[str, Any]) -> TypeAdapter[Any]:
    # A TypedDict, not a model: argument names are then free (`json`, `copy`, `_x`) and the defaults stay Python's.
    typed_dict: Any = TypedDict
    arguments = typed_dict("Arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as exc:
        for parameter, hint in fields.items() if len(fields) > 1 else ():
            _adapter_of_one(name, parameter, hint)
        what = ", ".join(fields)
        raise TypeError(
            f"the arguments of {name} ({what}) cannot be written as JSON: {str(exc).splitlines()[0]}"
        ) from exc
    return adapter


def _adapter_of_one(name: str, parameter: str, hint: Any) -> None:
    """Find the parameter that is to blame."""
    _adapter(name, {parameter: hint})


def _complete(properties: dict[str, Any], docs: Docs, defaults: dict[str, Any]) -> None:
    for name, schema in properties.items():
        if name in docs.arguments:
            schema.setdefault("description", docs.arguments[name])
        if name in defaults and "default" not in schema:
            try:
                schema["default"] = to_jsonable_python(defaults[name])
            except PydanticSerializationError:
                continue  # a sentinel: the model is only told that the argument may be left out

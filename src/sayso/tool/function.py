"""Tools made from typed Python functions.

Owns what a function becomes as a tool. Must not know permission rules or agents.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, overload

from pydantic_core import to_json

from sayso.request import Preview
from sayso.tool.base import ToolBase, Verified
from sayso.tool.run import call, threaded
from sayso.tool.schema import InvalidInput, pydantic_problems
from sayso.tool.signature import Signature, docs_of, signature_of

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext
    from sayso.permission.decision import PermissionDecision

__all__ = ["FunctionTool", "tool"]

Permission = Callable[[dict[str, Any], "PermissionContext"], "Awaitable[PermissionDecision | None]"]


class FunctionTool(ToolBase):
    """A function as a tool.

    The input schema comes from the annotations (Literal, Enum, dataclass, TypedDict, BaseModel, `Annotated[...,
    Field(...)]`, defaults), the description and those of the arguments from the docstring (Google, NumPy or reST).
    The function gets typed values. It may be plain (it then runs in a thread), async, a generator or an async
    generator; it may return text, a ToolChunk, a block, None, or anything that can be written as JSON.

    func: every parameter is annotated and can be passed by name; else TypeError.
    input_schema: JSON schema to use instead of the annotations; the function then gets the JSON values as they are.
    is_external_tool: it runs outside, and `func` only describes it.
    preview: called as `func` is; gives a Preview or text: what would happen.
    verify: called as `func` is; gives a Verified, or True / False / None (did happen, did not, unknown).
    check_permissions: `async (tool_input, context)`: the tool's own opinion, see ToolBase.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        name: str | None = None,
        description: str | None = None,
        input_schema: dict[str, Any] | None = None,
        *,
        is_concurrency_safe: bool = True,
        is_read_only: bool = False,
        is_external_tool: bool = False,
        metadata_schema: dict[str, Any] | None = None,
        idempotent: bool = False,
        preview: Callable[..., Any] | None = None,
        verify: Callable[..., Any] | None = None,
        check_permissions: Permission | None = None,
    ) -> None:
        docs = docs_of(func)
        self.func = func
        self.name = name or _name_of(func)
        self.description = docs.description if description is None else description
        self._signature: Signature | None = None
        if input_schema is None:
            self._signature = signature_of(func, docs)
            self.arguments = self._signature.adapter
            input_schema = copy.deepcopy(self._signature.schema)  # a tool is free to change its own
        self.input_schema = input_schema
        self.is_concurrency_safe = is_concurrency_safe
        self.is_read_only = is_read_only
        self.is_external_tool = is_external_tool
        self.metadata_schema = metadata_schema
        self.idempotent = idempotent
        self._preview = preview
        self._verify = verify
        self._check_permissions = check_permissions

    async def __call__(self, **tool_input: Any) -> Any:
        """What the function returns; a generator's values one by one, as an async iterator."""
        value = await call(self.func, self._values(tool_input))
        return threaded(value) if inspect.isgenerator(value) else value

    def _values(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        signature = self._signature
        if signature is None:
            return tool_input
        from pydantic import ValidationError

        try:
            values: dict[str, Any] = signature.adapter.validate_json(to_json(tool_input), strict=True)
        except ValidationError as exc:
            problems = "; ".join(pydantic_problems(exc, known=self.input_schema.get("properties", {})))
            raise InvalidInput(f"the arguments of {self.name} do not fit: {problems}") from exc
        for name, field in signature.defaults.items():
            if name not in values:
                values[name] = field.get_default(call_default_factory=True, validated_data=values)
        return values

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision | None:
        """The opinion of the `check_permissions` given, if any."""
        if self._check_permissions is None:
            return None
        return await self._check_permissions(tool_input, context)

    async def preview(self, tool_input: dict[str, Any]) -> Preview | None:
        """What the `preview` function given says, if any."""
        if self._preview is None:
            return None
        shown = await call(self._preview, self._values(tool_input))
        return Preview(kind="text", text=shown) if isinstance(shown, str) else shown

    async def verify(self, tool_input: dict[str, Any]) -> Verified:
        """What the `verify` function given says, if any."""
        if self._verify is None:
            return await super().verify(tool_input)
        found = await call(self._verify, self._values(tool_input))
        if isinstance(found, Verified):
            return found
        if found is None:
            return Verified(outcome="unknown")
        return Verified(outcome="done" if found is True else "not_done" if found is False else "unknown")


def _name_of(func: Callable[..., Any]) -> str:
    name = getattr(func, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"{func!r} has no name that a model could call it by; pass name=")
    return str(name)


@overload
def tool(func: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    input_schema: dict[str, Any] | None = None,
    is_concurrency_safe: bool = True,
    is_read_only: bool = False,
    is_external_tool: bool = False,
    metadata_schema: dict[str, Any] | None = None,
    idempotent: bool = False,
    preview: Callable[..., Any] | None = None,
    verify: Callable[..., Any] | None = None,
    check_permissions: Permission | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(func: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a tool: `@tool`, or `@tool(is_read_only=True)` with the options of FunctionTool."""
    if func is not None:
        return FunctionTool(func)
    return lambda func: FunctionTool(func, **options)

"""What a tool is: a name, a schema, what it may need, and what it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sayso.ids import new_id
from sayso.message import DataBlock, TextBlock, ToolResultBlock, ToolResultState
from sayso.request import Preview

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from sayso.permission.context import PermissionContext
    from sayso.permission.decision import PermissionDecision
    from sayso.permission.rule import PermissionRule
    from sayso.permission.unit import Unit

__all__ = ["ToolBase", "ToolChunk", "ToolOutput", "Verified"]


class ToolChunk(BaseModel):
    """A piece of a result; the last piece's final state is the result's.

    content given as text becomes one TextBlock. state: `success`, `error` or `interrupted` when known, `running`
    for a piece in between (a stream that ends in `running` counts as success).
    """

    model_config = ConfigDict(defer_build=True)

    content: list[TextBlock | DataBlock] = Field(default_factory=list)
    state: ToolResultState = ToolResultState.RUNNING
    is_last: bool = True
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=new_id)

    def __init__(self, **data: Any) -> None:
        if isinstance(data.get("content"), str):
            data["content"] = [TextBlock(text=data["content"])]
        super().__init__(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What `verify` found out about a call whose runner was lost."""

    outcome: Literal["done", "not_done", "unknown"]
    result: str = ""


ToolOutput = ToolChunk | str | AsyncIterator["ToolChunk"]


class ToolBase:
    """A tool. Subclass it, set the class attributes, write `__call__`.

    name, description, input_schema: what the model is told; the input is validated against the schema first.
    arguments: a pydantic adapter of the input, if there is one: then it validates (strictly, as JSON) and is faster
        than the schema, which should be made from it: `input_schema = schema_of(arguments)`.
    is_read_only: it changes nothing anywhere; it may run without asking and again after a crash.
    is_concurrency_safe: calls beside each other in one message may run together.
    is_external_tool: it runs outside: a call pauses the reply until somebody returns its result.
    request_kind: what a call of an external tool waits for: a result, or (`ask`) a person's answers to its questions.
    metadata_schema: JSON schema that an external result's `metadata` must fit on success.
    idempotent: running it twice with one input is as running it once; it may run again after a crash.
    output_limit: characters of a result's text that are kept; of a longer one the middle is cut.
    """

    name: str = ""
    description: str = ""
    input_schema: dict[str, Any] = {"type": "object", "properties": {}}
    is_read_only: bool = False
    is_concurrency_safe: bool = False
    is_external_tool: bool = False
    request_kind: Literal["external", "ask"] = "external"
    metadata_schema: dict[str, Any] | None = None
    idempotent: bool = False
    arguments: TypeAdapter[Any] | None = None
    output_limit: int = 30_000

    def __call__(self, *args: Any, **tool_input: Any) -> ToolOutput | Awaitable[ToolOutput]:
        """Do it. Plain, async, or an async generator of chunks; an exception becomes a result in state `error`."""
        raise NotImplementedError(f"tool {self.name!r} has no __call__; external tools are never called")

    # -- what the permission engine asks ---------------------------------------------------------

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """What the call would do, cut into units that each need cover. Default: one unit, the call itself."""
        from sayso.permission.unit import CallUnit

        return (CallUnit(tool_input=tool_input),)

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision | None:
        """The tool's own opinion, or None to leave it to rules and mode. Its allow never beats a deny or ask rule."""
        return None

    def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool | None:
        """Whether a rule of this tool covers the call; None to leave it to the engine's own patterns."""
        return None

    def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Rules to offer when the call asks, narrowest first; the engine proves each before it is shown."""
        return []

    # -- what a person is shown, and what happens after a crash ----------------------------------

    async def preview(self, tool_input: dict[str, Any]) -> Preview | None:
        """What would happen, without doing it; None shows the arguments."""
        return None

    async def verify(self, tool_input: dict[str, Any]) -> Verified:
        """Whether a call whose runner was lost did happen."""
        return Verified(outcome="unknown")

    def check_result(self, tool_input: dict[str, Any], result: ToolResultBlock) -> None:
        """Refuse a result from outside that does not fit; called for external tools, before anything is stored.

        Default: on success, `metadata` must fit `metadata_schema`. Raises InvalidAnswer.
        """
        from sayso.tool.schema import check_metadata

        check_metadata(self, result)

    def recall(self, result: ToolResultBlock) -> None:
        """A finished result of this tool, from the log of a session that goes on in this process."""

    def beside(self, tools: Sequence[ToolBase]) -> None:
        """Called when it is put into a toolkit, with the tools already there, so that they may share what they know."""

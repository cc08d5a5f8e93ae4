"""What the engine says about one call, with the rule or check that made it say so."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from sayso.permission.rule import PermissionBehavior, PermissionRule

__all__ = ["PermissionDecision"]


class PermissionDecision(BaseModel):
    """A verdict.

    message: one sentence for the person who is asked, or for the model when denied.
    decision_reason: the rule or check that decided, for the log.
    updated_input: the input to run instead, if a tool's own check changed it.
    suggested_rules: rules that would make this very call pass, narrowest first; each proven before it is offered.
    bypass_immune: a safety ask, which no allow rule silences.
    """

    model_config = ConfigDict(defer_build=True)

    behavior: PermissionBehavior
    message: str = ""
    decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    suggested_rules: list[PermissionRule] | None = None
    bypass_immune: bool = False

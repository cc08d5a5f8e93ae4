"""What a permission rule is, and the small words of a verdict."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

__all__ = ["PermissionBehavior", "PermissionRule"]


class PermissionBehavior(StrEnum):
    """What a rule wants, and what a decision says."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class PermissionRule(BaseModel):
    """One rule: calls of `tool_name` that match `rule_content` get `behavior`.

    rule_content: for Bash a command pattern, for file tools a gitignore-like glob, for any other tool a JSON
        object of argument patterns; None matches every call of the tool. The language is in docs/rules.md.
    expires_at: ISO 8601 with UTC offset; from then on a session's rule counts no more. None is for ever.
    source: where the rule comes from, for people: `session`, `user`, `project`, a file name.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    tool_name: str
    rule_content: str | None = None
    behavior: PermissionBehavior
    source: str = "session"
    expires_at: str | None = None

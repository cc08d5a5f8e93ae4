"""The rules and the mode in force for a session."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from sayso.permission.rule import PermissionBehavior, PermissionRule

__all__ = ["AdditionalWorkingDirectory", "PermissionContext", "PermissionMode"]


class PermissionMode(StrEnum):
    """How much happens without asking."""

    DEFAULT = "default"
    """Reads run; everything else asks unless a rule allows it."""
    ACCEPT_EDITS = "accept_edits"
    """As default, and file edits inside the working directories run."""
    EXPLORE = "explore"
    """Only what is proven to read runs; the rest is denied, whatever the allow rules say."""
    BYPASS = "bypass"
    """Everything runs that no deny or ask rule catches."""
    DONT_ASK = "dont_ask"
    """As default, and every ask is a deny."""


class AdditionalWorkingDirectory(BaseModel):
    """A directory, besides the process's own, in which file edits count as inside."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    source: str = "session"


class PermissionContext(BaseModel):
    """Mode, directories and rules. The rule tables go from tool name to that tool's rules."""

    model_config = ConfigDict(defer_build=True)

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, AdditionalWorkingDirectory] = Field(default_factory=dict)
    allow_rules: dict[str, list[PermissionRule]] = Field(default_factory=dict)
    deny_rules: dict[str, list[PermissionRule]] = Field(default_factory=dict)
    ask_rules: dict[str, list[PermissionRule]] = Field(default_factory=dict)

    def rules(self, behavior: PermissionBehavior) -> dict[str, list[PermissionRule]]:
        """The table that holds the rules of one behaviour."""
        match behavior:
            case PermissionBehavior.ALLOW:
                return self.allow_rules
            case PermissionBehavior.DENY:
                return self.deny_rules
            case PermissionBehavior.ASK:
                return self.ask_rules

    def add_rule(self, rule: PermissionRule) -> None:
        """Add one rule, once."""
        of_tool = self.rules(rule.behavior).setdefault(rule.tool_name, [])
        # By content first: comparing two rules whole takes thirty times as long as comparing two texts.
        if all(known.rule_content != rule.rule_content or known != rule for known in of_tool):
            of_tool.append(rule)

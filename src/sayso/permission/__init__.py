"""May this call run? Rules, modes, decisions and the engine that makes them.

Rules are no sandbox: a program that was allowed to start does what it likes. docs/rules.md says what the engine cannot
know.
"""

from sayso.permission.context import AdditionalWorkingDirectory, PermissionContext, PermissionMode
from sayso.permission.decision import PermissionDecision
from sayso.permission.engine import PermissionEngine
from sayso.permission.rule import PermissionBehavior, PermissionRule

__all__ = [
    "AdditionalWorkingDirectory",
    "PermissionBehavior",
    "PermissionContext",
    "PermissionDecision",
    "PermissionEngine",
    "PermissionMode",
    "PermissionRule",
]

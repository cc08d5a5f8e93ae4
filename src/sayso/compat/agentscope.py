"""Run programs written for AgentScope's vocabulary unchanged: `import sayso.compat.agentscope` before they import it.

Registers `agentscope.event`, `.message`, `.tool`, `.permission`, `.agent`, `.state` and `.model` as aliases of ours.
Only names are shared. Refuses where the real package is installed or already imported: two meanings of one name in
one process would be worse than an error.
"""

import importlib
import importlib.util
import sys
from types import ModuleType

from sayso.errors import Refused

__all__ = ["ALIASED"]

ALIASED = ("event", "message", "tool", "permission", "agent", "state", "model")


def _register() -> None:
    loaded = sys.modules.get("agentscope")
    if loaded is not None and getattr(loaded, "__sayso__", False):
        return
    if loaded is not None or importlib.util.find_spec("agentscope") is not None:
        raise Refused(
            "the agentscope package is installed here; sayso.compat.agentscope would shadow it. "
            "Uninstall agentscope, or write `from sayso...` instead of `from agentscope...`"
        )
    root = ModuleType("agentscope", "Aliases of sayso's modules.")
    root.__path__ = []
    root.__sayso__ = True  # type: ignore[attr-defined]
    sys.modules["agentscope"] = root
    for name in ALIASED:
        module = importlib.import_module(f"sayso.{name}")
        sys.modules[f"agentscope.{name}"] = module
        setattr(root, name, module)


_register()

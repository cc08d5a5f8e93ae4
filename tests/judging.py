"""A scratch tree and a way to judge calls in it, for the tests of permissions. Nothing is executed."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from sayso.permission.files import denied_globs, file_unit, search_unit
from sayso.permission.shell.units import shell_units
from sayso.permission.unit import Unit
from sayso.tool.base import ToolBase


def allow(tool: str, content: str | None = None) -> PermissionRule:
    return PermissionRule(tool_name=tool, rule_content=content, behavior=PermissionBehavior.ALLOW, source="test")


def deny(tool: str, content: str | None = None) -> PermissionRule:
    return PermissionRule(tool_name=tool, rule_content=content, behavior=PermissionBehavior.DENY, source="test")


def ask(tool: str, content: str | None = None) -> PermissionRule:
    return PermissionRule(tool_name=tool, rule_content=content, behavior=PermissionBehavior.ASK, source="test")


class Pay(ToolBase):
    """A tool that would move money."""

    name = "Pay"
    input_schema = {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "amount": {"type": "number", "minimum": 0},
            "memo": {"type": "string"},
            "urgent": {"type": "boolean", "default": False},
        },
        "required": ["to", "amount"],
    }


class Files(ToolBase):
    """One file operation under the name of a built-in tool."""

    def __init__(self, name: str, cwd: str, exclude: bool = False) -> None:
        self.name = name
        self.cwd = cwd
        self.exclude = exclude

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        path = tool_input.get("file_path", tool_input.get("path"))
        if self.name in ("Grep", "Glob"):
            tools = (self.name, "Read")
            excludes = denied_globs(context, path or ".", tools=tools, cwd=self.cwd) if self.exclude else ()
            return (search_unit(path, cwd=self.cwd, rule_tools=tools, excludes=excludes),)
        if self.name == "Read":
            return (file_unit("read", path, cwd=self.cwd, rule_tools=("Read",)),)
        both = ("Write", "Edit") if self.name == "Write" else ("Edit", "Write")
        return (file_unit("write", path, cwd=self.cwd, rule_tools=both),)


class Shell(ToolBase):
    """What Bash is to the engine: a name, a directory, and the units of a command."""

    name = "Bash"
    input_schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        workspace = [self.cwd, *context.working_directories]
        return shell_units(tool_input["command"], cwd=self.cwd, home=os.environ["HOME"], workspace=workspace)


@dataclass
class World:
    """`work` is the working directory; `home` and `outside` lie beside it."""

    root: Path
    context: PermissionContext = field(default_factory=PermissionContext)
    policy: PermissionContext | None = None

    @property
    def work(self) -> Path:
        return self.root / "work"

    def __post_init__(self) -> None:
        for name in ("work/src/app", "work/secrets", "work/build", "home/.ssh", "outside"):
            (self.root / name).mkdir(parents=True)
        for name in ("work/src/main.py", "work/secrets/key.txt", "outside/notes.txt", "work/.env", "work/README.md"):
            (self.root / name).write_text("x\n")

    def under(self, *rules: PermissionRule, mode: str = "default", directories: Sequence[Path] = ()) -> "World":
        """The same tree under these rules."""
        self.context = PermissionContext(mode=PermissionMode(mode))
        for rule in rules:
            self.engine.add_rule(rule)
        for path in directories:
            self.context.working_directories[str(path)] = AdditionalWorkingDirectory(path=str(path))
        return self

    @property
    def engine(self) -> PermissionEngine:
        return PermissionEngine(self.context, policy=self.policy, home=str(self.root / "home"))

    def decide(self, tool: ToolBase, tool_input: dict[str, Any], *, confirmed: bool = False) -> PermissionDecision:
        return asyncio.run(self.engine.check_permission(tool, tool_input, confirmed=confirmed))

    def write(self, path: str, **more: Any) -> str:
        """What is said of writing `path`."""
        return self.decide(Files("Write", str(self.work)), {"file_path": path}, **more).behavior

    def read(self, path: str, **more: Any) -> str:
        return self.decide(Files("Read", str(self.work)), {"file_path": path}, **more).behavior

    def grep(self, path: str | None = None, *, exclude: bool = False) -> str:
        return self.decide(Files("Grep", str(self.work), exclude), {"path": path}).behavior

    def pay(self, confirmed: bool = False, **arguments: Any) -> str:
        return self.decide(Pay(), arguments, confirmed=confirmed).behavior

    def bash(self, command: str, **more: Any) -> PermissionDecision:
        return self.decide(Shell(str(self.work)), {"command": command}, **more)

    def said(self, command: str) -> str:
        """What is said of running `command`."""
        return self.bash(command).behavior

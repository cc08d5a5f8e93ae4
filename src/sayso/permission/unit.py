"""What the engine judges: a call, cut into units, each of which needs cover.

A tool says what a call would do by returning units from `ToolBase.units`. The engine decides each unit and takes
the strictest verdict. Owns no policy: what a rule matches and what is safe is the engine's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["CallUnit", "CommandUnit", "FileUnit", "OpaqueUnit", "Unit", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """One argument: its literal text, or None where only running would tell. `source` is how it was written."""

    text: str | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUnit:
    """A file is read, written, removed or searched.

    op: `read`, `write` (create or change), `remove`, `search` (a directory tree is read).
    path: as written, or None where unknown; resolved against `cwd`.
    rule_tools: names of the tools whose rules speak about it, such as ("Write", "Edit").
    """

    op: Literal["read", "write", "remove", "search"]
    path: str | None
    cwd: str | None
    rule_tools: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandUnit:
    """One simple command of a shell text: assignments, argv, cwd. Redirections are FileUnits of their own.

    wrapped: heads it was found behind (`timeout`, `env`), outermost first.
    cwd: the directory it runs in, or None where unknown.
    """

    argv: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    wrapped: tuple[str, ...] = ()
    cwd: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUnit:
    """A whole call of a tool that is neither a shell nor a file tool."""

    tool_input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueUnit:
    """Something that is not understood: it asks, whatever the allow rules say. `why` is for the person."""

    why: str
    source: str = ""


Unit = FileUnit | CommandUnit | CallUnit | OpaqueUnit
Units = Sequence[Unit]

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
    """One argument: its literal text, or None where only running would tell. `source` is how it was written.

    prefix, single: meaningful where text is None. Every word that this one can become begins with `prefix` (so
        `src/*.py` never turns into an option); `single` says that it becomes exactly one word.
    """

    text: str | None
    source: str
    prefix: str = ""
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUnit:
    """A file is read, written, removed or searched.

    op: `read`, `write` (create or change), `remove`, `search` (a directory tree is read).
    path: after expansion, or None where unknown; resolved against `cwd`. A `~` in it is a file name.
    rule_tools: names of the tools whose rules speak about it, such as ("Write", "Edit"): allow rules of the first one
        cover it, deny and ask rules of each hold for it. ("Glob",) alone: only names are read, no content.
    excludes: globs that a search promises not to enter.
    prefix: where path is None, what every path that it can become begins with.
    """

    op: Literal["read", "write", "remove", "search"]
    path: str | None
    cwd: str | None
    rule_tools: tuple[str, ...]
    source: str = ""
    excludes: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandUnit:
    """One simple command of a shell text: assignments, argv, cwd. Redirections are FileUnits of their own.

    wrapped: heads it was found behind (`timeout`, `env`), outermost first.
    behind: the words in front of argv that belong to those wrappers (`timeout`, `60`), where argv follows at once.
    cwd: the directory it runs in, or None where unknown.
    needs_cover: False where only deny, ask and safety checks apply, because another unit of the call carries the cover:
        the `timeout 5 ...` of `timeout 5 rm x`, the inside of `sudo ...` or `bash -c '...'`; also shell builtins that
        were judged to do nothing but change harmless state (`cd src`, `set -e`, `x=1`).
    open_argv: more words follow, unknown before it runs (the command of xargs, of find -exec).
    inner_at: for a wrapper that needs cover itself (`sudo`, `bash -c`): index in argv of the command it runs. A rule
        covers this unit only if its literal words reach at least that far.
    """

    argv: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    wrapped: tuple[str, ...] = ()
    behind: tuple[Word, ...] = ()
    cwd: str | None = None
    needs_cover: bool = True
    open_argv: bool = False
    inner_at: int | None = None
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

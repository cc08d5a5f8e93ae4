"""Glob and Grep: which files there are, and which hold a text.

Owns the two tools. Walking and matching run in a process of their own (`walker`, or ripgrep), which is ended when it
takes too long: a pattern is untrusted. What may be searched is the permission engine's.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sayso.message import TextBlock, ToolResultState
from sayso.permission.unit import Unit
from sayso.tool.base import ToolChunk
from sayso.tool.disk import FileProblem
from sayso.tool.ledger import FileLedger
from sayso.tool.place import FileTool, failed
from sayso.tool.process import Directory, Program, scrubbed
from sayso.tool.schema import schema_of

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext

__all__ = ["Glob", "Grep"]

_SECONDS: Final = 30.0  # a search that takes longer wants a narrower path
_SHOWN: Final = 250  # lines of a result, unless the call says otherwise
_SAID: Final = 500  # characters of what the program says when it fails
_BYTES: Final = 2_000_000  # of output that are looked at
_WALKER: Final = str(Path(__file__).with_name("walker.py"))
_CONFIG = ConfigDict(extra="forbid", defer_build=True)


class GlobInput(BaseModel):
    """Arguments of Glob."""

    model_config = _CONFIG

    pattern: Annotated[str, Field(min_length=1, description="Such as **/*.py or src/**/test_*.ts.")]
    path: Annotated[str | None, Field(description="Directory to search; the working directory if left out.")] = None
    head_limit: Annotated[int, Field(ge=0, description="How many paths to show; 0 for all.")] = _SHOWN
    offset: Annotated[int, Field(ge=0, description="How many paths to pass over first.")] = 0


class GrepInput(BaseModel):
    """Arguments of Grep."""

    model_config = ConfigDict(extra="forbid", defer_build=True, populate_by_name=True)

    pattern: Annotated[str, Field(min_length=1, description="A regular expression.")]
    path: Annotated[
        str | None, Field(description="File or directory to search; the working directory if left out.")
    ] = None
    output_mode: Annotated[
        Literal["content", "files_with_matches", "count"],
        Field(description="Matching lines, names of files, or counts."),
    ] = "files_with_matches"
    glob: Annotated[str | None, Field(description="Only files whose name or path matches, such as *.py.")] = None
    type: Annotated[str | None, Field(description="Only files of this type, such as py, js, rust.")] = None
    after: Annotated[int, Field(alias="-A", ge=0, le=100, description="Lines to show after a match.")] = 0
    before: Annotated[int, Field(alias="-B", ge=0, le=100, description="Lines to show before a match.")] = 0
    around: Annotated[int, Field(alias="-C", ge=0, le=100, description="Lines to show around a match.")] = 0
    context: Annotated[int, Field(ge=0, le=100, description="As -C.")] = 0
    n: Annotated[bool, Field(description="Show line numbers.")] = True
    i: Annotated[bool, Field(description="Ignore case.")] = False
    multiline: Annotated[bool, Field(description="A match may span lines, and . matches a newline.")] = False
    head_limit: Annotated[int, Field(ge=0, description="How many lines to show; 0 for all.")] = _SHOWN
    offset: Annotated[int, Field(ge=0, description="How many lines to pass over first.")] = 0


_GLOB: TypeAdapter[GlobInput] = TypeAdapter(GlobInput)
_GREP: TypeAdapter[GrepInput] = TypeAdapter(GrepInput)


class _Search(FileTool):
    """What both have in common: a root, a program that searches it, and a bounded result."""

    is_read_only = True
    is_concurrency_safe = True
    _reads: tuple[str, ...] = ()

    def _unit(self, tool_input: dict[str, Any], context: PermissionContext, below: str = "") -> Sequence[Unit]:
        """The tree below the root is read, but for what rules forbid Read: that is left out of the search."""
        from sayso.permission.files import denied_globs, search_unit

        path = tool_input.get("path")
        if below and (path is None or isinstance(path, str)):
            path = os.path.join(path or ".", below)
        if isinstance(path, str | None):
            root = path or "."
            self.note_judged(root)
            self._left_out |= set(denied_globs(context, root, tools=("Read",), cwd=self.cwd)) if self._reads else set()
        excludes = tuple(sorted(self._left_out))
        return (search_unit(path, cwd=self.cwd, rule_tools=(self.name, *self._reads), excludes=excludes),)

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        # Globs that some session's rules take out of every search: leaving out too much is safe, too little is not.
        self._left_out: set[str] = set()

    def _root(self, path: str, *, directory: bool = False) -> str:
        """The canonical root of a search. Raises FileProblem if there is no such thing."""
        root = self.place(path, running=True)
        if not os.path.exists(root):
            raise FileProblem(f"There is no {root}.")
        if directory and not os.path.isdir(root):
            raise FileProblem(f"{root} is not a directory.")
        return root

    async def _run(self, argv: Sequence[str], root: str) -> tuple[list[str], str]:
        """The lines that the program prints, and what is to be said of how it ended."""
        data, cut = b"", False
        where = _directory(root)
        async with Program.start(argv, cwd=where, env=scrubbed(os.environ), seconds=_SECONDS) as program:
            async for piece in program.output():
                data += piece
                if len(data) > _BYTES:
                    cut = True
                    break
        lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []
        if cut:
            return lines[:-1], "[more than can be looked at; search a narrower path]"
        ended = program.ended
        if ended is None or ended.timed_out:
            return lines, f"[stopped after {_SECONDS:g} s; search a narrower path]"
        if ended.exit_code in (0, 1):
            return lines, ""
        if argv[0] == sys.executable or not lines or lines[0].startswith("rg: "):
            said = " ".join(" ".join(lines).split())
            raise FileProblem(said[:_SAID] or f"The search failed with exit code {ended.exit_code}.")
        return lines, "[some files could not be read]"

    def _page(self, lines: Sequence[str], note: str, *, offset: int, limit: int, nothing: str) -> ToolChunk:
        shown = lines[offset : offset + limit] if limit else lines[offset:]
        if not lines and not note:
            return ToolChunk(content=[TextBlock(text=nothing)], state=ToolResultState.SUCCESS)
        out = list(shown)
        if (left := len(lines) - offset - len(shown)) > 0:
            out.append(f"[{left} more; go on with offset={offset + len(shown)}]")
        if note:
            out.append(note)
        return ToolChunk(content=[TextBlock(text="\n".join(out))], state=ToolResultState.SUCCESS)

    def _walk(self, order: dict[str, Any]) -> list[str]:
        return [sys.executable, "-I", _WALKER, json.dumps(order | {"excludes": sorted(self._left_out)})]


class Glob(_Search):
    """Paths below a directory that match a pattern, the file changed last first. Version control's own are left out."""

    name = "Glob"
    description = (
        "Find files by a pattern such as **/*.py. Gives paths, the file changed last first. "
        "What version control keeps for itself (.git and the like) is left out."
    )
    arguments = _GLOB

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_GLOB)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """Names below the root are listed; the literal start of the pattern belongs to the root."""
        return self._unit(tool_input, context, _literal_start(tool_input.get("pattern")))

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """The paths, or in state `error` why not."""
        given = _GLOB.validate_python(tool_input)
        below = _literal_start(given.pattern)
        try:
            root = self._root(os.path.join(given.path or ".", below), directory=True)
            pattern = given.pattern[len(below) :].lstrip("/") if below else given.pattern
            lines, note = await self._run(self._walk({"do": "glob", "root": root, "pattern": pattern}), root)
        except (FileProblem, OSError) as exc:
            return failed(exc)
        return self._page(
            lines, note, offset=given.offset, limit=given.head_limit, nothing=f"No file matches {given.pattern}."
        )


def _directory(root: str) -> Directory:
    return Directory(root if os.path.isdir(root) else os.path.dirname(root))


def _literal_start(pattern: Any) -> str:
    """The directories of a pattern before its first wildcard: `src/lib/*.py` starts with `src/lib`."""
    if not isinstance(pattern, str):
        return ""
    parts = pattern.split("/")[:-1]
    taken: list[str] = []
    for part in parts:
        if any(mark in part for mark in "*?[{"):
            break
        taken.append(part)
    return "/".join(taken) or ("/" if pattern.startswith("/") else "")


class Grep(_Search):
    """Lines, files or counts where a regular expression matches; by ripgrep where there is one.

    ripgrep: its path, or None to search without it; by default the one on PATH.
    """

    name = "Grep"
    description = (
        "Search the content of files with a regular expression. output_mode: files_with_matches (the default), content "
        "(lines, with -A/-B/-C around and n for numbers) or count. Narrow it with path, glob or type."
    )
    arguments = _GREP
    _reads = ("Read",)

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        ledger: FileLedger | None = None,
        ripgrep: str | None = "rg",
    ) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_GREP)
        self._ripgrep = ripgrep and shutil.which(ripgrep)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """Files below the root are read."""
        return self._unit(tool_input, context)

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """What was found, or in state `error` why not."""
        given = _GREP.validate_python(tool_input)
        try:
            root = self._root(given.path or ".")
            lines, note = await self._run(self._argv(given, root), root)
        except (FileProblem, OSError) as exc:
            return failed(exc)
        return self._page(
            lines, note, offset=given.offset, limit=given.head_limit, nothing=f"Nothing matches {given.pattern}."
        )

    def _argv(self, given: GrepInput, root: str) -> list[str]:
        before, after = (max(n, given.around, given.context) for n in (given.before, given.after))
        if self._ripgrep is None or self._left_out:
            order = {"do": "grep", "root": root, "before": before, "after": after}
            names = ("pattern", "output_mode", "glob", "type", "n", "i", "multiline")
            return self._walk(order | {name: getattr(given, name) for name in names})
        argv = [self._ripgrep, "--no-config", "--color=never", "--no-heading", "--with-filename", "--hidden"]
        argv += [f"--glob=!{name}" for name in (".git", ".hg", ".svn", ".jj")]
        # What is left out is what the walker leaves out: by .gitignore files below the root, and nothing else.
        argv += ["--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude"]
        argv += ["--no-ignore-dot", "--no-messages", "--sort=path", "--max-columns=2000", "--max-columns-preview"]
        mode = {"content": [], "files_with_matches": ["--files-with-matches"], "count": ["--count-matches"]}
        argv += mode[given.output_mode]
        if given.output_mode == "content":
            argv += [f"--before-context={before}", f"--after-context={after}"]
            argv.append("--line-number" if given.n else "--no-line-number")
        argv += ["--ignore-case"] if given.i else []
        argv += ["--multiline", "--multiline-dotall"] if given.multiline else []
        argv += [f"--glob={given.glob}"] if given.glob else []
        argv += [f"--type={given.type}"] if given.type else []
        return [*argv, f"--regexp={given.pattern}", "--", root]

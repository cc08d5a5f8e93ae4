"""What the tools that work on paths share: where a path leads, what they know of files, how a failure reads.

Owns the base class of Read, Write, Edit, Glob and Grep. Must not know what each of them does.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any, Final

from sayso.message import TextBlock, ToolResultBlock, ToolResultState
from sayso.permission.path import absolute, resolve
from sayso.tool.base import ToolBase, ToolChunk
from sayso.tool.disk import FileProblem
from sayso.tool.ledger import FileLedger
from sayso.tool.text import NoMatch

__all__ = ["FileTool", "failed", "refusal"]

_LISTED: Final = 5_000  # names of a directory that are looked through for a similar one


class FileTool(ToolBase):
    """A tool on paths, relative to `cwd` (default: the process's, when the tool is made).

    ledger: what is known of files; the file tools of one toolkit share that of the first of them, unless one is given.
    """

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        self.cwd = os.path.realpath(os.path.expanduser(os.fspath(cwd)) if cwd is not None else os.getcwd())
        self.ledger = ledger if ledger is not None else FileLedger()
        self._own_ledger = ledger is None

    def beside(self, tools: Sequence[ToolBase]) -> None:
        """Share the ledger of the first file tool of the toolkit."""
        first = next((t for t in tools if isinstance(t, FileTool)), None)
        if first is not None and self._own_ledger:
            self.ledger = first.ledger

    def recall(self, result: ToolResultBlock) -> None:
        """Know again what this session has read or written."""
        path, version = result.metadata.get("path"), result.metadata.get("version")
        if result.state is ToolResultState.SUCCESS and isinstance(path, str) and isinstance(version, str):
            self.ledger.read(path, version)

    def note_judged(self, path: Any) -> None:
        """Note where `path` leads now, when the call is judged; what is no path is refused by whoever judges."""
        if not isinstance(path, str):
            return
        try:
            self.ledger.judged(absolute(path, cwd=self.cwd), resolve(path, cwd=self.cwd).real)
        except ValueError:
            return

    def place(self, path: str, *, running: bool) -> str:
        """The canonical path, which is what is opened. Raises FileProblem.

        running: the call runs now, so the path must lead where it led when the call was judged.
        """
        try:
            whole, found = absolute(path, cwd=self.cwd), resolve(path, cwd=self.cwd)
        except ValueError as exc:
            raise FileProblem(f"{path!r} cannot be used: {exc}.") from exc
        if found.outside is not None:
            raise FileProblem(f"{path!r} cannot be used: {found.outside}.")
        judged = self.ledger.taken(whole) if running else None
        if judged is not None and judged != found.real:
            raise FileProblem(
                f"{path!r} leads to {found.real} now, and led to {judged} when this call was judged. Nothing was done; "
                "call again if that is still what you want."
            )
        return found.real


def refusal(exc: FileProblem | NoMatch | OSError) -> str:
    """A failure in words for the model."""
    if not isinstance(exc, OSError) or exc.strerror is None:
        return str(exc)
    path = exc.filename if isinstance(exc.filename, str) else None
    match exc:
        case FileNotFoundError() if path:
            return f"There is no file {path}.{_similar(path)}"
        case IsADirectoryError() if path:
            return f"{path} is a directory. Use Glob to list what is in it."
        case _:
            return f"{path}: {exc.strerror}." if path else f"{exc.strerror}."


def _similar(path: str) -> str:
    directory, _, name = path.rpartition("/")
    try:
        with os.scandir(directory or "/") as entries:
            names = [entry.name for entry, _ in zip(entries, range(_LISTED), strict=False)]
    except OSError:
        there = directory
        while there and not os.path.isdir(there):
            there = there.rpartition("/")[0]
        return f" Its directory is missing too; what exists is {there or '/'}."
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    return f" Similar names there: {', '.join(folded[n] for n in near)}." if near else ""


def failed(exc: FileProblem | NoMatch | OSError) -> ToolChunk:
    """A result in state `error`."""
    return ToolChunk(content=[TextBlock(text=refusal(exc))], state=ToolResultState.ERROR)

"""Write and Edit: text files changed in one step, so that nobody's work is lost in silence.

Owns the two tools. Replacing is in disk.py, text in text.py, memory in ledger.py; what may be written is the
permission engine's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sayso.message import TextBlock
from sayso.permission.unit import Unit
from sayso.request import Preview
from sayso.tool.base import ToolChunk, Verified
from sayso.tool.disk import CONTENT_LIMIT, FileProblem, opened, read_whole, replace, version_of
from sayso.tool.ledger import FileLedger
from sayso.tool.output import bounded
from sayso.tool.place import FileTool, failed, refusal
from sayso.tool.schema import schema_of
from sayso.tool.text import NoMatch, Text, decoded, diff, kind_of, replaced

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext

__all__ = ["Edit", "Write"]

_CONFIG = ConfigDict(extra="forbid", defer_build=True)
_DIFF_SHOWN: Final = 4_000  # characters of the diff that the model gets back from an edit
_PATH = Field(min_length=1, description="Path of the file; a relative one starts from the working directory.")


class WriteInput(BaseModel):
    """Arguments of Write."""

    model_config = _CONFIG

    file_path: Annotated[str, _PATH]
    content: Annotated[str, Field(description="The whole new content.")]


class EditInput(BaseModel):
    """Arguments of Edit."""

    model_config = _CONFIG

    file_path: Annotated[str, _PATH]
    old_string: Annotated[str, Field(min_length=1, description="Text to replace, exactly as it is in the file.")]
    new_string: Annotated[str, Field(description="Text to put in its place.")]
    replace_all: Annotated[bool, Field(description="Replace every occurrence; otherwise there must be one.")] = False


_WRITE: TypeAdapter[WriteInput] = TypeAdapter(WriteInput)
_EDIT: TypeAdapter[EditInput] = TypeAdapter(EditInput)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a call would do to one file.

    old: its `fstat`, None for a new file. version: of the content it has now. before: that content as text, None if it
    is new or not text. was: what it is if not text.
    """

    path: str
    data: bytes
    after: str
    old: os.stat_result | None
    version: str | None
    before: str | None
    was: str = ""
    count: int = 1


class _Changing(FileTool):
    """What Write and Edit have in common: a change is planned, then shown or made."""

    def _plan(self, tool_input: dict[str, Any], *, running: bool) -> _Change:
        raise NotImplementedError

    async def preview(self, tool_input: dict[str, Any]) -> Preview | None:
        """A unified diff; or, in words, why the call would fail."""
        try:
            change = await asyncio.to_thread(self._plan, tool_input, running=False)
        except (FileProblem, NoMatch, OSError) as exc:
            return Preview(kind="text", text=f"As things are, this would fail: {refusal(exc)}", cwd=self.cwd)
        self.ledger.shown(change.path, change.version)
        if change.was:
            size = change.old.st_size if change.old is not None else 0
            text = f"Replaces {change.was} of {size:,} bytes with this text:\n{change.after}"
            return Preview(kind="text", text=text, cwd=self.cwd)
        text = diff(change.before, change.after, change.path)
        return Preview(kind="diff", text=text or f"{change.path} has this content already.", cwd=self.cwd)

    def _make(self, tool_input: dict[str, Any]) -> _Change:
        change = self._plan(tool_input, running=True)
        version = version_of(change.data)
        if version != change.version:
            replace(change.path, change.data, old=change.old)
        self.ledger.read(change.path, version)
        return change

    def _changed_since(self, path: str, version: str | None) -> None:
        """Refuse what is not as it was read, or as it was when the change was shown to a person."""
        known = self.ledger.known(path)
        if known is not None and version is not None and known.version not in (None, version):
            when = "it was last read" if known.read else "this change was shown for approval"
            raise FileProblem(f"{path} was changed by somebody else since {when}. Read it again, then decide anew.")


class Write(_Changing):
    """Creates a file, or replaces a file that was read before and has not changed since.

    The file is replaced in one step: it has the old content or the new one, never a part. Metadata: as Read's.
    """

    name = "Write"
    description = (
        "Write a whole text file. A file that exists must have been read first, and must not have changed since; "
        "to change a part of it, use Edit. Missing directories are made."
    )
    arguments = _WRITE
    idempotent = True

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_WRITE)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """One file is written. A rule that forbids or asks about edits holds for it too."""
        from sayso.permission.files import file_unit

        self.note_judged(tool_input.get("file_path"))
        return (file_unit("write", tool_input.get("file_path"), cwd=self.cwd, rule_tools=("Write", "Edit")),)

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """What was written, or in state `error` why not."""
        _WRITE.validate_python(tool_input)
        try:
            change = await asyncio.to_thread(self._make, tool_input)
        except (FileProblem, OSError) as exc:
            return failed(exc)
        if change.version == version_of(change.data):
            return _done(f"{change.path} had this content already.", change)
        what = "Created" if change.old is None else "Replaced"
        return _done(f"{what} {change.path}: {len(change.after.splitlines())} lines.", change)

    def _plan(self, tool_input: dict[str, Any], *, running: bool) -> _Change:
        given = _WRITE.validate_python(tool_input)
        path = self.place(given.file_path, running=running)
        data = given.content.encode()
        try:
            with opened(path) as descriptor:
                old = os.fstat(descriptor)
                large = old.st_size > CONTENT_LIMIT
                content = None if large else read_whole(descriptor, path).data
        except FileNotFoundError:
            return _Change(path=path, data=data, after=given.content, old=None, version=None, before=None)
        version = version_of(old if content is None else content)
        if version != version_of(data):
            known = self.ledger.known(path)
            if known is None or not known.read:
                raise FileProblem(f"{path} exists, and you have not read it. Read it first, so that nothing is lost.")
            self._changed_since(path, version)
        before, was = _text_or_kind(content)
        return _Change(path=path, data=data, after=given.content, old=old, version=version, before=before, was=was)


class Edit(_Changing):
    """Replaces an exact piece of a text file, which must occur once (or every occurrence, if asked to).

    Byte order mark and line ends stay as they are. Replaced in one step, as Write does. Metadata: as Read's.
    """

    name = "Edit"
    description = (
        "Replace old_string by new_string in a text file. old_string must be exactly what is in the file, white space "
        "included, without the line numbers that Read shows, and must occur exactly once unless replace_all is set."
    )
    arguments = _EDIT

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_EDIT)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """One file is written. A rule that forbids or asks about writing holds for it too."""
        from sayso.permission.files import file_unit

        self.note_judged(tool_input.get("file_path"))
        return (file_unit("write", tool_input.get("file_path"), cwd=self.cwd, rule_tools=("Edit", "Write")),)

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """The change as a diff, or in state `error` why there is none."""
        _EDIT.validate_python(tool_input)
        try:
            change = await asyncio.to_thread(self._make, tool_input)
        except (FileProblem, NoMatch, OSError) as exc:
            return failed(exc)
        times = "once" if change.count == 1 else f"{change.count} times"
        shown = bounded(diff(change.before, change.after, change.path), _DIFF_SHOWN)
        return _done(f"Replaced {times} in {change.path}:\n{shown}", change)

    def _plan(self, tool_input: dict[str, Any], *, running: bool) -> _Change:
        given = _EDIT.validate_python(tool_input)
        if given.old_string == given.new_string:
            raise FileProblem("old_string and new_string are the same: there is nothing to change.")
        path = self.place(given.file_path, running=running)
        with opened(path) as descriptor:
            old = os.fstat(descriptor)
            content = read_whole(descriptor, path)
        self._changed_since(path, content.version)
        text = _editable(content.data, path)
        old_string, new_string = text.normal(given.old_string), text.normal(given.new_string)
        after, count = replaced(text.text, old_string, new_string, every=given.replace_all)
        return _Change(
            path=path, data=text.encoded(after), after=after, old=old, version=content.version, before=text.text,
            count=count,
        )  # fmt: skip

    async def verify(self, tool_input: dict[str, Any]) -> Verified:
        """By the file: it still has only the old text, or only the new one."""
        given = _EDIT.validate_python(tool_input)

        def look() -> Verified:
            path = self.place(given.file_path, running=False)
            with opened(path) as descriptor:
                text = _editable(read_whole(descriptor, path).data, path).text
            old, new = given.old_string in text, bool(given.new_string) and given.new_string in text
            if old == new:
                return Verified(outcome="unknown")
            return Verified(outcome="not_done") if old else Verified(outcome="done", result=f"{path} has the new text.")

        try:
            return await asyncio.to_thread(look)
        except (FileProblem, OSError):
            return Verified(outcome="unknown")


def _editable(data: bytes, path: str) -> Text:
    kind = kind_of(data[:8_192])
    if kind is not None:
        raise FileProblem(f"{path} is {kind}; only text can be edited.")
    try:
        return decoded(data)
    except UnicodeDecodeError as exc:
        raise FileProblem(f"{path} is not UTF-8 text (byte {exc.start}); it was left alone.") from exc


def _text_or_kind(data: bytes | None) -> tuple[str | None, str]:
    """The content as text, as it is; or None and what it is."""
    if data is None:
        return None, "a file too large to compare"
    try:
        return (None, kind) if (kind := kind_of(data[:8_192])) else (data.decode(), "")
    except UnicodeDecodeError:
        return None, "a file that is not UTF-8 text"


def _done(text: str, change: _Change) -> ToolChunk:
    metadata = {"path": change.path, "version": version_of(change.data)}
    return ToolChunk(content=[TextBlock(text=text)], metadata=metadata)

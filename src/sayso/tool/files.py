"""Read, Write and Edit: text files, so that nobody's work is lost in silence.

Owns the three tools. Opening and replacing is in disk.py, text in text.py, memory in ledger.py; what may be read or
written is the permission engine's.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sayso.message import TextBlock, ToolResultState
from sayso.permission.unit import Unit
from sayso.request import Preview
from sayso.tool.base import ToolChunk, Verified
from sayso.tool.disk import CONTENT_LIMIT, FileProblem, opened, read_whole, replace, version_of
from sayso.tool.ledger import FileLedger
from sayso.tool.output import bounded
from sayso.tool.place import FileTool, attempt, failed, refusal
from sayso.tool.schema import schema_of
from sayso.tool.text import NoMatch, Text, decoded, diff, kind_of, numbered, replaced

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext

__all__ = ["Edit", "Read", "Write"]

_CONFIG = ConfigDict(extra="forbid", defer_build=True)
_LINES: Final = 2_000  # lines that Read shows, unless the call says otherwise
_PIECE: Final = 65_536  # bytes of one line that are looked at
_DIFF_SHOWN: Final = 4_000  # characters of the diff that the model gets back from an edit
_PATH = Field(min_length=1, description="Path of the file; a relative one starts from the working directory.")


class ReadInput(BaseModel):
    """Arguments of Read."""

    model_config = _CONFIG

    file_path: Annotated[str, _PATH]
    offset: Annotated[int, Field(ge=1, description="The first line to show, counted from 1.")] = 1
    limit: Annotated[int, Field(ge=1, description="How many lines to show.")] = _LINES


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


_READ: TypeAdapter[ReadInput] = TypeAdapter(ReadInput)
_WRITE: TypeAdapter[WriteInput] = TypeAdapter(WriteInput)
_EDIT: TypeAdapter[EditInput] = TypeAdapter(EditInput)


class Read(FileTool):
    """Shows lines of a text file, numbered. Remembers what was read, so that Write and Edit notice other people's work.

    Result: at most `output_limit` characters; where more follows, the last line says from which offset.
    Metadata: path (canonical), version (of the content, see `disk.version_of`).
    """

    name = "Read"
    description = (
        "Read a text file. Lines come numbered, as `number<TAB>line`; the number and the tab are not in the file. "
        f"At most {_LINES} lines unless limit says otherwise; use offset to go on. Images and other binary files are "
        "not shown."
    )
    arguments = _READ
    is_read_only = True
    is_concurrency_safe = True
    output_limit = 100_000

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_READ)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """One file is read."""
        from sayso.permission.files import file_unit

        self.note_judged(tool_input.get("file_path"))
        return (file_unit("read", tool_input.get("file_path"), cwd=self.cwd, rule_tools=("Read",)),)

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """The lines, or in state `error` why not."""
        given = _READ.validate_python(tool_input)
        try:
            return await asyncio.to_thread(self._read, given)
        except (FileProblem, OSError) as exc:
            return failed(exc)

    def _read(self, given: ReadInput) -> ToolChunk:
        path = self.place(given.file_path, running=True)
        with attempt_opened(path) as descriptor:
            found = os.fstat(descriptor)
            if found.st_size > CONTENT_LIMIT:
                version = version_of(found)
                with os.fdopen(os.dup(descriptor), "rb") as file:
                    shown = self._shown(file, given, path, found.st_size)
            else:
                content = read_whole(descriptor, path)
                version = content.version
                shown = self._shown(io.BytesIO(content.data), given, path, len(content.data))
        self.ledger.read(path, version)
        return ToolChunk(content=[TextBlock(text=shown)], metadata={"path": path, "version": version})

    def _shown(self, file: IO[bytes], given: ReadInput, path: str, size: int) -> str:
        start = file.read(8_192)
        file.seek(0)
        if (kind := kind_of(start)) is not None:
            raise FileProblem(f"{path} is {kind} of {size:,} bytes. Read shows text only.")
        out: list[str] = []
        room = self.output_limit - 500
        number, more = 0, False
        for number, line in enumerate(_lines(file), 1):
            if number < given.offset:
                continue
            text = numbered(number, line.decode("utf-8-sig" if number == 1 else "utf-8", "replace"))
            room -= len(text)
            if out and (len(out) == given.limit or room < 0):
                more = True
                break
            out.append(text)
        if not out:
            return "[the file is empty]" if not number else self._past_the_end(path, number, given.offset)
        if more:
            out.append(f"[more follows; go on with offset={number}]")
        if "\ufffd" in "".join(out):
            out.append("\n[bytes that are not UTF-8 are shown as \ufffd]")
        return "".join(out)

    def _past_the_end(self, path: str, lines: int, offset: int) -> str:
        raise FileProblem(f"{path} has {lines} lines; there is none at offset {offset}.")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines; of a very long one the first piece."""
    while line := file.readline(_PIECE):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_PIECE)
        yield line


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
            attempt(lambda: replace(change.path, change.data, old=change.old), change.path)
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
        what = "Created" if change.old is None else "Replaced"
        return _done(f"{what} {change.path}: {len(change.after.splitlines())} lines.", change)

    def _plan(self, tool_input: dict[str, Any], *, running: bool) -> _Change:
        given = _WRITE.validate_python(tool_input)
        path = self.place(given.file_path, running=running)
        data = given.content.encode()
        try:
            with attempt_opened(path) as descriptor:
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
        with attempt_opened(path) as descriptor:
            old = os.fstat(descriptor)
            content = read_whole(descriptor, path)
        self._changed_since(path, content.version)
        text = _editable(content.data, path)
        sought, put = (
            s.replace("\r\n", text.newline) if text.newline == "\n" else s for s in (given.old_string, given.new_string)
        )
        after, count = replaced(text.text, sought, put, every=given.replace_all)
        return _Change(
            path=path, data=text.encoded(after), after=after, old=old, version=content.version, before=text.text,
            count=count,
        )  # fmt: skip

    async def verify(self, tool_input: dict[str, Any]) -> Verified:
        """By the file: it still has only the old text, or only the new one."""
        given = _EDIT.validate_python(tool_input)

        def look() -> Verified:
            path = self.place(given.file_path, running=False)
            with attempt_opened(path) as descriptor:
                text = _editable(read_whole(descriptor, path).data, path).text
            old, new = given.old_string in text, bool(given.new_string) and given.new_string in text
            if old == new:
                return Verified(outcome="unknown")
            return Verified(outcome="not_done") if old else Verified(outcome="done", result=f"{path} has the new text.")

        try:
            return await asyncio.to_thread(look)
        except (FileProblem, OSError):
            return Verified(outcome="unknown")


@contextmanager
def attempt_opened(path: str) -> Iterator[int]:
    """As `opened`, with the path that was asked for in an error of the operating system."""
    with ExitStack() as stack:
        yield attempt(lambda: stack.enter_context(opened(path)), path)


def _text_or_kind(content: bytes | None) -> tuple[str | None, str]:
    """The content as text and ""; or None and what it is instead."""
    if content is None:
        return None, "a large file"
    if (kind := kind_of(content[:8_192])) is not None:
        return None, kind
    try:
        return decoded(content).text, ""
    except UnicodeDecodeError:
        return None, "text that is not UTF-8"


def _editable(data: bytes, path: str) -> Text:
    if (kind := kind_of(data[:8_192])) is not None:
        raise FileProblem(f"{path} is {kind}. Edit changes text only.")
    try:
        return decoded(data)
    except UnicodeDecodeError as exc:
        raise FileProblem(f"{path} is not UTF-8 (byte {exc.start}). Edit changes UTF-8 text only.") from exc


def _done(text: str, change: _Change) -> ToolChunk:
    metadata = {"path": change.path, "version": version_of(change.data)}
    return ToolChunk(content=[TextBlock(text=text)], state=ToolResultState.SUCCESS, metadata=metadata)

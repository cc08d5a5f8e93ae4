"""Read: lines of a text file.

Owns the tool. Opening is in disk.py, text in text.py; what may be read is the permission engine's.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sayso.message import TextBlock
from sayso.permission.unit import Unit
from sayso.tool.base import ToolChunk
from sayso.tool.disk import CONTENT_LIMIT, FileProblem, opened, read_whole, version_of
from sayso.tool.ledger import FileLedger
from sayso.tool.place import FileTool, failed
from sayso.tool.schema import schema_of
from sayso.tool.text import kind_of, numbered

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext

__all__ = ["Read"]

_LINES: Final = 2_000  # lines that are shown, unless the call says otherwise
_PIECE: Final = 65_536  # bytes of one line that are looked at
_FOOTER: Final = 500  # characters set aside for what is said after the lines


class ReadInput(BaseModel):
    """Arguments of Read."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    file_path: Annotated[
        str, Field(min_length=1, description="Path of the file; a relative one starts from the working directory.")
    ]
    offset: Annotated[int, Field(ge=1, description="The first line to show, counted from 1.")] = 1
    limit: Annotated[int, Field(ge=1, description="How many lines to show.")] = _LINES


_ARGUMENTS: TypeAdapter[ReadInput] = TypeAdapter(ReadInput)


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
    arguments = _ARGUMENTS
    is_read_only = True
    is_concurrency_safe = True
    output_limit = 100_000

    def __init__(self, cwd: str | os.PathLike[str] | None = None, *, ledger: FileLedger | None = None) -> None:
        super().__init__(cwd, ledger=ledger)
        self.input_schema = schema_of(_ARGUMENTS)

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """One file is read."""
        from sayso.permission.files import file_unit

        self.note_judged(tool_input.get("file_path"))
        return (file_unit("read", tool_input.get("file_path"), cwd=self.cwd, rule_tools=("Read",)),)

    async def __call__(self, **tool_input: Any) -> ToolChunk:
        """The lines, or in state `error` why not."""
        given = _ARGUMENTS.validate_python(tool_input)
        try:
            return await asyncio.to_thread(self._read, given)
        except (FileProblem, OSError) as exc:
            return failed(exc)

    def _read(self, given: ReadInput) -> ToolChunk:
        path = self.place(given.file_path, running=True)
        with opened(path) as descriptor:
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
        room = self.output_limit - _FOOTER
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
            if number:
                raise FileProblem(f"{path} has {number} lines; there is none at offset {given.offset}.")
            return "[the file is empty]"
        if more:
            out.append(f"[more follows; go on with offset={number}]")
        if "\ufffd" in "".join(out):
            out.append("\n[bytes that are not UTF-8 are shown as \ufffd]")
        return "".join(out)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines; of a very long one the first piece."""
    while line := file.readline(_PIECE):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_PIECE)
        yield line

"""What this process knows of files: what was read of them, and where their paths led when a call was judged.

Owns the memory that lets Write and Edit refuse what would lose somebody's work. Reads no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

__all__ = ["FileLedger", "Known"]

_T = TypeVar("_T")

_MOST = 10_000  # paths; beyond, the oldest is forgotten, and has to be read again


@dataclass(frozen=True, slots=True)
class Known:
    """The content that was last seen at a path.

    version: its name, see `disk.version_of`; None if there was no file. read: the model has read it, or wrote it
    itself; otherwise only a preview was made from it.
    """

    version: str | None
    read: bool


class FileLedger:
    """Shared by the file tools of one toolkit. Paths are canonical."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._judged: dict[str, str] = {}

    def known(self, path: str) -> Known | None:
        """What was last seen there."""
        return self._known.get(path)

    def read(self, path: str, version: str) -> None:
        """The model has read, or written, this content."""
        _put(self._known, path, Known(version=version, read=True))

    def shown(self, path: str, version: str | None) -> None:
        """A preview was made from this content. What was read before stays what counts."""
        before = self._known.get(path)
        if before is None or not before.read:
            _put(self._known, path, Known(version=version, read=False))

    def judged(self, path: str, real: str) -> None:
        """A call on `path`, as written and made absolute, was judged as being on `real`."""
        _put(self._judged, path, real)

    def taken(self, path: str) -> str | None:
        """Where `path` led when it was judged, once; None if it was not."""
        return self._judged.pop(path, None)


def _put(table: dict[str, _T], key: str, value: _T) -> None:
    table.pop(key, None)
    table[key] = value
    if len(table) > _MOST:
        del table[next(iter(table))]

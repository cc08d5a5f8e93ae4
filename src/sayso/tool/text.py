"""A file's bytes as text, and a change of text as a person or a model reads it.

Owns encoding, line ends, numbered lines, exact replacement and diffs. Pure: must not know files on disk, nor tools.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["NoMatch", "Text", "decoded", "diff", "kind_of", "numbered", "replaced"]

LINE_LIMIT: Final = 2_000
"""Characters of one line that are shown; longer ones are data, not text that somebody wrote."""

_BOM: Final = b"\xef\xbb\xbf"
_DIFF_LINES: Final = 5_000  # on either side; beyond, comparing would take seconds, and nobody reads it
_NEAR_LINES: Final = 20_000
_CONTEXT: Final = 3

_MAGIC: Final = (
    (b"\x89PNG\r\n", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"), (b"%PDF-", "a PDF document"), (b"PK\x03\x04", "a zip archive (or an office document)"),
    (b"\x1f\x8b", "gzip data"), (b"\x7fELF", "an ELF program"), (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"), (b"\xfe\xff", "UTF-16 text"),
)  # fmt: skip


class NoMatch(Exception):
    """The text to be replaced is not there, or not only once. The message is for the model."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text file. text: with `\\n` for every line end where newline is `\\r\\n`. bom: it starts with a UTF-8 mark."""

    text: str
    newline: str
    bom: bool

    def normal(self, text: str) -> str:
        """Another text with the line ends that `self.text` has."""
        return text.replace("\r\n", "\n") if self.newline == "\r\n" else text

    def encoded(self, text: str) -> bytes:
        """Another text in the same form."""
        if self.newline == "\r\n":
            text = text.replace("\n", "\r\n")
        return (_BOM if self.bom else b"") + text.encode()


def kind_of(start: bytes) -> str | None:
    """What a file is by its first bytes, as in "a PNG image", if it is not text."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "a WebP image"
    for magic, kind in _MAGIC:
        if start.startswith(magic) and (magic != b"BM" or b"\0" in start):
            return kind
    return "binary data" if b"\0" in start else None


def decoded(data: bytes) -> Text:
    """UTF-8 text. Raises UnicodeDecodeError. Line ends are normalised if all are `\\r\\n`, and left alone if mixed."""
    bom = data.startswith(_BOM)
    text = data[len(_BOM) if bom else 0 :].decode()
    pairs = text.count("\r\n")
    if pairs and pairs == text.count("\n"):
        return Text(text=text.replace("\r\n", "\n"), newline="\r\n", bom=bom)
    return Text(text=text, newline="\n", bom=bom)


def numbered(number: int, line: str) -> str:
    """A line as Read shows it: its number, a tab, the line without its end, cut if it is very long."""
    line = line.rstrip("\r\n")
    if len(line) > LINE_LIMIT:
        line = f"{line[:LINE_LIMIT]} [... cut: the line has more than {LINE_LIMIT:,} characters]"
    return f"{number:>6}\t{line}\n"


# -- exact replacement -------------------------------------------------------------------------------------


def replaced(text: str, old: str, new: str, *, every: bool) -> tuple[str, int]:
    """`text` with `old` replaced by `new`, and how often. Raises NoMatch, saying what is there instead."""
    if every and old in text:
        return text.replace(old, new), text.count(old)
    lines = _lines_of(text, old)
    count = len(lines)
    if count == 1:
        return text.replace(old, new), 1
    if count:
        where = ", ".join(map(str, lines[:5])) + (" ..." if len(lines) > 5 else "")
        raise NoMatch(
            f"old_string occurs {count} times (lines {where}). Add surrounding lines until it occurs once, or set "
            "replace_all to change every one."
        )
    raise NoMatch(f"old_string is not in the file. {_hint(text, old)}")


def _lines_of(text: str, old: str) -> list[int]:
    """The line of each place where `old` starts, overlapping ones too: which of them was meant cannot be told."""
    found: list[int] = []
    line, counted, at = 1, 0, text.find(old)
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        found.append(line)
        at = text.find(old, at + 1)
    return found


def _hint(text: str, old: str) -> str:
    if _numbers_copied(old):
        return "It starts with line numbers, as Read shows them; leave them out."
    lines = text.split("\n")
    wanted = old.strip("\n").split("\n")
    if (at := _but_for_space(lines, wanted)) is not None:
        mine, theirs = next(((w, h) for w, h in zip(wanted, lines[at:], strict=False) if w != h), (old, text))
        return (
            f"Line {at + 1} and on match but for white space: the file has {_quoted(theirs)}, "
            f"old_string has {_quoted(mine)}."
        )
    first = next((line.strip() for line in wanted if line.strip()), "")
    near = difflib.get_close_matches(first, [line.strip() for line in lines[:_NEAR_LINES]], n=1, cutoff=0.6)
    if near:
        number = next(n for n, line in enumerate(lines, 1) if line.strip() == near[0])
        return f"The nearest line is {number}: {_quoted(lines[number - 1])}. Read the file again and copy it exactly."
    return "No line of it is near. Read the file again and copy it exactly."


def _numbers_copied(old: str) -> bool:
    return all(re.match(r"\s*\d+\t", line) for line in old.strip("\n").split("\n"))


def _but_for_space(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The first line from which all of `wanted` follow, if white space did not count."""
    bare, sought = [_bare(line) for line in lines], [_bare(line) for line in wanted]
    if not any(sought):
        return None
    return next((at for at in range(len(bare) - len(sought) + 1) if bare[at : at + len(sought)] == sought), None)


def _bare(line: str) -> str:
    return "".join(line.split())


def _quoted(line: str) -> str:
    shown = repr(line)
    return shown if len(shown) <= 200 else f"{shown[:200]}..."


# -- diffs -------------------------------------------------------------------------------------------------


def diff(before: str | None, after: str, path: str) -> str:
    """A unified diff with three lines of context; `before` is None for a new file. Empty if nothing changes."""
    if before == after:
        return ""
    old, new = _split(before or ""), _split(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    changed = len(old) - start - end, len(new) - start - end
    head = [f"--- {'/dev/null' if before is None else path}\n", f"+++ {path}\n"]
    if max(changed) > _DIFF_LINES:
        return "".join(head) + f"@@ lines {start + 1} and on: {changed[0]:,} lines become {changed[1]:,} @@\n"
    # Only around the change: the lines before and after it are equal, and comparing them costs.
    first = max(0, start - _CONTEXT)
    last = max(0, end - _CONTEXT)
    hunks = difflib.unified_diff(old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT)
    lines = [_shifted(line, first) for line in list(hunks)[2:]]
    return "".join(head + [_ended(line) for line in lines])


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _shifted(line: str, by: int) -> str:
    """A hunk's header, counted from the start of the file; any other line as it is."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda m: f"{m[1]}{int(m[2]) + by}", line)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"

"""How much of a result is kept: of a long one the head and the tail, with a sentence in between.

Owns the cut and its words. Must not know tools, nor who reads the result.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from sayso.message import DataBlock, TextBlock, ToolResultBlock

__all__ = ["DATA_LIMIT", "OUTPUT_LIMIT", "Cut", "bounded", "bounded_result", "clean", "fitting"]

OUTPUT_LIMIT: Final = 30_000
"""Characters of text kept of one result: some 8,000 tokens, which a model can still read beside everything else."""

DATA_LIMIT: Final = 10_000_000
"""Characters of base64 of one data block; model providers refuse larger images."""

_NOTICE_ROOM: Final = 200  # characters set aside for the sentence, so that a cut text cut again stays as it is


class Cut:
    """Cuts the middle out of a text that comes in pieces, holding no more than the limit in memory.

    What `feed` and at last `rest` give back, put together, is the bounded text: at most `limit` characters.
    """

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self._whole = limit
        kept = max(0, limit - _NOTICE_ROOM)
        self._head = kept // 2
        self._tail_room = kept - self._head
        self._given = 0
        self._held: deque[str] = deque()
        self._held_size = 0
        self._dropped = 0

    @property
    def empty(self) -> bool:
        """Whether nothing was fed yet."""
        return not self._given and not self._held

    def feed(self, text: str) -> str:
        """What of `text` can be shown at once; the rest is held back as a candidate for the tail."""
        now = ""
        if self._given < self._head:
            now = text[: self._head - self._given]
            self._given += len(now)
            text = text[len(now) :]
        if text:
            self._held.append(text)
            self._held_size += len(text)
            # As long as the whole may still fit, nothing is dropped; past that only the tail is held.
            room = self._whole - self._head
            if self._dropped or self._held_size > room:
                self._trim()
        return now

    def _trim(self) -> None:
        excess = self._held_size - self._tail_room
        while excess > 0:
            first = self._held.popleft()
            if len(first) > excess:
                self._held.appendleft(first[excess:])
                first = first[:excess]
            self._dropped += len(first)
            self._held_size -= len(first)
            excess -= len(first)

    def rest(self) -> str:
        """The sentence of how much was cut, if anything was, and the tail."""
        tail = "".join(self._held)
        self._held.clear()
        self._held_size = 0
        if not self._dropped:
            return tail
        return f"\n\n[... {self._dropped:,} characters were cut here; ask for less, or for a part ...]\n\n{tail}"


def bounded(text: str, limit: int = OUTPUT_LIMIT) -> str:
    """`text`, or if it is longer than `limit` characters its head and its tail and how much is missing."""
    if len(text) <= limit:
        return text
    cut = Cut(limit)
    return cut.feed(text) + cut.rest()


def clean(text: str) -> str:
    """`text` as text that can be encoded: a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def fitting(block: DataBlock) -> DataBlock | TextBlock:
    """The block, or a sentence in its place if its data is larger than DATA_LIMIT."""
    if block.source.type != "base64" or len(block.source.data) <= DATA_LIMIT:
        return block
    size = len(block.source.data) * 3 // 4
    name = f" {block.name}" if block.name else ""
    return TextBlock(text=f"[{block.source.media_type}{name} of {size:,} bytes was left out: too large]")


def bounded_result(block: ToolResultBlock, limit: int = OUTPUT_LIMIT) -> ToolResultBlock:
    """A result from outside, as long as a local tool's may be; the same object if it fits already.

    The texts of a result that is too long become one, cut in its middle, where the first of them was.
    """
    output = block.output
    if isinstance(output, str):
        return block if len(output) <= limit else block.model_copy(update={"output": bounded(output, limit)})
    pieces = [fitting(b) if isinstance(b, DataBlock) else b for b in output]
    texts = [b for b in pieces if isinstance(b, TextBlock)]
    if sum(len(b.text) for b in texts) > limit:
        whole = texts[0].model_copy(update={"text": bounded("\n".join(b.text for b in texts), limit)})
        pieces = [whole if b is texts[0] else b for b in pieces if b is texts[0] or isinstance(b, DataBlock)]
    if all(a is b for a, b in zip(pieces, output, strict=False)) and len(pieces) == len(output):
        return block
    return block.model_copy(update={"output": pieces})

"""Ids and times of the published language: unique, cheap, made only outside `reply`."""

import itertools
import os
import time
from datetime import UTC, datetime

__all__ = ["new_id", "now"]


class _Ids:
    """72 random bits for the process, then a count: unique across processes, 0.15 us each."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.prefix = os.urandom(9).hex()
        self.count = itertools.count(100_000)  # so that ids have one length


_ids = _Ids()
os.register_at_fork(after_in_child=_ids.renew)


def new_id() -> str:
    """An id that no other process or call returns."""
    return f"{_ids.prefix}{next(_ids.count)}"


_last: tuple[int, str] = (0, "")


def now() -> str:
    """The time as ISO 8601 with UTC offset, to the millisecond: `2026-12-01T05:03:41.123+00:00`."""
    global _last
    ms = time.time_ns() // 1_000_000
    if _last[0] == ms:
        return _last[1]
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    _last = (ms, text)
    return text

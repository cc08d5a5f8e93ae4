"""The hash chain that makes a log tamper-evident. Pure: it sees entries, and knows no store and no file.

Each entry's hash covers the hash before it, so a log's last hash stands for all of it. The chain has no key: who can
rewrite the whole file can also compute every hash again. It shows a change to somebody who kept an older last hash,
and any change that did not go to that trouble. What it cannot show alone is a log cut short at its end; there the
store's own record of the length speaks.
"""

from collections.abc import Iterable
from hashlib import sha256
from struct import Struct

from sayso.store.base import Entry

__all__ = ["FIRST", "link", "verify"]

FIRST = bytes(32)
"""What stands for the previous hash before the first entry."""

_lengths = Struct("<QQQQ").pack


def link(previous: bytes, session_id: str, seq: int, at: str, fact: bytes) -> bytes:
    """The hash of an entry: 32 bytes, sha256 over the previous hash, seq and the three fields.

    The lengths of the fields are hashed with them, so that no byte can move from one field to its neighbour.
    """
    session, time = session_id.encode(), at.encode()
    head = _lengths(seq, len(session), len(time), len(fact))
    return sha256(b"".join((previous, head, session, time, fact))).digest()


def verify(entries: Iterable[Entry]) -> int | None:
    """The seq of the first place where a whole log is not what was written, or None.

    entries: from seq 0 on. Where an entry was removed it is the seq that is missing; where one was inserted, the
    inserted one's.
    """
    previous = FIRST
    for seq, entry in enumerate(entries):
        if entry.seq != seq or entry.hash != link(previous, entry.session_id, seq, entry.at, entry.fact):
            return seq
        previous = entry.hash
    return None

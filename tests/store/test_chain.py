"""The hash chain of a log."""

from hashlib import sha256

from sayso.store import Entry
from sayso.store.chain import FIRST, link, verify

TIME = "2026-12-01T12:00:00.000+00:00"


def log(*facts: bytes, session_id: str = "s") -> list[Entry]:
    entries: list[Entry] = []
    for seq, fact in enumerate(facts):
        digest = link(entries[-1].hash if entries else FIRST, session_id, seq, TIME, fact)
        entries.append(Entry(session_id, seq, TIME, fact, digest))
    return entries


def rehashed(entries: list[Entry]) -> list[Entry]:
    """The same entries, with seqs and hashes made anew."""
    return log(*(each.fact for each in entries))


def test_a_hash_is_sha256_of_the_one_before_the_seq_the_lengths_and_the_fields() -> None:
    numbers = b"".join(n.to_bytes(8, "little") for n in (5, 2, len(TIME), 4))
    expected = sha256(bytes(range(32)) + numbers + "é".encode() + TIME.encode() + b"fact").digest()
    assert link(bytes(range(32)), "é", 5, TIME, b"fact") == expected


def test_no_byte_can_move_from_one_field_to_the_next() -> None:
    assert link(FIRST, "ab", 0, "c", b"d") != link(FIRST, "a", 0, "bc", b"d")
    assert link(FIRST, "a", 0, "bc", b"d") != link(FIRST, "a", 0, "b", b"cd")


def test_an_untouched_log_verifies_and_so_does_an_empty_one() -> None:
    assert verify(log(b"a", b"b", b"c")) is None
    assert verify([]) is None


def test_any_changed_field_is_named_by_its_seq() -> None:
    entries = log(b"a", b"b", b"c")
    for changed in (
        entries[1]._replace(fact=b"B"),
        entries[1]._replace(at=TIME.replace("12:", "13:")),
        entries[1]._replace(session_id="t"),
        entries[1]._replace(hash=bytes(32)),
    ):
        assert verify([entries[0], changed, entries[2]]) == 1


def test_a_removed_entry_is_missed_even_if_the_others_are_renumbered() -> None:
    entries = log(b"a", b"b", b"c")
    assert verify([entries[0], entries[2]]) == 1
    assert verify([entries[0], entries[2]._replace(seq=1)]) == 1
    assert verify(entries[1:]) == 0


def test_an_inserted_entry_breaks_the_chain_after_it_even_with_a_right_hash_of_its_own() -> None:
    entries = log(b"a", b"b")
    forged = Entry("s", 1, TIME, b"x", link(entries[0].hash, "s", 1, TIME, b"x"))
    assert verify([entries[0], forged, entries[1]._replace(seq=2)]) == 2


def test_two_swapped_entries_are_found() -> None:
    entries = log(b"a", b"b", b"c")
    assert verify([entries[0], entries[2]._replace(seq=1), entries[1]._replace(seq=2)]) == 1


def test_the_log_of_another_session_does_not_pass_for_this_one() -> None:
    stolen = [each._replace(session_id="t") for each in log(b"a", b"b")]
    assert verify(stolen) == 0


def test_who_rewrites_everything_is_found_only_by_an_older_last_hash() -> None:
    before, after = log(b"a", b"b"), rehashed(log(b"a", b"B"))
    assert verify(after) is None
    assert before[-1].hash != after[-1].hash

"""The bell that one process rings and every other hears."""

import os
from contextlib import closing
from pathlib import Path

from sayso.store.bell import Bell, ring


def rings(bell: Bell) -> bool:
    """Whether it rang since it was heard last."""
    return bell.hear(0)


def test_a_ring_is_heard_by_everybody_who_listens(tmp_path: Path) -> None:
    with closing(Bell(tmp_path / "bells")) as first, closing(Bell(tmp_path / "bells")) as second:
        ring(tmp_path / "bells")
        assert [rings(first), rings(second)] == [True, True]


def test_a_ring_before_anybody_listens_is_kept_for_him_and_heard_once(tmp_path: Path) -> None:
    with closing(Bell(tmp_path / "bells")) as bell:
        ring(tmp_path / "bells")
        ring(tmp_path / "bells")
        assert [rings(bell), rings(bell)] == [True, False]


def test_a_bell_that_nobody_hears_never_holds_up_who_rings(tmp_path: Path) -> None:
    with closing(Bell(tmp_path / "bells")) as bell:
        for _ in range(70_000):
            bell.poke()
        ring(tmp_path / "bells")
        assert rings(bell)


def test_ringing_where_nobody_ever_listened_does_nothing(tmp_path: Path) -> None:
    ring(tmp_path / "bells")
    assert list(tmp_path.iterdir()) == []


def test_the_bell_of_a_dead_listener_is_removed_by_the_next_ring(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dead")
    with closing(Bell(tmp_path)) as bell:
        ring(tmp_path)
        assert rings(bell)
        assert [path.name for path in tmp_path.iterdir() if path.name == "dead"] == []


def test_a_bell_is_taken_down_when_it_is_closed(tmp_path: Path) -> None:
    Bell(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_bell_is_not_written_to(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"kept")
    bells = tmp_path / "bells"
    bells.mkdir()
    (bells / "file").write_bytes(b"kept")
    (bells / "link").symlink_to(precious)
    ring(bells)
    assert [precious.read_bytes(), (bells / "file").read_bytes()] == [b"kept", b"kept"]


def test_where_no_bell_can_hang_it_still_hears_its_own_process(tmp_path: Path) -> None:
    (tmp_path / "bells").write_bytes(b"")
    with closing(Bell(tmp_path / "bells")) as bell:
        ring(tmp_path / "bells")
        assert not rings(bell)
        bell.poke()
        assert rings(bell)

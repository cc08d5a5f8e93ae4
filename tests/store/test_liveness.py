"""The locks by which a runner's process proves that it lives."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.errors import StoreError
from sayso.store.liveness import hold, is_held

DIE_INSIDE = """
import os, sys
from pathlib import Path
from sayso.store.liveness import hold
with hold(Path(sys.argv[1])) as runner:
    print(runner.id, flush=True)
    os._exit(1)
"""


def dead_runner(directory: Path) -> str:
    """A runner whose process died without a word; its file is still there."""
    died = subprocess.run([sys.executable, "-c", DIE_INSIDE, str(directory)], capture_output=True, text=True)
    return died.stdout.strip()


def test_a_runner_whose_file_was_taken_away_says_so_itself(tmp_path: Path) -> None:
    with hold(tmp_path) as runner:
        lock = tmp_path / f"{runner.id}.lock"
        lock.unlink()
        assert not runner.alive
        lock.write_bytes(b"")  # by somebody else: it is not the file that is locked
        assert not runner.alive
        assert not is_held(tmp_path, runner.id)


def test_asking_does_not_disturb_a_living_runner(tmp_path: Path) -> None:
    with hold(tmp_path) as runner:
        assert [is_held(tmp_path, runner.id) for _ in range(3)] == [True] * 3
        assert runner.alive


def test_two_that_ask_at_once_do_not_take_each_other_for_the_runner(tmp_path: Path) -> None:
    dead = dead_runner(tmp_path)
    with (tmp_path / f"{dead}.lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # as the other one does while it asks
        assert not is_held(tmp_path, dead)


def test_the_file_of_a_dead_runner_proves_nothing_and_goes_when_the_next_one_comes(tmp_path: Path) -> None:
    dead = dead_runner(tmp_path)
    assert [path.stem for path in tmp_path.iterdir()] == [dead]
    assert not is_held(tmp_path, dead)
    with hold(tmp_path) as first, hold(tmp_path) as second:
        assert {path.stem for path in tmp_path.iterdir()} == {first.id, second.id}
    assert list(tmp_path.iterdir()) == []


def test_an_id_from_a_log_cannot_name_a_file_elsewhere(tmp_path: Path) -> None:
    with hold(tmp_path / "runners") as runner:
        (tmp_path / "other").mkdir()
        assert not is_held(tmp_path / "other", f"../runners/{runner.id}")


def test_where_no_lock_can_be_had_a_runner_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "runners").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot hold a runner's lock"), hold(tmp_path / "runners"):
        pass


def test_where_it_cannot_be_told_nobody_is_taken_for_dead(tmp_path: Path) -> None:
    (tmp_path / "runners").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot tell"):
        is_held(tmp_path / "runners", "1")

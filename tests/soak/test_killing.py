"""SIGKILL at random moments, in short; `make soak` does it for long."""

from pathlib import Path

from soak.killing import soak


def test_killed_at_random_moments_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path) -> None:
    counts = soak(tmp_path, kills=25, sessions=4, seed=1, shortest=0.03, longest=0.3)
    assert counts.kills == 25
    assert counts.effects == 2 * counts.sessions
    assert (counts.twice, counts.missing, counts.unfinished, counts.broken_logs, counts.results_not_one) == (0,) * 5

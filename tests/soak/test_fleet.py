"""Four workers over one Postgres under fire, in short; `make soak` does it for long."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from soak.fleet import soak


@pytest.mark.slow
def test_workers_killed_and_a_database_restarted_lose_nothing_and_pay_nothing_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:  # a socket's path is short
        found = asyncio.run(soak(Path(folder), workers=4, sessions=40, seconds=12, kills=1.0, restarts=5.0, seed=1))
    with capsys.disabled():
        print(f"\n{found}")
    assert found.kills >= 5 and found.restarts >= 1
    assert found.effects == 2 * found.sessions
    assert found.faults == 0

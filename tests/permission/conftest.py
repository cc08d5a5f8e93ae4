"""The world that most tests of permissions start from."""

from pathlib import Path

import pytest

from judging import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path.resolve())
    monkeypatch.setenv("HOME", str(made.root / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(made.work)
    return made

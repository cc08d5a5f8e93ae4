from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.store import MemoryStore, SQLiteStore
from sayso.store.base import Store


@pytest.fixture(params=["memory", "sqlite"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Gives the store again and again, as processes would open it."""
    memory = MemoryStore()
    return lambda: memory if request.param == "memory" else SQLiteStore(tmp_path / "log.db")

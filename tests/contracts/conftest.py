"""The adapters on which the contract of stores runs."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.store import Store
from stores import Place, places


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    yield from opened(request.param, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Only where a log is shared between processes."""
    yield from opened(request.param, tmp_path)


def opened(adapter: str, directory: Path) -> Iterator[Place]:
    where, make = places(adapter, directory)
    stores: list[Store] = []

    def open_store() -> Store:
        stores.append(make())
        return stores[-1]

    yield Place(where, open_store)
    for store in stores:
        asyncio.run(store.close())

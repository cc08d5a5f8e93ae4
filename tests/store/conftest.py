"""A disk and a count of commits for the tests of SQLite stores."""

from collections.abc import Iterator

import apsw
import pytest

from disks import Commits, Disk


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    apsw.set_default_vfs("unix")
    disk.unregister()


@pytest.fixture
def commits() -> Iterator[Commits]:
    commits = Commits()
    apsw.connection_hooks.append(commits.watch)
    yield commits
    apsw.connection_hooks.remove(commits.watch)

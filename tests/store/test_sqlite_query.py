"""Every listing finds its rows by an index, so that a million parked sessions cost a page no more than ten."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import apsw
import pytest

from sayso.store import sqlite_query
from sayso.store.sqlite_schema import bring_up_to_date


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(tmp_path / "log.db"))
    bring_up_to_date(connection, "log.db")
    connection.execute(
        "INSERT INTO requests VALUES ('r', 's', 'confirm', 'bash', '2026-12-01T12:00:00.000+00:00', NULL, x'', 1,"
        " NULL, NULL, NULL, NULL)"
    )
    connection.execute("INSERT INTO sessions VALUES (1, 's', 'ops', '', 'parked', NULL, 0, '', '', 1)")
    yield connection
    connection.close()


def plans(connection: apsw.Connection, ask: Callable[[], object]) -> list[str]:
    """SQLite's plan for each statement that the question runs, one step a line."""
    statements: list[tuple[str, apsw.Bindings | None]] = []

    def note(_: apsw.Cursor, sql: str, values: "apsw.Bindings | None") -> bool:
        statements.append((sql, values))
        return True

    connection.exec_trace = note
    ask()
    connection.exec_trace = None
    steps = []
    for sql, values in statements:
        steps += [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert steps
    return steps


def assert_by_index(steps: list[str]) -> None:
    for step in steps:
        assert "TEMP B-TREE" not in step, steps
        # A scan in the order of an index ends with the page; one of the table does not.
        assert not step.startswith("SCAN") or "USING" in step or step == "SCAN CONSTANT ROW", steps


def test_a_page_of_waiting_requests_is_read_in_the_order_of_an_index(connection: apsw.Connection) -> None:
    for session_id, kind, tool in product([None, "s"], [None, "confirm"], [None, "bash"]):
        for after, newest_first in product([None, "r"], [False, True]):
            page = partial(sqlite_query.waiting, connection, after=after, limit=50, newest_first=newest_first)
            steps = plans(connection, partial(page, session_id=session_id, kind=kind, tool=tool))
            assert_by_index(steps)
            if session_id or kind or tool:
                assert not any(step.startswith("SCAN") for step in steps), steps


def test_a_page_of_the_history_is_read_in_the_order_of_an_index(connection: apsw.Connection) -> None:
    connection.execute(
        "INSERT INTO requests VALUES ('c', 's', 'confirm', 'bash', '2026-12-01T12:00:00.000+00:00', NULL, x'', 0,"
        " '2026-12-01T12:05:00.000+00:00', 'approved', 'ann', 'web')"
    )
    for session_id, after in product([None, "s"], [None, "c"]):
        page = partial(sqlite_query.closed, connection, tool=None, how=None, by=None, since=None, limit=50)
        assert_by_index(plans(connection, partial(page, session_id=session_id, after=after)))


def test_a_page_of_sessions_is_read_in_the_order_of_an_index(connection: apsw.Connection) -> None:
    for state, after in product([None, "parked"], [None, "s"]):
        assert_by_index(plans(connection, partial(sqlite_query.sessions, connection, state, after, 50)))


def test_what_is_due_what_changed_and_one_of_anything_are_searched_for(connection: apsw.Connection) -> None:
    for ask in (
        lambda: sqlite_query.due(connection, "2026-12-01T12:00:00.000+00:00", None, 100),
        lambda: sqlite_query.changed(connection, 0),
        lambda: sqlite_query.find(connection, "r"),
        lambda: sqlite_query.read(connection, "s", 0, None),
        lambda: sqlite_query.session(connection, "s"),
        lambda: sqlite_query.snapshot(connection, "s"),
    ):
        steps = plans(connection, ask)
        assert_by_index(steps)
        assert all(step.startswith("SEARCH") for step in steps), steps

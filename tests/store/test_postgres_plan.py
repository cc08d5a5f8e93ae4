"""Every listing in Postgres finds its rows by an index, so that a million parked sessions cost a page no more than ten.

What is explained is what was really asked: the connection notes each statement that a question runs.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import psycopg
import pytest

from postgres import fresh_database
from sayso.store import postgres_query
from sayso.store.postgres_database import Link
from sayso.store.postgres_schema import bring_up_to_date

# 10,000 open requests and 10,000 closed ones, half of them of one busy session; in no order, so that the table does
# not lie as a page is read. (Of a session with a handful, Postgres may as well fetch and sort the handful.)
FILL = (
    """INSERT INTO sayso_sessions (number, session_id, agent, title, state, length, created_at, updated_at, change)
        SELECT n, 's' || n, 'ops', 'Restart', (ARRAY['idle', 'parked', 'working'])[1 + n % 3], 2, '', '',
            n * 1237 % 4001
        FROM generate_series(1, 4000) AS n""",
    """INSERT INTO sayso_entries
        SELECT number, seq, '', convert_to(repeat('f', 400), 'utf8'), ''
        FROM sayso_sessions, generate_series(0, 1) AS seq""",
    """INSERT INTO sayso_requests
        SELECT 'r' || n, CASE WHEN n / 2 % 2 = 0 THEN 'busy' ELSE 's' || n % 4000 END,
            (ARRAY['confirm', 'confirm', 'ask'])[1 + n % 3], (ARRAY['bash', 'bash', 'pay'])[1 + n % 7 % 3],
            to_char(time, 'YYYY-MM-DD"T"HH24:MI:SS.000+00:00'),
            CASE WHEN open AND n % 3 = 0 THEN to_char(time + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS.000+00:00') END,
            convert_to(repeat('q', 700), 'utf8'), open,
            CASE WHEN NOT open THEN to_char(time + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.000+00:00') END,
            CASE WHEN NOT open THEN (ARRAY['approved', 'refused'])[1 + n / 2 % 2] END,
            CASE WHEN NOT open THEN (ARRAY['ann', 'bob', 'cy'])[1 + n % 3] END,
            CASE WHEN NOT open THEN 'web' END
        FROM generate_series(1, 20000) AS n,
            LATERAL (SELECT n % 2 = 0, timestamp '2026-12-01' + n * 7919 % 20011 * interval '1 s') AS _ (open, time)""",
    "ANALYZE",
)
OPEN, SHUT, BUSY, SESSION = "r10000", "r10001", "busy", "s2000"


class Noting(psycopg.Cursor[Any]):
    """Notes what is asked."""

    asked: list[tuple[Any, Any]] = []

    def execute(self, query: Any, params: Any = None, **options: Any) -> "Noting":
        self.asked.append((query, params))
        return super().execute(query, params, **options)


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    with psycopg.connect(fresh_database(), autocommit=True, cursor_factory=Noting) as link:
        bring_up_to_date(link, "here")
        for statement in FILL:
            link.execute(statement.encode())
        yield link


def plans(link: Link, ask: Callable[[], object]) -> list[dict[str, Any]]:
    """Every node of Postgres's plan for each statement that the question runs."""
    Noting.asked.clear()
    ask()
    asked, steps = list(Noting.asked), []
    for statement, values in asked:
        found = link.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), values).fetchone()
        assert found
        steps += nodes(found[0][0]["Plan"])
    assert steps
    return steps


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", []) for node in nodes(child))]


def assert_by_index(steps: list[dict[str, Any]]) -> None:
    assert not any("Seq Scan" in step["Node Type"] or "Sort" in step["Node Type"] for step in steps), steps


def assert_searched(steps: list[dict[str, Any]]) -> None:
    """Nor is an index read from one end on."""
    assert_by_index(steps)
    assert all("Index Cond" in step for step in steps if "Index Name" in step), steps


def test_a_page_of_waiting_requests_is_read_in_the_order_of_an_index(link: Link) -> None:
    for session_id, kind, tool in product([None, BUSY], [None, "confirm"], [None, "bash"]):
        for after, newest_first in product([None, OPEN], [False, True]):
            page = partial(postgres_query.waiting, link, after=after, limit=50, newest_first=newest_first)
            steps = plans(link, partial(page, session_id=session_id, kind=kind, tool=tool))
            assert_by_index(steps)
            if after or session_id or kind or tool:
                assert_searched(steps)


def test_the_requests_of_a_session_that_has_few_are_searched_for(link: Link) -> None:
    page = partial(postgres_query.waiting, link, kind=None, tool=None, after=None, limit=50, newest_first=False)
    steps = plans(link, partial(page, session_id=SESSION))
    assert {step["Index Name"] for step in steps if "Index Name" in step} == {"sayso_open_by_session"}, steps
    assert not any("Seq Scan" in step["Node Type"] for step in steps), steps


def test_a_page_of_the_history_is_read_in_the_order_of_an_index(link: Link) -> None:
    nothing = {"session_id": None, "tool": None, "how": None, "by": None, "since": None}
    filters = [{}, {"session_id": BUSY}, {"since": "2026-12-01T02:00:00.000+00:00"}]
    for after, some in product([None, SHUT], [*filters, {"tool": "bash"}, {"how": "approved"}, {"by": "ann"}]):
        page = partial(postgres_query.closed, link, **{**nothing, **some}, after=after, limit=50)
        steps = plans(link, page)
        assert_by_index(steps)
        if after or some in filters[1:]:
            assert_searched(steps)


def test_a_page_of_sessions_is_read_in_the_order_of_an_index(link: Link) -> None:
    for state, after in product([None, "idle", "parked", "working"], [None, SESSION]):
        steps = plans(link, partial(postgres_query.sessions, link, state, after, 50))
        assert_by_index(steps)
        if state or after:
            assert_searched(steps)


def test_what_is_due_is_read_in_the_order_of_an_index(link: Link) -> None:
    (*_, last) = postgres_query.due(link, "2026-12-09T00:00:00.000+00:00", None, 10)
    for before, after in product(["2026-12-02T03:00:00.000+00:00", "2026-12-09T00:00:00.000+00:00"], [None, last]):
        assert_searched(plans(link, partial(postgres_query.due, link, before, after, 100)))


def test_one_of_anything_is_searched_for(link: Link) -> None:
    for ask in (
        lambda: postgres_query.find(link, OPEN),
        lambda: postgres_query.find_closed(link, SHUT),
        lambda: postgres_query.read(link, SESSION, 0, None),
        lambda: postgres_query.session(link, SESSION),
        lambda: postgres_query.snapshot(link, SESSION),
    ):
        assert_searched(plans(link, ask))


def test_where_the_log_ends_is_read_from_the_ends_of_indexes(link: Link) -> None:
    assert_by_index(plans(link, lambda: postgres_query.position(link, SESSION)))


def test_statistics_from_when_nothing_was_open_do_not_mislead(link: Link) -> None:
    link.execute("CREATE TABLE kept AS SELECT request_id FROM sayso_requests WHERE open")
    link.execute("UPDATE sayso_requests SET open = false")
    link.execute("ANALYZE sayso_requests")
    link.execute("UPDATE sayso_requests SET open = true WHERE request_id IN (SELECT request_id FROM kept)")
    nothing = {"session_id": None, "kind": None, "tool": None, "after": None}
    for some in ({}, {"session_id": BUSY}, {"kind": "confirm"}, {"tool": "bash"}, {"after": OPEN}):
        page = partial(postgres_query.waiting, link, **{**nothing, **some}, limit=50, newest_first=False)
        steps = plans(link, page)
        assert_by_index(steps)
        assert all("Filter" not in step for step in steps), steps
    owned = "SELECT request_id FROM sayso_requests WHERE session_id = ANY(%s) AND open"  # as an append asks
    assert_searched(plans(link, lambda: link.execute(owned, ([SESSION],))))

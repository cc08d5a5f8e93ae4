"""Sessions move from a file to Postgres, and go on there."""

import json

import pytest

from postgres import fresh_database
from terminal import Desk

pytestmark = pytest.mark.slow

TOUCH = ("Bash", {"command": "touch a"})


def test_sessions_outgrow_their_file_without_losing_one(desk: Desk) -> None:
    url = fresh_database_url()
    desk.run("chat", "-m", desk.script("One.", "Two."), "hi")
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    file = str(desk.home / "state" / "sayso" / "sessions.db")
    before = [json.loads(x) for x in desk.run("sessions", "--json").stdout.splitlines()]
    copied = desk.run("store", "copy", file, url)
    assert (copied.returncode, copied.stdout.strip()) == (0, "2 copied, 0 continued, 0 there already"), copied.stderr
    after = [json.loads(x) for x in desk.run("sessions", "--json", "--store", url).stdout.splitlines()]
    assert [s["session_id"] for s in after] == [s["session_id"] for s in before]
    for session in before:
        log = desk.run("log", session["session_id"], "--json").stdout
        assert desk.run("log", session["session_id"], "--json", "--store", url).stdout == log
    again = desk.run("store", "copy", file, url)
    assert again.stdout.strip() == "0 copied, 0 continued, 2 there already"
    (request,) = [json.loads(x) for x in desk.run("inbox", "--json", "--store", url).stdout.splitlines()]
    answered = desk.run("answer", request["id"], "--yes", "--store", url)
    assert answered.returncode == 0, answered.stderr
    assert (desk.work / "a").exists()
    other = desk.run("answer", request["id"], "--no", "--store", url)
    assert "already approved" in other.stderr


def test_a_session_that_went_another_way_in_the_target_is_refused_by_name(desk: Desk) -> None:
    url = fresh_database_url()
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    file = str(desk.home / "state" / "sayso" / "sessions.db")
    desk.run("store", "copy", file, url)
    (request,) = desk.waiting()
    desk.run("answer", request["id"], "--no")
    desk.run("answer", request["id"], "--yes", "--store", url)
    refused = desk.run("store", "copy", file, url)
    assert refused.returncode == 1
    assert request["session_id"] in refused.stderr


def test_a_database_that_is_not_there_is_said_without_its_password(desk: Desk) -> None:
    done = desk.run("sessions", "--store", "postgresql://sayso:hunter2@127.0.0.1:9/sayso")
    assert done.returncode == 1
    assert "127.0.0.1" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout
    assert desk.run("sessions", "--store", "mysql://x").returncode == 2


def fresh_database_url() -> str:
    """As a URL: the tests' server gives key=value words for a socket."""
    from psycopg.conninfo import conninfo_to_dict

    words = conninfo_to_dict(fresh_database())
    extra = f"?host={words['host']}&port={words.get('port', 5432)}"
    return f"postgresql://{words.get('user', 'postgres')}@/{words['dbname']}{extra}"

"""`sayso` without a terminal: what a script reads, and what the exit code says. Nothing is ever prompted for."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import Desk

pytestmark = pytest.mark.slow

TOUCH = ("Bash", {"command": "touch a"})


def test_words_go_to_stdout_and_the_exit_code_is_0(desk: Desk) -> None:
    done = desk.run("chat", "-m", desk.script("Hello."), "hi")
    assert (done.returncode, done.stdout.strip()) == (0, "Hello.")


def test_a_message_may_be_piped_in(desk: Desk) -> None:
    done = desk.run("chat", "-m", desk.script("Hello."), input="hi there\n")
    assert (done.returncode, done.stdout.strip()) == (0, "Hello.")


def test_what_needs_a_person_is_kept_and_printed_with_how_to_answer(desk: Desk) -> None:
    done = desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    assert done.returncode == 3
    (request,) = desk.waiting()
    assert f"sayso answer {request['id']} --yes" in done.stdout
    assert not (desk.work / "a").exists()


def test_a_refusal_from_a_shell_reaches_the_model_with_its_reason(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    done = desk.run("answer", request["id"], "--no", "--reason", "not today")
    assert done.returncode == 0
    assert "not today" in desk.run("log", request["session_id"]).stdout
    assert not (desk.work / "a").exists()


def test_edited_arguments_from_a_shell_are_what_runs(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    assert desk.run("answer", request["id"], "--edit", '{"command": "touch b"}').returncode == 0
    assert (desk.work / "b").exists()
    assert not (desk.work / "a").exists()


def test_an_edit_that_is_no_json_changes_nothing(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    done = desk.run("answer", request["id"], "--edit", "touch b")
    assert done.returncode == 1
    assert "touch b" not in os.listdir(desk.work)
    assert [r["id"] for r in desk.waiting()] == [request["id"]]


def test_a_rule_from_a_shell_covers_the_next_call(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    done = desk.run("answer", request["id"], "--rule", "1")
    assert (done.returncode, desk.waiting()) == (0, [])
    listed = desk.run("rules", "list", "--session", request["session_id"]).stdout
    assert "touch a" in listed
    explained = desk.run("rules", "explain", "1", "--session", request["session_id"]).stdout
    assert "touch a" in explained
    assert desk.run("rules", "revoke", "1", "--session", request["session_id"]).returncode == 0
    assert "no rules" in desk.run("rules", "list", "--session", request["session_id"]).stdout


def test_a_second_answer_is_told_who_answered_and_how(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    desk.run("answer", request["id"], "--no")
    late = desk.run("answer", request["id"], "--yes")
    assert late.returncode == 1
    assert "already refused by" in late.stderr
    assert "via cli" in late.stderr
    assert not (desk.work / "a").exists()


def test_a_session_is_continued_with_its_own_folder_and_model(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script("One.", "Two."), "hi")
    (session,) = [json.loads(line) for line in desk.run("sessions", "--json").stdout.splitlines()]
    done = desk.run("chat", "--resume", session["session_id"], "again")
    assert (done.returncode, done.stdout.strip()) == (0, "Two.")
    done = desk.run("chat", "--resume", "--cwd", str(desk.home), "again")
    assert done.returncode == 1
    assert "no conversation in" in done.stderr


def test_an_answer_that_was_only_written_is_acted_on_by_whoever_goes_on_with_the_session(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    assert desk.run("answer", request["id"], "--yes", "--no-drive").returncode == 0
    assert not (desk.work / "a").exists()
    done = desk.run("chat", "--resume")
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (0, "Done.")
    assert (desk.work / "a").exists()


def test_a_message_while_it_waits_is_not_taken_and_says_so(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    done = desk.run("chat", "--resume", desk.waiting()[0]["session_id"], "and now?")
    assert done.returncode == 3
    assert "answers are owed first" in done.stderr


def test_the_log_of_a_session_is_verified_and_a_changed_entry_is_named(desk: Desk) -> None:
    import apsw

    desk.run("chat", "-m", desk.script("One."), "hi")
    assert "0 broken" in desk.run("log", "verify").stdout
    connection = apsw.Connection(str(desk.home / "state" / "sayso" / "sessions.db"))
    connection.execute("UPDATE entries SET at = '2020-01-01T00:00:00.000+00:00' WHERE position & 0xffffffff = 1")
    connection.close()
    done = desk.run("log", "verify")
    assert done.returncode == 1
    assert "entry 1 was changed" in done.stdout
    (checked,) = [json.loads(line) for line in desk.run("log", "verify", "--json").stdout.splitlines()]
    assert checked["wrong"].startswith("entry 1 ")


def test_a_log_cut_short_is_named_and_the_others_are_checked_all_the_same(desk: Desk) -> None:
    import apsw

    for _ in range(2):
        desk.run("chat", "-m", desk.script("One."), "hi")
    last, first = [json.loads(line)["session_id"] for line in desk.run("sessions", "--json").stdout.splitlines()]
    connection = apsw.Connection(str(desk.home / "state" / "sayso" / "sessions.db"))
    connection.execute("DELETE FROM entries WHERE position = (SELECT max(position) FROM entries)")
    connection.close()
    done = desk.run("log", "verify")
    assert done.returncode == 1
    assert "2 sessions checked, 1 broken" in done.stdout
    assert "entry 2" in done.stdout
    checked = {
        c["session_id"]: c["wrong"] for c in map(json.loads, desk.run("log", "verify", "--json").stdout.splitlines())
    }
    assert checked[first] is None
    assert "entry 2" in checked[last]


def test_a_rule_is_given_an_end_and_a_span_that_is_none_changes_nothing(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    desk.run("answer", request["id"], "--rule", "1", "--no-drive")
    of = ["--session", request["session_id"]]
    before = desk.run("rules", "list", *of).stdout
    for span in ([], ["--after", "soon"], ["--after", "99999999999999d"]):
        done = desk.run("rules", "expire", "1", *span, *of)
        assert done.returncode == 2
        assert "8h" in done.stderr
        assert desk.run("rules", "list", *of).stdout == before
    assert desk.run("rules", "expire", "1", "--after", "8h", *of).returncode == 0
    (after,) = desk.run("rules", "list", *of).stdout.splitlines()
    assert "until" in after


def test_the_commands_printed_name_the_store_that_was_named(desk: Desk) -> None:
    store = str(desk.home / "own.db")
    asked = desk.run("chat", "--store", store, "-m", desk.script(TOUCH, "Done."), "go")
    (way,) = [line.split() for line in asked.stdout.splitlines() if line.endswith("--yes")]
    (other,) = [line for line in desk.run("inbox", "--store", store).stdout.splitlines() if "Answer with" in line]
    assert " ".join(way) in other
    done = desk.run(*way[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert (desk.work / "a").exists()


def test_an_answer_says_whom_it_was_for_and_what_runs(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(TOUCH, "Done."), "go")
    (request,) = desk.waiting()
    said = desk.run("answer", request["id"], "--edit", '{"command": "touch b"}', "--no-drive").stdout
    assert said.startswith('allowed with your arguments: Bash {"command": "touch b"}')
    assert f"asked by sayso in session {request['session_id']}" in said


def test_text_of_a_model_cannot_pass_for_a_line_of_the_inbox(desk: Desk) -> None:
    fake = "Which?\nAnswer with: sayso answer EVIL --yes"
    question = {
        "question": fake,
        "header": "x",
        "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
    }
    asked = desk.run("chat", "-m", desk.script(("AskUser", {"questions": [question]}), "Done."), "go")
    assert asked.returncode == 3, asked.stderr
    shown = desk.run("inbox").stdout
    assert "EVIL" in shown
    assert not any(line.startswith("Answer with: sayso answer EVIL") for line in shown.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["chat", "hi"], 2, "No model"),
        (["chat", "-m", "nonsense:x", "hi"], 2, "nonsense"),
        (["chat", "-m", "scripted:/nowhere.json", "hi"], 2, "cannot be read"),
        (["chat", "--cwd", "/nowhere", "hi"], 2, "no such folder"),
        (["chat", "--resume", "nix", "hi"], 1, "no session 'nix'"),
        (["inbox", "--store", "/nowhere/x.db"], 2, "no such file"),
        (["inbox", "--limit", "0"], 2, "number from 1 on"),
        (["sessions", "--limit", "-1"], 2, "number from 1 on"),
        (["log", "verify", "nix"], 1, "no session 'nix'"),
        (["answer", "nix", "--yes"], 1, "no request 'nix'"),
        (["answer", "nix"], 2, "one of the arguments"),
        (["log", "nix"], 1, "no session 'nix'"),
        (["rules", "revoke", "1"], 2, "--session"),
        ([], 2, ""),
    ],
)
def test_what_cannot_be_done_says_what_to_do(desk: Desk, arguments: list[str], code: int, said: str) -> None:
    done = desk.run(*arguments)
    assert done.returncode == code, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_cannot_be_is_said(desk: Desk) -> None:
    done = desk.run("chat", "-m", desk.script("Hello."), "--store", "/nowhere/x.db", "hi")
    assert done.returncode == 1
    assert "/nowhere/x.db cannot be opened" in done.stderr


def test_every_command_has_help(desk: Desk) -> None:
    for command in ([], ["chat"], ["demo"], ["inbox"], ["answer"], ["sessions"], ["log"], ["rules"], ["permission"]):
        done = desk.run(*command, "--help")
        assert done.returncode == 0
        assert "usage: sayso" in done.stdout


def test_permission_explain_names_what_runs_and_what_decides(desk: Desk) -> None:
    done = desk.run("permission", "explain", "git status && rm -rf build", "--deny", "Bash(rm:*)")
    assert done.returncode == 0
    assert "git status" in done.stdout
    assert "deny" in done.stdout.splitlines()[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_model_behind_an_openai_compatible_server_edits_a_real_file_after_the_diff_and_the_yes(desk: Desk) -> None:
    (desk.work / "notes.txt").write_text("one\ntwo\n")
    edit = {"file_path": "notes.txt", "old_string": "two", "new_string": "three"}
    script = desk.home / "server.json"
    script.write_text(json.dumps([{"calls": [{"id": "c1", "name": "Edit", "arguments": edit}]}, {"text": "Edited."}]))
    port = _free_port()
    tests = Path(__file__).parents[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "model.fake_openai", "--port", str(port), "--script", str(script)],
        cwd=tests,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        desk.env |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "none"}
        with desk.terminal("chat", "-m", "openai:some-model", "edit it") as terminal:
            terminal.until("-two", "+three")
            terminal.ready()
            assert (desk.work / "notes.txt").read_text() == "one\ntwo\n"
            terminal.key("y")
            terminal.until("Edited.")
        assert (desk.work / "notes.txt").read_text() == "one\nthree\n"
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()

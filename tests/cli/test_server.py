"""The terminal against a server: the same chat, the same answers."""

import json

import pytest

from browsing import serving
from terminal import Desk

pytestmark = pytest.mark.slow

WRITE = ("Write", {"file_path": "todo.txt", "content": "buy milk\n"})


def test_a_chat_with_a_server_streams_asks_and_goes_on(desk: Desk) -> None:
    with serving(desk, "-m", desk.script([WRITE], "It is written.")) as url:
        server = url.split("#")[0].rstrip("/")
        with desk.terminal("chat", "--server", server, "note it") as terminal:
            terminal.until("wants your say-so", "+buy milk")
            assert not (desk.work / "todo.txt").exists()
            terminal.ready()
            terminal.key("y")
            shown = terminal.until("allowed once", "It is written.")
            assert shown.count("It is written.") == 1
            terminal.line("/quit")
            assert terminal.end() == 0
            assert "--server" in terminal.shown
    assert (desk.work / "todo.txt").read_text() == "buy milk\n"


def test_what_waits_on_a_server_is_listed_and_an_answer_given_elsewhere_closes_the_prompt(desk: Desk) -> None:
    with serving(desk, "-m", desk.script([WRITE], "As you wish.")) as url:
        server = url.split("#")[0].rstrip("/")
        with desk.terminal("chat", "--server", server, "note it") as terminal:
            terminal.ready()
            listed = desk.run("inbox", "--server", server, "--json")
            assert listed.returncode == 0, listed.stderr
            request = json.loads(listed.stdout)
            assert desk.run("answer", request["id"], "--no", "--reason", "not now").returncode == 0
            terminal.until("refused by", "via cli", "As you wish.")
    assert not (desk.work / "todo.txt").exists()


def test_a_request_on_a_server_is_answered_by_the_command_that_its_inbox_prints(desk: Desk) -> None:
    with serving(desk, "-m", desk.script([WRITE], "It is written.")) as url:
        server = url.split("#")[0].rstrip("/")
        with desk.terminal("chat", "--server", server, "note it") as terminal:
            terminal.ready()
            printed = desk.run("inbox", "--server", server).stdout.split("Answer with: ")[1].split("   ")[0]
            assert "--server" in printed
            done = desk.run(*printed.split()[1:])
            assert (done.returncode, done.stderr) == (0, "")
            terminal.until("approved by", "It is written.")
            late = desk.run(*printed.split()[1:])
            assert late.returncode == 1
            assert "already approved" in late.stderr
    assert (desk.work / "todo.txt").exists()


def test_a_server_that_is_not_there_or_does_not_know_us_is_said_to_be(desk: Desk) -> None:
    done = desk.run("inbox", "--server", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert "SAYSO_TOKEN" in done.stderr
    desk.env["SAYSO_TOKEN"] = "somebody-elses-token"
    done = desk.run("inbox", "--server", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    del desk.env["SAYSO_TOKEN"]
    with serving(desk, "-m", desk.script("hi")) as url:
        desk.env["SAYSO_TOKEN"] = "somebody-elses-token"
        done = desk.run("chat", "--server", url.split("#")[0].rstrip("/"), "hello")
        assert done.returncode == 1
        assert "not known here" in done.stderr
        assert "somebody" not in done.stderr


def test_a_server_on_an_address_of_others_wants_people_or_a_token_and_a_port_in_use_is_said(desk: Desk) -> None:
    done = desk.run("serve", "--host", "0.0.0.0", "--port", "0", "-m", desk.script("hi"))
    assert done.returncode == 2
    assert "--users" in done.stderr
    with serving(desk, "-m", desk.script("hi")) as url:
        port = url.split(":")[2].split("/")[0]
        done = desk.run("serve", "--port", port, "-m", desk.script("hi"))
        assert done.returncode == 1
        assert "--port" in done.stderr


def test_a_host_of_ones_own_is_served_by_its_name(desk: Desk) -> None:
    (desk.work / "mine.py").write_text(
        "from sayso.agent import Agent\nfrom sayso.host import Host\nfrom sayso.store import MemoryStore\n"
        "from sayso.testing import ScriptedModel\n\n\ndef build(store, session_id):\n"
        "    return Agent('ops', '', ScriptedModel(['hello from ops']), store=store, session_id=session_id)\n\n\n"
        "host = Host(MemoryStore(), {'ops': build})\n"
    )
    with serving(desk, "mine:host") as url:
        done = desk.run("chat", "--server", url.split("#")[0].rstrip("/"), "hello")
        assert (done.returncode, done.stdout.strip()) == (0, "hello from ops")
    done = desk.run("serve", "mine:nix")
    assert done.returncode == 2
    assert "cannot be loaded" in done.stderr

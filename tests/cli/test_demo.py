"""`sayso demo`: what a newcomer sees first."""

import subprocess
import sys

import pytest

from terminal import Desk

pytestmark = pytest.mark.slow


def test_without_a_terminal_it_answers_by_itself_and_shows_every_act(desk: Desk) -> None:
    done = desk.run("demo")
    assert done.returncode == 0, done.stderr
    assert "SCRIPTED" in done.stdout
    for act in range(1, 9):
        assert f"\n{act}. " in done.stdout
    for said in (
        "-    return price * quantity + discount",
        "→ (auto) allowed, and from now on",
        "Reason: open a pull request instead",
        "killed with SIGKILL",
        "its answer was taken",
        "was already",
        "The ledger: Acme 120.",
        "chain intact",
    ):
        assert said in done.stdout.replace("\n", " ") or said in done.stdout, said


def test_at_a_terminal_the_person_answers(desk: Desk) -> None:
    with desk.terminal("demo", rows=60) as terminal:

        def asked(act: int, keys: list[str]) -> None:
            terminal.until(f"{act}. ")
            terminal.until_that(
                lambda shown: (
                    "press a key" in shown.split(f"{act}. ")[-1] or "Enter send" in shown.split(f"{act}. ")[-1]
                ),
                f"the question of act {act}",
            )
            for key in keys:
                terminal.key(key)

        asked(2, ["y"])
        asked(3, ["r"])
        terminal.until("from now on without asking")
        terminal.key("1")
        asked(4, ["n"])
        terminal.until("Why not?")
        terminal.key("no\r")
        asked(5, ["1", "\r"])
        asked(6, ["y"])
        asked(7, ["y"])
        assert terminal.end() == 0
        terminal.until("The ledger: Acme 120.", "chain intact")


def test_ctrl_c_at_a_question_leaves_cleanly(desk: Desk) -> None:
    with desk.terminal("demo") as terminal:
        terminal.ready()
        terminal.key("\x03")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.shown


def test_a_fact_that_is_not_so_fails_the_demo(desk: Desk) -> None:
    program = (
        "import sys, sayso.cli.demo_world as world\n"
        "world.ledger = lambda folder: ['Acme 120', 'Acme 120']\n"
        "from sayso.cli import main\n"
        "sys.exit(main(['demo', '--auto']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=desk.work, env=desk.env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "should not have happened" in done.stderr

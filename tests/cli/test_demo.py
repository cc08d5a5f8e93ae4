"""`sayso demo`: what a newcomer sees first."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import SAYSO, Desk, Terminal

pytestmark = pytest.mark.slow

DOWN, UP_TO_ITS_END, RUB_OUT, SEND = "\x1b[B" * 12, "\x1b[A\x1b[F", "\x7f", "\x13"


def asked(terminal: Terminal, act: int, *keys: str, question: int = 1) -> None:
    """Press keys once an act has put its n-th question."""

    def takes_keys(shown: str) -> bool:
        _, begun, here = shown.partition(f"\n{act}. ")
        return (
            bool(begun)
            and here.count("wants your say-so") + here.count("Enter send") >= question
            and ("press a key" in here or "Enter send" in here)
        )

    terminal.until_that(takes_keys, f"question {question} of act {act}")
    for key in keys:
        terminal.key(key)


def refused(terminal: Terminal, act: int, reason: str, question: int = 1) -> None:
    asked(terminal, act, "n", question=question)
    terminal.until("Why not?")
    terminal.key(f"{reason}\r")
    terminal.until(f"→ refused: {reason}")


def own_temporary_folder(desk: Desk) -> Path:
    """Where the demo makes its folder, so that what it leaves is seen."""
    folder = desk.home / "tmp"
    folder.mkdir()
    desk.env["TMPDIR"] = str(folder)
    return folder


def test_without_a_terminal_it_answers_by_itself_and_shows_every_act(desk: Desk) -> None:
    temporary = own_temporary_folder(desk)
    done = desk.run("demo")
    assert done.returncode == 0, done.stderr
    assert "SCRIPTED" in done.stdout
    said = " ".join(done.stdout.split())
    acts = [said.index(f" {act}. ") for act in range(1, 9)]
    assert acts == sorted(acts)
    for words in (
        "- return price * quantity + discount",
        "→ (auto) allowed, and from now on",
        "The second run asked nobody: allow rule Bash(python3 -m unittest -q)",
        "Reason: open a pull request instead",
        "Account: Operations",
        'Denied: pay may not run: deny rule pay({"to": "Mallory"})',
        "killed with SIGKILL (exit code -9)",
        "its answer was taken",
        "was already approved by",
        "The ledger: Acme 120.",
        "chain intact",
        "Next: sayso chat -m",
    ):
        assert words in said, words
    assert list(temporary.iterdir()) == []


def test_at_a_terminal_the_person_answers(desk: Desk) -> None:
    with desk.terminal("demo", rows=60) as terminal:
        asked(terminal, 2, "y")
        asked(terminal, 3, "r")
        terminal.until("from now on without asking")
        terminal.key("1")
        refused(terminal, 4, "not today")
        asked(terminal, 5, "1", "\r")
        asked(terminal, 6, "y")
        asked(terminal, 7, "y")
        assert terminal.end() == 0
        terminal.until("Reason: not today", "The ledger: Acme 120.", "chain intact")


def test_what_a_person_edits_is_what_is_paid(desk: Desk) -> None:
    with desk.terminal("demo", rows=60) as terminal:
        refused(terminal, 2, "two")
        refused(terminal, 3, "three")
        refused(terminal, 3, "again", question=2)
        refused(terminal, 4, "four")
        asked(terminal, 5, "1", "\r")
        refused(terminal, 6, "six")
        asked(terminal, 7, "e")
        terminal.until("Ctrl-S")
        for key in (DOWN, UP_TO_ITS_END, RUB_OUT, RUB_OUT, "5"):
            terminal.key(key)
        terminal.until('"amount": 15')
        terminal.key(SEND)
        assert terminal.end() == 0
        terminal.until("The ledger: Acme 15.", "chain intact")


def test_ctrl_c_at_a_question_leaves_cleanly(desk: Desk) -> None:
    temporary = own_temporary_folder(desk)
    with desk.terminal("demo") as terminal:
        terminal.ready()
        terminal.key("\x03")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("moment", ["SCRIPTED", "3. ", "killed with SIGKILL"])
def test_ctrl_c_between_questions_leaves_cleanly(desk: Desk, moment: str) -> None:
    temporary = own_temporary_folder(desk)
    with subprocess.Popen(
        [*SAYSO, "demo", "--auto"],
        cwd=desk.work,
        env=desk.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdout is not None and demo.stderr is not None
        for line in demo.stdout:
            if moment in line:
                break
        demo.send_signal(signal.SIGINT)
        assert "The ledger" not in demo.stdout.read()
        assert demo.stderr.read() == ""
    assert demo.returncode == 130
    assert list(temporary.iterdir()) == []


def test_a_push_that_is_allowed_finds_no_repository_around_the_folder(desk: Desk) -> None:
    temporary = own_temporary_folder(desk)
    remote = desk.home / "remote.git"
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for arguments in (
        ["init", "-q", "--bare", str(remote)],
        ["init", "-q", "-b", "main", str(temporary)],
        ["-C", str(temporary), *person, "commit", "-q", "--allow-empty", "-m", "mine"],
        ["-C", str(temporary), "remote", "add", "origin", str(remote)],
    ):
        subprocess.run(["git", *arguments], check=True, env=desk.env)
    with desk.terminal("demo", rows=60) as terminal:
        asked(terminal, 2, "y")
        asked(terminal, 3, "y")
        asked(terminal, 3, "y", question=2)
        asked(terminal, 4, "y")
        terminal.until("not a git repository")
        asked(terminal, 5, "\x03")
        assert terminal.end() == 130
    pushed = subprocess.run(
        ["git", "-C", str(remote), "branch", "--list"], check=True, env=desk.env, capture_output=True, text=True
    )
    assert pushed.stdout == ""


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("world.ledger = lambda folder: ['Acme 120', 'Acme 120']", "the ledger says"),
        ("world.FIXED = 'return price'", "the test did not pass"),
        ("import sayso.store.chain as chain; chain.verify = lambda entries: 7", "the hash chain is broken"),
    ],
)
def test_a_fact_that_is_not_so_fails_the_demo(desk: Desk, planted: str, found: str) -> None:
    temporary = own_temporary_folder(desk)
    program = (
        "import sys, sayso.cli.demo_world as world\n"
        f"{planted}\n"
        "from sayso.cli import main\n"
        "sys.exit(main(['demo', '--auto']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=desk.work, env=desk.env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "this should not have happened" in done.stderr
    assert found in done.stderr
    assert list(temporary.iterdir()) == []

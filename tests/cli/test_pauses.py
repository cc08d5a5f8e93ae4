"""A pause at the terminal: what is shown before the choice, and what each choice does."""

import json
import signal

import pytest

from model.fake_openai import chunk, serve
from model.wire import Reply
from terminal import PATIENCE, Desk

pytestmark = pytest.mark.slow

WRITE = ("Write", {"file_path": "todo.txt", "content": "buy milk\n"})


def bash(command: str) -> tuple[str, dict[str, str]]:
    return ("Bash", {"command": command})


def test_the_diff_is_shown_before_the_choice_and_the_file_is_written_after_the_yes(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(WRITE, "Written."), "note it") as terminal:
        terminal.until("wants your say-so", "+buy milk", "y allow once")
        assert not (desk.work / "todo.txt").exists()
        terminal.ready()
        terminal.key("y")
        terminal.until("allowed once", "Written.")
    assert (desk.work / "todo.txt").read_text() == "buy milk\n"


def test_a_refusal_asks_for_a_reason_that_the_model_reads(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(WRITE, "As you wish."), "note it") as terminal:
        terminal.ready()
        terminal.key("n")
        terminal.until("Why not?")
        terminal.key("not on a Sunday\r")
        terminal.until("refused: not on a Sunday", "Reason: not on a Sunday", "As you wish.")
    assert not (desk.work / "todo.txt").exists()


def test_a_rule_from_the_picker_lets_the_next_call_run_unasked(desk: Desk) -> None:
    model = desk.script(bash("touch a"), bash("touch a"), "Both done.")
    with desk.terminal("chat", "-m", model, "touch it twice") as terminal:
        terminal.until("r allow with a rule")
        terminal.ready()
        terminal.key("r")
        terminal.until("from now on without asking", "touch a")
        terminal.key("1")
        shown = terminal.until("Both done.")
    assert shown.count("wants your say-so") == 1


def test_edited_arguments_are_what_runs(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it") as terminal:
        terminal.ready()
        terminal.key("e")
        terminal.until('"command": "touch a"', "Ctrl-S")
        for _ in range(12):
            terminal.key("\x1b[B")  # down to the last line
        terminal.key("\x1b[A\x1b[F")  # up one, to its end
        terminal.key('\x7f\x7fb"')  # a" becomes b"
        terminal.until('"command": "touch b"')
        terminal.key("\x13")
        terminal.until("allowed, with your arguments", "Done.")
    assert (desk.work / "b").exists()
    assert not (desk.work / "a").exists()


def test_enter_and_what_was_typed_ahead_answer_nothing(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it") as terminal:
        terminal.until("wants your say-so")
        terminal.key("\r\ryyy\r")
        terminal.ready()
        terminal.key("\r")
        assert not (desk.work / "a").exists()
        terminal.key("n")
        terminal.until("Why not?")
        terminal.key("\r")
        terminal.until("refused", "Done.")
    assert not (desk.work / "a").exists()


def test_what_is_left_for_later_waits_in_the_store_and_is_answered_by_another_process(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it") as terminal:
        terminal.ready()
        terminal.key("l")
        terminal.until("left for later", "sayso answer")
        terminal.until("waiting · ›")
        terminal.key("\x04")
        assert terminal.end() == 3
        assert "sayso chat --resume" in terminal.shown
    (request,) = desk.waiting()
    assert json.loads(request["input"]) == {"command": "touch a"}
    done = desk.run("answer", request["id"], "--yes")
    assert done.returncode == 0, done.stderr
    assert "Done." in done.stdout
    assert (desk.work / "a").exists()


def test_a_request_answered_elsewhere_leaves_the_screen_and_the_chat_goes_on(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it") as terminal:
        terminal.ready()
        (request,) = desk.waiting()
        assert desk.run("answer", request["id"], "--yes").returncode == 0
        shown = terminal.until("approved by", "via cli", "Done.")
        assert "press a key" not in shown
        terminal.line("/quit")
        assert terminal.end() == 0


def test_a_chat_killed_while_it_waits_goes_on_where_it_was(desk: Desk) -> None:
    model = desk.script(bash("echo paid >> ledger"), "Paid.")
    with desk.terminal("chat", "-m", model, "pay") as terminal:
        terminal.ready()
        terminal.child.kill(9)
        terminal.end()
    with desk.terminal("chat", "--resume") as terminal:
        terminal.until("Going on with", "echo paid >> ledger")
        terminal.ready()
        terminal.key("y")
        terminal.until("Paid.")
    assert (desk.work / "ledger").read_text() == "paid\n"


def test_hostile_text_is_shown_and_not_obeyed(desk: Desk) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;ZXZpbA==\x07\u202egnp.exe\u200b"
    model = desk.script(f"Look: {evil}", ("Bash", {"command": f"echo '{evil}'"}), "Done.")
    with desk.terminal("chat", "-m", model, "show me") as terminal:
        terminal.until("Look:")
        terminal.line("again")
        terminal.until("wants your say-so")
        assert b"\x1b]0;owned" not in terminal.raw
        assert b"\x1b]52" not in terminal.raw
        assert b"\x1b[2J" not in terminal.raw.split(b"show me", 1)[-1]
        assert "\u202e".encode() not in terminal.raw
        assert "\u200b".encode() not in terminal.raw


def test_ctrl_c_stops_the_tool_and_the_reply_but_not_the_program(desk: Desk) -> None:
    (desk.home / "config" / "sayso").mkdir(parents=True)
    (desk.home / "config" / "sayso" / "rules.toml").write_text('allow = ["Bash(sleep:*)"]\n')
    with desk.terminal("chat", "-m", desk.script(bash("sleep 300"), "never"), "wait") as terminal:
        terminal.until("Bash  sleep 300")
        terminal.key("\x03")
        terminal.until("Stopped.")
        terminal.line("/mode")
        terminal.until("mode default")
        terminal.line("/quit")
        assert terminal.end() == 0


def test_what_was_edited_and_allowed_elsewhere_is_named_as_it_ran(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it") as terminal:
        terminal.ready()
        (request,) = desk.waiting()
        assert desk.run("answer", request["id"], "--edit", '{"command": "touch b"}').returncode == 0
        terminal.until("approved by", "✓ Bash  touch b", "Done.")


def test_a_call_of_an_earlier_process_has_its_name_when_it_ran(desk: Desk) -> None:
    desk.run("chat", "-m", desk.script(bash("touch a"), "Done."), "touch it")
    with desk.terminal("chat", "--resume") as terminal:
        terminal.ready()
        terminal.key("y")
        terminal.until("✓ Bash  touch a", "Done.")


def test_the_command_printed_for_later_answers_in_the_store_it_waits_in(desk: Desk) -> None:
    store = str(desk.home / "own.db")
    with desk.terminal("chat", "--store", store, "-m", desk.script(bash("touch a")), "go", columns=200) as terminal:
        terminal.ready()
        terminal.key("l")
        shown = terminal.until("waiting · ›")
        (command,) = [line.split() for line in shown.split("\n") if line.startswith("  sayso answer")]
        assert desk.run(*command[1:], "--no-drive").returncode == 0


def test_being_told_to_end_puts_the_terminal_back_and_says_how_to_go_on(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a")), "touch it") as terminal:
        terminal.ready()
        terminal.child.kill(signal.SIGTERM)
        assert terminal.end() == 130
        assert "sayso chat --resume" in terminal.shown
        assert "Traceback" not in terminal.shown
    assert len(desk.waiting()) == 1


def test_ctrl_c_empties_the_line_then_warns_then_leaves(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script("Hello.")) as terminal:
        terminal.until("›")
        terminal.key("half a thought")
        terminal.until("› half a thought")
        terminal.key("\x03")
        terminal.until_that(lambda shown: "half a thought" not in shown, "an empty line")
        terminal.key("\x03")
        terminal.until("Ctrl-C once more leaves")
        terminal.key("x\x7f")
        terminal.until_that(lambda shown: "once more" not in shown, "the warning gone")
        terminal.key("\x03")
        terminal.until("Ctrl-C once more leaves")
        terminal.key("\x03")
        assert terminal.end() == 0


def test_at_40_columns_no_choice_is_cut(desk: Desk) -> None:
    with desk.terminal("chat", "-m", desk.script(bash("touch a"), "Done."), "go", columns=40) as terminal:
        terminal.ready()
        shown = terminal.until("y allow once", "r allow with a rule…", "e edit", "n refuse", "l later")
        assert all(not line.startswith(("w ", "n a")) for line in shown.split("\n"))


def test_words_are_on_the_screen_while_the_model_still_speaks_and_ctrl_c_stops_it(desk: Desk) -> None:
    begun = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Once upon "})]
    with serve([Reply(begun, endless=b": still there\n\n")]) as server:
        desk.env |= {"OPENAI_BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": "none"}
        with desk.terminal("chat", "-m", "openai:some-model", "tell me") as terminal:
            terminal.until("Once upon")
            terminal.key("\x03")
            terminal.until("Stopped.")
            assert server.gone.wait(PATIENCE)
            terminal.line("/quit")
            assert terminal.end() == 0

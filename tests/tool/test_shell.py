import asyncio
import os
import time
from pathlib import Path

import pytest

from running import NO_RULES, preview, run, run_async
from sayso.message import ToolResultState
from sayso.permission.unit import CommandUnit, OpaqueUnit
from sayso.request import Preview
from sayso.tool import Bash, InvalidInput, Toolkit


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_stdout_stderr_and_the_exit_code_come_back(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path), command="echo out; echo err >&2; exit 3")
    assert ran.text == "out\nerr\n[exit code 3]"
    assert ran.state is ToolResultState.ERROR
    assert (ran.metadata["exit_code"], ran.metadata["timed_out"]) == (3, False)
    assert isinstance(ran.metadata["duration_ms"], int)


def test_success_is_exit_code_0(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path), command="printf done")
    assert (ran.text, ran.ok) == ("done\n[exit code 0]", True)


def test_it_runs_in_its_directory_without_a_terminal_and_without_input(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path), command="pwd; echo $PWD; cat; tty; ps -o tty= -p $$")
    assert ran.text == f"{tmp_path}\n{tmp_path}\nnot a tty\n?\n[exit code 0]"


def test_no_startup_file_and_no_inherited_function_changes_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.sh").write_text("ls() { echo evil; }\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "evil.sh"))
    monkeypatch.setenv("BASH_FUNC_echo%%", "() { builtin echo evil; }")
    monkeypatch.setenv("SHELLOPTS", "xtrace")
    ran = run(Bash(tmp_path), command="ls; echo fine")
    assert ran.text == "evil.sh\nfine\n[exit code 0]"


def test_variables_of_the_tool_are_set_on_top(tmp_path: Path) -> None:
    assert run(Bash(tmp_path, env={"WHO": "me"}), command="echo $WHO").text.startswith("me\n")


def test_nothing_lasts_from_one_call_to_the_next(tmp_path: Path) -> None:
    bash = Bash(tmp_path)
    run(bash, command="cd /; export A=1")
    assert run(bash, command="pwd; echo [$A]").text == f"{tmp_path}\n[]\n[exit code 0]"


def test_output_is_shown_while_the_command_runs(tmp_path: Path) -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        os.mkfifo(tmp_path / "gate")
        stream = Bash(tmp_path)(command="echo first; read < gate; echo second")
        async for chunk in stream:
            seen.extend(b.text for b in chunk.content if b.type == "text")
            if seen == ["first\n"]:
                await asyncio.to_thread((tmp_path / "gate").write_text, "go\n")
        return seen

    assert asyncio.run(main()) == ["first\n", "second\n", "[exit code 0]"]


def test_a_command_that_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path), command="echo before; exec sleep 600", timeout=300)
    assert ran.text.startswith("before\n[stopped: it took longer than its 0.3 s")
    assert ran.state is ToolResultState.ERROR
    assert (ran.metadata["exit_code"], ran.metadata["timed_out"]) == (None, True)


def test_a_process_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path, grace=0.2), command="trap '' TERM; echo $$; sleep 600; sleep 600", timeout=300)
    assert ran.metadata["timed_out"]
    assert not alive(int(ran.text.split()[0]))


def test_a_process_left_in_the_background_is_stopped_and_does_not_hold_the_call_up(tmp_path: Path) -> None:
    began = time.monotonic()
    ran = run(Bash(tmp_path, grace=5), command="sleep 600 & echo $!")
    assert "left in the background were stopped" in ran.text
    assert ran.ok
    assert not alive(int(ran.text.split()[0]))
    assert time.monotonic() - began < 5


def test_a_process_that_left_the_group_and_holds_the_pipe_does_not_hold_the_call_up(tmp_path: Path) -> None:
    began = time.monotonic()
    ran = run(
        Bash(tmp_path, grace=0.2),
        command="setsid bash -c 'echo $$ > pid; exec sleep 20' & until [ -s pid ]; do :; done",
    )
    assert time.monotonic() - began < 10
    assert "[exit code 0" in ran.text
    os.kill(int((tmp_path / "pid").read_text()), 9)


def test_a_command_that_closes_its_output_still_gives_its_exit_code(tmp_path: Path) -> None:
    assert run(Bash(tmp_path), command="exec >&- 2>&-; sleep 0.05; exit 4").metadata["exit_code"] == 4


def test_a_command_killed_by_a_signal_says_which(tmp_path: Path) -> None:
    assert run(Bash(tmp_path), command="kill -KILL $$").text == "[killed by SIGKILL]"


def test_endless_output_is_bounded_in_length_and_in_time(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path, max_output=5_000, grace=0.2), command="yes", timeout=500)
    assert len(ran.text) <= 5_000
    assert "characters were cut" in ran.text
    assert ran.text.endswith("if it needs more]")


def test_bytes_that_are_no_text_do_not_break_the_result(tmp_path: Path) -> None:
    assert run(Bash(tmp_path), command=r"printf '\xff\xe4\xb8\xadok'").text == "\ufffd中ok\n[exit code 0]"


def test_a_character_split_between_two_writes_stays_whole(tmp_path: Path) -> None:
    command = r"printf '\xe4'; sleep 0.05; printf '\xb8\xad'"
    assert run(Bash(tmp_path), command=command).text == "中\n[exit code 0]"


def test_a_cancel_kills_the_whole_group_before_it_is_raised(tmp_path: Path) -> None:
    async def main() -> int:
        os.mkfifo(tmp_path / "ready")
        task = asyncio.ensure_future(run_async(Bash(tmp_path), command="sleep 600 & echo $! > ready; wait"))
        pid = int(await asyncio.to_thread((tmp_path / "ready").read_text))
        assert alive(pid)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    assert not alive(asyncio.run(main()))


def test_a_directory_that_is_gone_is_an_error_result(tmp_path: Path) -> None:
    ran = run(Bash(tmp_path / "gone"), command="true")
    assert ran.state is ToolResultState.ERROR
    assert "gone" in ran.text


def test_the_directory_of_the_judgement_is_the_directory_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    bash = Bash(tmp_path / "work")
    bash.units({"command": "ls"}, NO_RULES)
    (tmp_path / "work").rename(tmp_path / "old")
    (tmp_path / "work").symlink_to("/")
    assert "not the directory it was" in run(bash, command="ls").text


def test_the_preview_is_the_command_and_where_it_would_run(tmp_path: Path) -> None:
    assert preview(Bash(tmp_path), command="rm -r x") == Preview(kind="command", text="rm -r x", cwd=str(tmp_path))


def test_units_are_the_simple_commands(tmp_path: Path) -> None:
    units = Bash(tmp_path).units({"command": "git status && rm x"}, NO_RULES)
    assert [[w.text for w in u.argv] for u in units if isinstance(u, CommandUnit)] == [["git", "status"], ["rm", "x"]]
    assert isinstance(Bash(tmp_path).units({"command": 7}, NO_RULES)[0], OpaqueUnit)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "'command' is missing"),
        ('{"command": ""}', "at least 1 character"),
        ('{"command": ["ls"]}', "valid string"),
        ('{"command": "ls", "timeout": 600001}', "less than or equal to 600000"),
        ('{"command": "ls", "timeout": 0}', "greater than or equal to 1"),
        ('{"command": "ls", "cwd": "/"}', "it takes command, description, timeout"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(text: str, why: str) -> None:
    kit = Toolkit([bash := Bash("/")])
    with pytest.raises(InvalidInput, match=why):
        kit.parse(bash, text)

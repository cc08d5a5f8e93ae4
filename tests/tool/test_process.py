import asyncio
import os
import sys
from pathlib import Path

import pytest

from sayso.tool.process import Directory, Ended, Program, scrubbed


async def output(argv: list[str], cwd: Path, seconds: float = 20, grace: float = 5) -> tuple[bytes, Ended]:
    async with Program.start(argv, cwd=Directory(str(cwd)), env=os.environ, seconds=seconds, grace=grace) as program:
        data = b"".join([piece async for piece in program.output()])
    assert program.ended is not None
    return data, program.ended


def test_what_changes_the_meaning_of_a_command_is_taken_from_the_environment() -> None:
    bad = [
        "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "CDPATH", "LD_PRELOAD",
        "LD_LIBRARY_PATH", "GIT_DIR", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "MANPAGER", "BASH_FUNC_ls%%", "LESSOPEN",
        "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "OLDPWD",
    ]  # fmt: skip
    kept = {"PATH": "/bin", "HOME": "/home/a", "LANG": "C.UTF-8", "TOKEN": "t"}
    left = scrubbed(dict.fromkeys(bad, "x") | {"PAGER": "evil", "GIT_PAGER": "evil"} | kept)
    assert left == kept | {
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def test_a_directory_that_was_exchanged_after_the_judgement_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    where = Directory(str(tmp_path / "work"))
    where.judged()
    (tmp_path / "work").rename(tmp_path / "old")
    (tmp_path / "work").mkdir()
    with pytest.raises(FileNotFoundError, match="not the directory it was"), where.opened():
        pass


def test_a_program_runs_in_the_very_directory_that_was_opened(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "here").touch()
    data, ended = asyncio.run(output(["ls"], tmp_path / "work"))
    assert (data, ended.exit_code) == (b"here\n", 0)


def test_a_program_that_cannot_be_started_raises_and_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        asyncio.run(output(["/no/such/program"], tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before


def test_output_that_nobody_reads_holds_the_program_back_instead_of_filling_memory(tmp_path: Path) -> None:
    async def main() -> int:
        where = Directory(str(tmp_path))
        written = tmp_path / "written"
        writer = (
            "import sys\n"
            "n = 0\n"
            f"note = open({str(written)!r}, 'w')\n"
            "while True:\n"
            "    sys.stdout.write('x' * 65536); sys.stdout.flush(); n += 65536\n"
            "    note.seek(0); note.write(str(n)); note.flush()\n"
        )
        argv = [sys.executable, "-c", writer]
        async with Program.start(argv, cwd=where, env=os.environ, seconds=20, grace=0) as program:
            stream = program.output()
            await anext(stream)
            # It must come to a halt: two looks in a row that find the same count, with the loop running in between.
            last, now = -1, 0
            while last != now or now == 0:
                last = now
                await asyncio.to_thread(sum, range(2_000_000))
                now = int(written.read_text() or 0)
            await stream.aclose()
        return now

    assert asyncio.run(main()) < 1_000_000

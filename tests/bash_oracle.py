"""Real bash as an oracle: what did it start, and which files did it make?

A text is run in a scratch directory where the only programs are markers, which append their argv to a file, and a few
real wrappers (`env`, `timeout`, `xargs` ...) that can start nothing but markers. The environment is empty.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MARKERS", "Oracle", "Run"]

MARKERS = ("ma", "mb", "mc", "md")
WRAPPERS = ("env", "timeout", "nice", "nohup", "stdbuf", "xargs", "find", "cat")
SECONDS = 2


@dataclass(frozen=True)
class Run:
    """One run. started: every argv, without the path of its program. made: files and directories that are new."""

    started: list[list[str]]
    made: set[str]


class Oracle:
    """Runs texts in `place`, which it owns."""

    def __init__(self, place: Path) -> None:
        bash = shutil.which("bash")
        if bash is None:
            raise RuntimeError("there is no bash on this machine; install it")
        self.bash = bash
        self.work = place / "work"
        self.bin = place / "bin"
        self.log = place / "log"
        self.bin.mkdir(parents=True)
        # A file for each process: what several write to one would mix.
        marker = f'#!{bash}\nprintf \'%s\\0\' "${{0##*/}}" "$@" > {self.log}/$$-$PPID-$RANDOM\n'
        for name in MARKERS:
            (self.bin / name).write_text(marker)
            (self.bin / name).chmod(0o755)
        for name in WRAPPERS:
            if (real := shutil.which(name)) is not None:
                (self.bin / name).symlink_to(real)

    def run(self, text: str) -> Run:
        """What happens when bash is given this text."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        (self.work / "src").mkdir()
        (self.work / "a.txt").write_text("x\n")
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir()
        self._start(text)
        started = [os.fsdecode(file.read_bytes()).split("\0")[:-1] for file in self.log.iterdir()]
        made = {str(path.relative_to(self.work)) for path in self.work.rglob("*")} - {"src", "a.txt"}
        return Run(started, made)

    def _start(self, text: str) -> None:
        """Run bash and wait for all that it started: each holds a pipe open, which ends with the last of them."""
        read, write = os.pipe()
        bash = subprocess.Popen(
            [self.bash, "--noprofile", "--norc", "-c", text],
            cwd=self.work,
            env={"PATH": str(self.bin), "HOME": str(self.work), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[write],
            start_new_session=True,
        )
        os.close(write)
        select.select([read], [], [], SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bash.pid, signal.SIGKILL)
        bash.wait()
        os.close(read)

"""Bash: a command line, run as it was judged.

Owns the tool. How a process is run and ended is in process.py; what a command may do is the permission engine's.
Rules are no sandbox: an allowed command can do what the user who runs the agent can.
"""

from __future__ import annotations

import codecs
import os
import shutil
import signal
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sayso.message import TextBlock, ToolResultState
from sayso.permission.unit import OpaqueUnit, Unit
from sayso.request import Preview
from sayso.tool.base import ToolBase, ToolChunk
from sayso.tool.process import Directory, Ended, Program, scrubbed
from sayso.tool.schema import schema_of

if TYPE_CHECKING:
    from sayso.permission.context import PermissionContext

__all__ = ["Bash"]

_TIMEOUT = 120_000  # milliseconds, unless the call says otherwise
_TIMEOUT_MAX = 600_000


class BashInput(BaseModel):
    """Arguments of Bash."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    command: Annotated[str, Field(min_length=1, description="The command line, for bash.")]
    description: Annotated[
        str | None, Field(description="What it is for, in a few words, for the person who reads along.")
    ] = None
    timeout: Annotated[
        int | None,
        Field(ge=1, le=_TIMEOUT_MAX, description=f"Milliseconds it may take; {_TIMEOUT} if left out."),
    ] = None


_ARGUMENTS: TypeAdapter[BashInput] = TypeAdapter(BashInput)


class Bash(ToolBase):
    """Runs a command line with `bash --noprofile --norc -c` in `cwd`, without a terminal and without input.

    cwd: the directory of every call (a `cd` lasts for one call); default: the process's, when the tool is made.
    env: variables set on top of the process's environment, from which all is taken that changes what a command means.
    timeout: milliseconds, where the call names none. grace: seconds between SIGTERM and SIGKILL.
    max_output: characters of the output that are kept.

    Result: standard output and standard error as they came, then the exit code. State `error` unless it is 0.
    Metadata: exit_code (None when stopped for its time; negative for a signal), timed_out, duration_ms.
    """

    name = "Bash"
    description = (
        "Run a command line with bash and return what it prints (stdout and stderr together) and its exit code.\n"
        "Every call starts in the same directory with a fresh shell: no variable, alias or cd lasts. There is no "
        "terminal and no standard input, so a program that asks something gets an empty answer. Processes still "
        "running in the background when the command ends are stopped with it. For files, prefer Read, Edit, Write, "
        "Glob and Grep."
    )
    arguments = _ARGUMENTS

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        timeout: int = _TIMEOUT,
        grace: float = 2.0,
        max_output: int = ToolBase.output_limit,
    ) -> None:
        self.input_schema = schema_of(_ARGUMENTS)
        self.output_limit = max_output
        self._directory = Directory(None if cwd is None else os.fspath(cwd))
        self._env = dict(env or {})
        self._timeout = timeout
        self._grace = grace

    @property
    def cwd(self) -> str:
        """The directory of every call; canonical."""
        return self._directory.path

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        """The simple commands and file operations of the command line."""
        command = tool_input.get("command")
        if not isinstance(command, str):
            return (OpaqueUnit(why="the command is not text"),)
        from sayso.permission.shell.units import shell_units

        self._directory.judged()
        environment = self._environment()
        workspace = [self.cwd, *context.working_directories]
        home = environment.get("HOME")
        return shell_units(command, cwd=self.cwd, home=home, workspace=workspace, exported=environment)

    async def preview(self, tool_input: dict[str, Any]) -> Preview | None:
        """The command and where it would run."""
        return Preview(kind="command", text=tool_input["command"], cwd=self.cwd)

    async def __call__(self, **tool_input: Any) -> AsyncGenerator[ToolChunk, None]:
        """The output as it comes, then the exit code. Raises OSError if bash cannot be started."""
        given = _ARGUMENTS.validate_python(tool_input)
        allowed = (self._timeout if given.timeout is None else given.timeout) / 1000
        environment = self._environment()
        bash = shutil.which("bash", path=os.defpath) or shutil.which("bash", path=environment.get("PATH"))
        if bash is None:
            raise FileNotFoundError("there is no bash on this machine; install it, or take Bash out of the toolkit")
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        argv = [bash, "--noprofile", "--norc", "-c", given.command]
        started = time.monotonic()
        async with Program.start(
            argv, cwd=self._directory, env=environment, seconds=allowed, grace=self._grace
        ) as program:
            last = "\n"
            async for data in program.output():
                if text := decode(data):
                    last = text
                    yield _piece(text)
            if text := decode(b"", True):
                last = text
                yield _piece(text)
        assert program.ended is not None  # noqa: S101  (output() was read to its end)
        said = "" if last.endswith("\n") else "\n"
        yield _last(said, program.ended, allowed=allowed, took=time.monotonic() - started)

    def _environment(self) -> dict[str, str]:
        return scrubbed(os.environ) | self._env


def _piece(text: str) -> ToolChunk:
    return ToolChunk(content=[TextBlock(text=text)], is_last=False)


def _last(before: str, ended: Ended, *, allowed: float, took: float) -> ToolChunk:
    code = ended.exit_code
    if ended.timed_out:
        what = f"stopped: it took longer than its {allowed:g} s; pass a longer timeout if it needs more"
    elif code is not None and code < 0:
        what = f"killed by {_signal_name(-code)}"
    else:
        what = f"exit code {code}"
    if ended.left_behind:
        what += "; processes it left in the background were stopped"
    return ToolChunk(
        content=[TextBlock(text=f"{before}[{what}]")],
        state=ToolResultState.SUCCESS if code == 0 else ToolResultState.ERROR,
        metadata={"exit_code": code, "timed_out": ended.timed_out, "duration_ms": round(took * 1000)},
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

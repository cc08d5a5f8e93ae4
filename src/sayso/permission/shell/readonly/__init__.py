"""Which simple commands are proven to only read: closed-world tables of options, with the manual each came from.

`prove` looks a command's name up and lets its row read the arguments. What is not listed is not proven, whatever it
does. A proof says what would be read, so that rules about files can be applied to it; it says nothing of redirections,
which are units of their own.

A proof assumes what the shell tool guarantees: the variables that match `ASSUMED_ABSENT` are not set, GIT_ENVIRONMENT
is, standard input is no terminal, and no function or alias has the command's name. A tool's own cache or log in the
user's home (kubectl's discovery cache, npm's log) is not counted as a write.
"""

import re
from functools import cache

from sayso.permission.shell.readonly.git import GIT_ENVIRONMENT
from sayso.permission.shell.readonly.table import Program, Proof, Table
from sayso.permission.unit import CommandUnit, Word

__all__ = ["ASSUMED_ABSENT", "GIT_ENVIRONMENT", "HARMLESS_VARIABLES", "Proof", "prove"]

ASSUMED_ABSENT: tuple[str, ...] = (
    "BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "IFS", "POSIXLY_CORRECT",
    "LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "GIT_*", "*PAGER", "LESS*", "MORE", "MAN*", "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH", "FZF_*", "BAT_*", "TAR_OPTIONS", "UNZIP*", "ZIPINFO*", "GZIP", "XZ_*", "BC_ENV_ARGS", "AWK*",
    "GAWK*", "PYTHON*", "PIP_*", "RUFF_*", "MYPY*", "NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_*", "npm_config_*",
    "PERL5*", "PERLLIB", "RUBY*", "GEM_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_*",
    "GOFLAGS", "GOENV", "GOTOOLCHAIN", "CARGO_*", "RUSTUP_TOOLCHAIN", "RUSTC*", "DEBUGINFOD_URLS", "DOTNET_*", "PS_*",
    "LS_OPTIONS",
)  # fmt: skip
"""Variables, as shell patterns, that would make a proven command do more; the shell tool removes them."""

HARMLESS_VARIABLES = re.compile(
    r"LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|COLUMNS|LINES|NODE_ENV|LS_COLORS"
    r"|GREP_COLORS|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|RUST_LOG|RUST_BACKTRACE|DEBUG"
)
"""Variables that a command may set for itself and stay proven, with a value that is known."""
EXACT_VARIABLES = frozenset(
    {("GIT_PAGER", "cat"), ("PAGER", "cat"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")}
)
TRANSPARENT = frozenset({"timeout", "nice", "nohup", "stdbuf", "time", "command", "env", "builtin", "xargs", "find"})
"""Wrappers whose own effect is none: they wait, repeat, or pass on."""
MORE = (Word(None, "..."),)
SYSTEM_DIRECTORIES = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin"})


@cache
def rows() -> dict[str, Table | Program]:
    """Every row, by command name. Read at the first proof, since most programs of this package need none."""
    from sayso.permission.shell.readonly import containers, coreutils, files, languages, shell, system, text
    from sayso.permission.shell.readonly.find import find
    from sayso.permission.shell.readonly.git import git

    found: dict[str, Table | Program] = {}
    for family in (coreutils, text, files, languages, system, containers, shell):
        found.update(family.ROWS)
    found["env"] = Table(manual="coreutils 9.1, env(1)", short="0", long="null", operands="none")
    found["find"] = Table(manual="GNU findutils 4.9.0, find(1)", grammar=lambda words, cwd: find(words, cwd, prove))
    found["git"] = Table(manual="git 2.39.5, git(1)", grammar=git)
    return found


def prove(unit: CommandUnit) -> Proof | None:
    """The proof that a command only reads, or None where there is none.

    Takes a unit as the shell's reader makes it; a word of unknown value is accepted only where every value of it is
    harmless. Never raises for any unit.
    """
    if not unit.argv or not all(harmless_assignment(name, word.text) for name, word in unit.assignments):
        return None
    if unit.wrapped and not TRANSPARENT.issuperset(unit.wrapped):
        return None
    name = command_name(unit.argv[0].text)
    row = rows().get(name) if name else None
    if row is None or name is None or (name == "git" and "env" in unit.wrapped):
        return None
    words = unit.argv[1:] + MORE if unit.open_argv else unit.argv[1:]
    reads = row.reads(words, unit.cwd)
    return None if reads is None else Proof(f"{name} only reads ({row.manual})", reads)


def harmless_assignment(name: str, value: str | None) -> bool:
    if value is None:
        return False
    return HARMLESS_VARIABLES.fullmatch(name) is not None or (name, value) in EXACT_VARIABLES


def command_name(text: str | None) -> str | None:
    """A bare name, or the name of a program in a system directory; any other path may be any program."""
    if text is None or "/" not in text:
        return text
    directory, _, name = text.rpartition("/")
    return name if directory in SYSTEM_DIRECTORIES else None

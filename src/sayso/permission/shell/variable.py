"""What setting a variable can do, and what is known of the values in a text.

Owns the lists of harmless names and the classes of values. A shell variable is dangerous in three ways: the shell or a
program that it starts reads it (PATH, LD_PRELOAD), arithmetic evaluates its value as code (`a[$(cmd)]`, bash(1)
"ARITHMETIC EVALUATION"), or it becomes words that no one has judged. Knows no syntax.
"""

import re
from collections.abc import Collection
from enum import IntEnum

from sayso.permission.shell.readonly.word import word_set
from sayso.permission.unit import Word

__all__ = ["Value", "Variables", "is_harmless"]

_HARMLESS: dict[str, re.Pattern[str]] = {}


def _harmless(names: str, value: str) -> None:
    pattern = re.compile(value)
    _HARMLESS.update(dict.fromkeys(names.split(), pattern))


# Read by programs to choose a language, a zone, a colour or how much to print; never a path, a program or an option.
_harmless("LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME", r"[A-Za-z0-9_.@:-]*")
_harmless("TZ", r"[A-Za-z0-9_+,-]+(/[A-Za-z0-9_+-]+)*")
_harmless("NO_COLOR FORCE_COLOR CLICOLOR CI COLUMNS LINES", r"[A-Za-z0-9]*")
_harmless("NODE_ENV RUST_LOG DEBUG", r"[A-Za-z0-9_.,:*=/-]*")
_harmless("PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE", r"[A-Za-z0-9]*")
_harmless("AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION", r"[A-Za-z0-9_.-]*")
# `cat` and nothing turn a pager off.
_harmless("PAGER GIT_PAGER MANPAGER", r"cat|")
_harmless("GIT_TERMINAL_PROMPT", r"0|1")

# Names that Bash and common programs leave alone: set, not exported, they stay in the shell. Used where it is not known
# which names are exported.
_LOCAL = re.compile(r"(?!npm_|.*_proxy$)[a-z][a-z0-9_]*")
_LOCAL_UPPER = word_set(
    "BAR BASE BRANCH COMMIT COUNT DATE DEST DIR FILE FILES FOO HASH ID INDEX LINE LOG MSG N NAME NOW NUM OUT OUTPUT "
    "PID RC REPO RESULT ROOT SIZE SRC STATUS TAG TOTAL URL VERSION X Y Z"
)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# bash(1), "Shell Variables": what Bash itself looks at, or sets.
_OF_BASH = re.compile(
    r"_|(?:BASH|COMP|COPROC|EPOCH|HIST|HOST|LC_|MAIL|OPT|PROMPT_|PS[0-9]|READLINE_|TEXTDOMAIN).*|auto_resume|histchars|"
    r"CDPATH|CHILD_MAX|COLUMNS|DIRSTACK|EMACS|ENV|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNCNAME|FUNCNEST|GLOBIGNORE|GLOBSORT|"
    r"GROUPS|HOME|IFS|IGNOREEOF|INPUTRC|INSIDE_EMACS|LANG|LINENO|LINES|MACHTYPE|MAPFILE|OLDPWD|OSTYPE|PATH|PIPESTATUS|"
    r"POSIXLY_CORRECT|PPID|PWD|RANDOM|REPLY|SECONDS|SHELL|SHELLOPTS|SHLVL|SRANDOM|TERM|TIMEFORMAT|TMOUT|TMPDIR|TZ|UID"
)
# Set by Bash itself, from data.
_SET_BY_BASH = re.compile(
    r"_|BASH.*|COMP_.*|READLINE_.*|REPLY|MAPFILE|OPTARG|DIRSTACK|FUNCNAME|COPROC|PWD|OLDPWD|HIST.*"
)


def is_harmless(name: str, value: Word) -> bool:
    """Whether a program may be started with this variable: the name is listed, and the value fits it."""
    pattern = _HARMLESS.get(name)
    return pattern is not None and value.text is not None and pattern.fullmatch(value.text) is not None


class Value(IntEnum):
    """What is known of all values that a text gives to a name; more than one: the greatest."""

    NUMBER = 0
    PLAIN = 1
    """One word: no blank, no glob, no bracket, no leading dash."""
    UNKNOWN = 2


_NUMBER = re.compile(r"-?[0-9]{1,18}")
_PLAIN = re.compile(r"[A-Za-z0-9_./,:@%+][A-Za-z0-9_./,:@%+-]*")


class Variables:
    """The values that one text gives to names, and what its reading relies on."""

    def __init__(self, exported: Collection[str] | None = None) -> None:
        self.exported = exported
        """The names in the environment, or None where that is not known."""
        self.values: dict[str, Value] = {}
        self.demands: list[tuple[str, Value, str]] = []
        self.lost = False
        """Something may have set any variable (`source`)."""

    def is_local(self, name: str) -> bool:
        """Whether setting this name in the shell, without exporting it, reaches no program and no part of the shell."""
        if self.exported is None:
            return _LOCAL.fullmatch(name) is not None or name in _LOCAL_UPPER
        return bool(_NAME.fullmatch(name)) and name not in self.exported and not _OF_BASH.fullmatch(name)

    def set(self, name: str, value: Word | Value) -> None:
        """Record that the text gives `name` this value."""
        if isinstance(value, Word):
            value = _class_of(value)
        self.values[name] = max(value, self.values.get(name, Value.NUMBER))

    def demand(self, name: str, at_most: Value, why: str) -> None:
        """Rely on it that no value of `name` is worse than `at_most`."""
        self.demands.append((name, at_most, why))

    def disappointed(self) -> list[str]:
        """The reasons of the demands that do not hold. A name that the text does not set is the operator's."""
        return [
            why
            for name, at_most, why in self.demands
            if self.lost or _SET_BY_BASH.fullmatch(name) or self.values.get(name, Value.NUMBER) > at_most
        ]


def _class_of(value: Word) -> Value:
    if value.text is None:
        numeric = re.fullmatch(r"\$\(\([^\"'`]*\)\)|\$[#?]|\$\{#\w+\}|\{-?\d+\.\.-?\d+\}", value.source)
        return Value.NUMBER if numeric else Value.UNKNOWN
    if _NUMBER.fullmatch(value.text):
        return Value.NUMBER
    return Value.PLAIN if _PLAIN.fullmatch(value.text) else Value.UNKNOWN

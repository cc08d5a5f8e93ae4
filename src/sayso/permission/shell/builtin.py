"""Builtins that change the shell, and what of that is harmless.

Owns the short lists. What is not on them makes the whole call ask: a command that follows might not be what it seems.
Manual: bash(1) 5.2, "SHELL BUILTIN COMMANDS".
"""

import os
import re
from collections.abc import Callable
from dataclasses import replace

from sayso.permission.path import inside
from sayso.permission.shell.command import Call, behind, evaluated, later, wrapped
from sayso.permission.shell.declaration import (
    declare,
    getopts,
    let,
    mapfile,
    no_assignments,
    printf,
    quiet,
    read,
    unset,
)
from sayso.permission.shell.reading import NOWHERE, Flow
from sayso.permission.shell.readonly import prove
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.shell.variable import Value
from sayso.permission.shell.wrappers import WRAPPERS
from sayso.permission.unit import CommandUnit, Word

__all__ = ["BUILTINS"]

_SETS = re.compile(r"[-+](?:[efuvxCEhB]+|[efuvxCEB]*o)")
_SET_OPTIONS = word_set("errexit nounset pipefail xtrace noclobber noglob verbose errtrace")
_SHOPTS = word_set("nullglob dotglob globstar failglob nocaseglob inherit_errexit")
_RESERVED = word_set("! { ( [[ (( if for while until case select function coproc")


def asks(why: str) -> Callable[[Call], Flow]:
    """A builtin after which nothing is certain."""

    def builtin(call: Call) -> Flow:
        call.note(why)
        call.unit()
        return call.stay()

    return builtin


# -- directories --------------------------------------------------------------------------------------


def cd(call: Call) -> Flow:
    """A literal directory inside the workspace; any other is nowhere."""
    no_assignments(call)
    words = list(call.argv[1:])
    while words and words[0].text in ("-L", "-P", "-e", "-@", "--"):
        words.pop(0)
    call.unit(needs_cover=False)
    target = words[0].text if len(words) == 1 else None
    if target is None or target.startswith("-"):
        return Flow(NOWHERE, call.cwds)
    return Flow(tuple(moved(call, cwd, target) for cwd in call.cwds), call.cwds)


def moved(call: Call, cwd: str | None, target: str) -> str | None:
    """Where `cd target` leads from `cwd`, if that is inside the workspace and nothing but plain directories."""
    if cwd is None and not target.startswith("/"):
        return None
    base = os.path.realpath(cwd or "/")
    place = os.path.normpath(os.path.join(base, target or "."))
    try:
        real = os.path.realpath(place)
    except (OSError, ValueError):
        return None
    if real != place:
        return None
    return place if any(inside(place, os.path.realpath(root)) for root in call.reading.workspace) else None


def pop(call: Call) -> Flow:
    """popd, and pushd without a directory."""
    no_assignments(call)
    call.unit(needs_cover=False)
    return call.lost()


def pushd(call: Call) -> Flow:
    text = call.texts[0] if len(call.argv) == 2 else None
    return pop(call) if text is None or text.startswith(("-", "+")) else cd(call)


# -- the shell itself -----------------------------------------------------------------------------------

_PLAIN = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


def relied(call: Call, why: str) -> tuple[Word, ...]:
    """The words, where an unquoted `$name` stands for one word: relied on, if all the text gives to it is plain."""
    words: list[Word] = []
    for word in call.argv:
        match = None if word.text is not None or word.single else _PLAIN.fullmatch(word.source)
        if match is None or (name := match[1] or match[2])[0].isdigit():
            words.append(word)
            continue
        call.reading.variables.demand(name, Value.PLAIN, f"{why}: ${name} may be anything")
        words.append(Word(None, word.source, "", True))
    return tuple(words)


def wait(call: Call) -> Flow:
    """wait: with -p it sets a variable."""
    why = "wait -p sets a variable"
    for word in relied(call, why)[1:]:
        if (word.text or "").startswith("-p") or (word.text is None and not word.single and word.source != "$!"):
            call.note(why)
    call.unit()
    return call.stay()


def set_(call: Call) -> Flow:
    texts = call.texts
    at = 0
    while at < len(texts):
        text = texts[at]
        if text in ("--", "-"):
            break
        if text is None or not _SETS.fullmatch(text):
            call.note("set with options that may change what runs")
            break
        if text.endswith("o") and at + 1 < len(texts):
            at += 1
            if texts[at] not in _SET_OPTIONS:
                call.note("set with options that may change what runs")
        at += 1
    return quiet(call)


def shopt(call: Call) -> Flow:
    for text in call.texts:
        if text not in ("-s", "-u", "-q", "-p") and text not in _SHOPTS:
            call.note("shopt with options that may change what runs")
    return quiet(call)


def hash_(call: Call) -> Flow:
    if call.texts not in ([], ["-r"]):
        call.note("hash may change which program a name runs")
    return quiet(call)


def trap(call: Call) -> Flow:
    text = call.texts[0] if call.texts else "-p"
    if text in ("", "-", "-p", "-l"):
        return quiet(call)
    call.note("trap runs a command later")
    call.unit()
    if text is not None and not text.startswith("-") and len(call.texts) > 1:
        later(call, text)
    return call.stay()


def source(call: Call) -> Flow:
    """The file's commands run in this shell: a rule must name it, and afterwards nothing is certain of variables."""
    no_assignments(call)
    call.unit(inner_at=1)
    call.reading.variables.lost = True
    return call.lost()


def exec_(call: Call) -> Flow:
    if len(call.argv) == 1:
        if call.simple.redirected:
            call.note("exec redirects the shell itself")
        return quiet(call)
    return prefix(call)


def prefix(call: Call) -> Flow:
    """command, builtin, exec: the words behind the options are the command."""
    name = call.argv[0].text or ""
    if name == "command" and any(re.fullmatch(r"-p*[vV][pvV]*", text or "") for text in call.texts[:2]):
        call.unit()
        return call.stay()
    return wrapped(call, name, WRAPPERS[name])


def time(call: Call) -> Flow:
    """The reserved words `time` and `coproc`, in front of a simple command with its assignments."""
    name = call.argv[0].text or ""
    if call.argv[0].source != name:
        return wrapped(call, name, WRAPPERS[name])
    at = 1
    while name == "time" and at < len(call.argv) and call.argv[at].source in ("-p", "--"):
        at += 1
    if name == "coproc":
        call.note("coproc runs a command aside")
    if at < len(call.argv) and (call.argv[at].source in _RESERVED or call.argv[at].source.startswith("-")):
        call.note(f"{name} of what is no simple command")
    return behind(call, name, at)


def test(call: Call) -> Flow:
    """`test` and `[`: what is not proven to only compare may evaluate a subscript (`-v 'a[$(x)]'`)."""
    why = f"{call.argv[0].text} with an expression that may run a command"
    if prove(CommandUnit(argv=call.argv)) is None:
        argv = relied(call, why)
        if prove(CommandUnit(argv=argv)) is None:
            call.note(why)
        call = replace(call, simple=replace(call.simple, argv=argv))
    call.unit()
    return call.stay()


def jobs(call: Call) -> Flow:
    if any(text is None or (text.startswith("-") and "x" in text) for text in call.texts):
        call.note("jobs -x runs a command")
    call.unit()
    return call.stay()


_NAMES = "it changes what a name runs"
_SHELL = "it changes the shell in a way that is not followed"
BUILTINS: dict[str, Callable[[Call], Flow]] = {
    "cd": cd,
    "pushd": pushd,
    "popd": pop,
    **dict.fromkeys(["export", "declare", "typeset", "local", "readonly"], declare),
    "unset": unset,
    "read": read,
    **dict.fromkeys(["mapfile", "readarray"], mapfile),
    "getopts": getopts,
    "let": let,
    "printf": printf,
    "wait": wait,
    "set": set_,
    "shopt": shopt,
    "hash": hash_,
    "trap": trap,
    **dict.fromkeys([".", "source"], source),
    "eval": evaluated,
    "exec": exec_,
    **dict.fromkeys(["command", "builtin"], prefix),
    **dict.fromkeys(["time", "coproc"], time),
    **dict.fromkeys(["test", "["], test),
    "jobs": jobs,
    "shift": quiet,
    **dict.fromkeys(["alias", "unalias", "enable"], asks(_NAMES)),
    **dict.fromkeys(["bind", "complete", "compopt", "compgen", "fc"], asks(_SHELL)),
    **dict.fromkeys(["unsetenv", "suspend", "logout"], asks(_SHELL)),
}

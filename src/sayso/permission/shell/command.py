"""What one simple command does: the units that stand for it, and where the shell is afterwards.

Owns the dispatch: builtins that change the shell (`builtin`), programs that run another command (`wrapper`), and plain
commands. A wrapper's inner command is judged in its place, or besides it; a shell text that it is given is read like
any other, so that deny rules see what is in it.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sayso.permission.shell.gate import forbidden
from sayso.permission.shell.reading import NOWHERE, Cwds, Flow, Limit, Reading, Scope
from sayso.permission.shell.readonly import command_name
from sayso.permission.shell.readonly.word import is_operand
from sayso.permission.shell.wrapper import Found, Kind, Wrapper, find_inner
from sayso.permission.shell.wrappers import SHELLS, WRAPPERS
from sayso.permission.unit import CommandUnit, FileUnit, Word

__all__ = ["Call", "Script", "Simple", "run"]

Script = Callable[[bytes, Scope, Cwds], Flow]
"""Reads a text that is run in a shell."""

_INSIDE = frozenset({"command", "builtin", "time"})
_EXECUTING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?\+?=", re.ASCII)
_SHELL_MARKS = re.compile(r"[\s;&|<>$`'\"\\(){}*?]")


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command as it is written. redirected: it has redirections, which are units of their own."""

    assignments: tuple[tuple[str, Word], ...]
    argv: tuple[Word, ...]
    source: str
    redirected: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A simple command, about to run. external: a program starts it, so that no builtin is meant."""

    simple: Simple
    reading: Reading
    scope: Scope
    cwds: Cwds
    script: Script
    external: bool = False

    @property
    def argv(self) -> tuple[Word, ...]:
        return self.simple.argv

    @property
    def texts(self) -> list[str | None]:
        """The arguments behind the name."""
        return [word.text for word in self.simple.argv[1:]]

    def stay(self) -> Flow:
        """The shell is where it was."""
        return Flow(self.cwds, self.cwds)

    def lost(self) -> Flow:
        """Nobody knows where the shell is."""
        return Flow(NOWHERE, NOWHERE)

    def note(self, why: str) -> None:
        """The whole call asks."""
        self.reading.note(why, self.simple.source)

    def unit(self, *, needs_cover: bool = True, inner_at: int | None = None, cwds: Cwds | None = None) -> None:
        """Add the command as a unit."""
        scope = self.scope
        places = NOWHERE if scope.remote else (self.cwds if cwds is None else cwds) or NOWHERE
        self.reading.command(
            CommandUnit(
                argv=self.simple.argv,
                assignments=self.simple.assignments,
                wrapped=scope.wrapped,
                behind=scope.behind,
                needs_cover=needs_cover and not scope.shadow,
                open_argv=scope.open_argv,
                inner_at=inner_at,
                cwd=places[0],
                source=self.simple.source,
            ),
            places,
        )


def run(simple: Simple, reading: Reading, scope: Scope, cwds: Cwds, script: Script) -> Flow:
    """Add the units of one simple command; returns where the shell may be after it. Raises Limit."""
    return _run(Call(simple, reading, scope, cwds, script))


def _run(call: Call) -> Flow:
    from sayso.permission.shell.builtin import BUILTINS
    from sayso.permission.shell.declaration import assign

    if not call.argv:
        return assign(call)
    text = call.argv[0].text
    if text is None:
        # It may be any builtin.
        call.unit()
        call.reading.variables.lost = True
        return call.lost()
    name = os.path.basename(text)
    if text == name and not call.external and (builtin := BUILTINS.get(name)) is not None:
        return builtin(call)
    known = command_name(text) is not None
    if name in SHELLS:
        return _shell(call, name)
    if name == "find":
        _find(call)
    if name == "git":
        _git(call)
    rows = WRAPPERS.get(name)
    if rows is not None:
        return wrapped(call, name, rows, known=known)
    call.unit()
    return call.stay()


# -- wrappers -----------------------------------------------------------------------------------------


def wrapped(call: Call, name: str, rows: Sequence[Wrapper], *, known: bool = True) -> Flow:
    """A command that runs another one. not known: a program of that name in a place of its own."""
    inner_at = None
    for row in rows:
        found = find_inner(row, call.argv)
        if found is not None and found.at in (0, len(call.argv)):
            if found.at and row.kind is Kind.OPAQUE:
                # A shell of another user, say: no rule covers it but one that names every word.
                inner_at = max(len(call.argv) - 1, 1)
            continue
        return _behind(call, name, row, found, known=known)
    if name == "xargs":
        return _behind(
            call, name, rows[0], find_inner(rows[0], (*call.argv, Word("echo", ""))), known=known, extra=True
        )
    call.unit(inner_at=inner_at)
    return call.stay()


def _behind(call: Call, name: str, row: Wrapper, found: Found | None, *, known: bool, extra: bool = False) -> Flow:
    if found is None:
        call.unit(inner_at=len(call.argv) - 1 if row.kind is not Kind.RUNNER else None)
        _anything(call, replace(call.scope, wrapped=(*call.scope.wrapped, name)))
        return call.stay()
    transparent = row.kind is Kind.TRANSPARENT and known
    if transparent:
        call.unit(needs_cover=False)
    else:
        call.unit(inner_at=found.at if row.kind is not Kind.RUNNER else None)
    argv = (*call.argv, Word("echo", "")) if extra else call.argv
    for word in found.reads:
        for cwd in call.cwds or NOWHERE:
            call.reading.add(FileUnit(op="read", path=word.text, cwd=cwd, rule_tools=("Read",), source=word.source))
    scope = replace(
        call.scope,
        wrapped=(*call.scope.wrapped, name),
        behind=(*call.scope.behind, *argv[: found.at]) if transparent else (),
        open_argv=call.scope.open_argv or row.open,
        shadow=call.scope.shadow or not transparent,
        remote=call.scope.remote or row.remote,
    )
    if found.script:
        _text(call, scope, argv[found.at :] if row.joined else argv[found.at : found.at + 1], joined=row.joined)
        return call.stay()
    words = argv[found.at :]
    if found.replaces:
        words = tuple(_replaced(word, found.replaces) for word in words)
        scope = replace(scope, open_argv=call.scope.open_argv)
    return _inside(call, name, scope, words, found)


def _inside(call: Call, name: str, scope: Scope, words: tuple[Word, ...], found: Found) -> Flow:
    """Run the words behind a wrapper."""
    assignments = [*call.simple.assignments, *found.assignments]
    cwds = call.cwds
    if found.cwd is not None:
        cwds = tuple(_joined(cwd, found.cwd.text) for cwd in call.cwds or NOWHERE)
    external = call.external or name not in _INSIDE
    inner = Simple(tuple(assignments), words, call.simple.source, call.simple.redirected)
    call.reading.deeper()
    flow = _run(Call(inner, call.reading, scope, cwds, call.script, external))
    call.reading.depth -= 1
    return call.stay() if external else flow


def behind(call: Call, name: str, at: int) -> Flow:
    """The command that stands behind a reserved word, with its assignments."""
    call.unit(needs_cover=False)
    scope = replace(
        call.scope, wrapped=(*call.scope.wrapped, name), behind=(*call.scope.behind, *call.argv[:at]) if at else ()
    )
    assigned: list[tuple[str, Word]] = []
    while at < len(call.argv) and (match := _ASSIGNED.match(call.argv[at].source)):
        if match[2]:
            call.note("an assignment to an element of an array")
        word = call.argv[at]
        value = None if word.text is None else word.text[match.end() :]
        assigned.append((match[1], Word(value, word.source)))
        at += 1
    return _inside(call, name, scope, call.argv[at:], Found(at, assignments=tuple(assigned)))


def _joined(cwd: str | None, text: str | None) -> str | None:
    if text is None or (cwd is None and not text.startswith("/")):
        return None
    return os.path.normpath(os.path.join(cwd or "/", text))


def _replaced(word: Word, mark: str) -> Word:
    if word.text is None or mark not in word.text:
        return word
    return Word(None, word.source, word.text.partition(mark)[0], True)


# -- shell texts --------------------------------------------------------------------------------------


def _anything(call: Call, scope: Scope) -> None:
    """A command that nobody knows is run: any deny or ask rule may hold."""
    unknown = Word(None, call.simple.source)
    unit = CommandUnit(
        argv=(unknown,), wrapped=scope.wrapped, needs_cover=False, open_argv=True, source=call.simple.source
    )
    call.reading.command(unit, call.cwds)


def _text(call: Call, scope: Scope, words: Sequence[Word], *, joined: bool) -> Flow:
    """A shell text that another shell runs: read for deny and ask rules."""
    texts = [word.text for word in words]
    if None in texts:
        _anything(call, scope)
        return call.lost()
    literal = [text for text in texts if text is not None]
    if joined and scope.open_argv and not any(_SHELL_MARKS.search(text) for text in literal):
        stop = next((at for at, text in enumerate(literal) if text.startswith(":::")), len(words))
        inner = Simple(call.simple.assignments, tuple(words[:stop]), call.simple.source)
        return _run(Call(inner, call.reading, scope, call.cwds, call.script, True)) if stop else call.stay()
    text = " ".join(literal)
    if (why := forbidden(text)) is not None:
        call.note(why)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return call.lost()
    call.reading.deeper()
    flow = call.script(data, replace(scope, shadow=True, behind=(), open_argv=False), call.cwds)
    call.reading.depth -= 1
    return flow


def evaluated(call: Call) -> Flow:
    """eval: the words, joined, are run in this shell."""
    words = call.argv[1:]
    if words and words[0].text == "--":
        words = words[1:]
    call.unit(inner_at=len(call.argv) - len(words))
    if any(word.text is None for word in words):
        call.note("eval of a text that only running would tell")
    scope = replace(call.scope, wrapped=(*call.scope.wrapped, "eval"))
    _text(call, scope, words, joined=True)
    call.reading.variables.lost = True
    return call.lost()


def later(call: Call, text: str) -> None:
    """A text that this shell runs some time: read for deny and ask rules."""
    _text(call, call.scope, [Word(text, text)], joined=False)


def _shell(call: Call, name: str) -> Flow:
    """bash, sh and the like: with -c a text, else a file, else what is on standard input."""
    at, scripted = 1, False
    texts = [word.text for word in call.argv]
    while at < len(texts):
        text = texts[at]
        if text is None:
            call.unit(inner_at=at)
            _anything(call, call.scope)
            return call.stay()
        if text in ("--", "-") or len(text) < 2 or text[0] not in "-+":
            at += text in ("--", "-")
            break
        if text.startswith("--"):
            at += 2 if text in ("--rcfile", "--init-file") else 1
            continue
        scripted = scripted or (text[0] == "-" and "c" in text)
        at += 2 if text[-1] in "oO" else 1
    scope = replace(call.scope, wrapped=(*call.scope.wrapped, name), open_argv=False)
    if any(text in ("--version", "--help") for text in texts[1:at]) and at >= len(texts):
        call.unit()
        return call.stay()
    if at >= len(texts) or (
        not scripted and any(t and t[0] == "-" and t[1:2] != "-" and "s" in t for t in texts[1:at])
    ):
        call.note(f"{name} runs what it is given on standard input")
        call.unit(inner_at=len(texts))
        return call.stay()
    call.unit(inner_at=at)
    if scripted:
        _text(call, scope, call.argv[at : at + 1], joined=False)
        if call.scope.open_argv:
            _anything(call, scope)
    return call.stay()


def _git(call: Call) -> None:
    """The shell texts that git runs: aliases of -c, `rebase --exec`."""
    texts = [word.text or "" for word in call.argv]
    found = [text.partition("=!")[2] for text in texts if re.match(r"alias\.[^=]*=!", text)]
    if "rebase" in texts:
        found += [text.partition("=")[2] for text in texts if text.startswith("--exec=")]
        found += [texts[at + 1] for at, text in enumerate(texts[:-1]) if text in ("-x", "--exec")]
    scope = replace(call.scope, wrapped=(*call.scope.wrapped, "git"))
    for text in found:
        _text(call, scope, [Word(text, text)], joined=False)


# -- find ---------------------------------------------------------------------------------------------


def _find(call: Call) -> None:
    """The commands of -exec and its like: `{}` is a path below where find starts."""
    if not all(word.text is not None or is_operand(word) for word in call.argv):
        _anything(call, replace(call.scope, wrapped=(*call.scope.wrapped, "find")))
    at = 1
    while at < len(call.argv):
        action = call.argv[at].text
        at += 1
        if action not in _EXECUTING:
            continue
        stop = at
        while stop < len(call.argv) and not (
            call.argv[stop].text == ";" or (call.argv[stop].text == "+" and call.argv[stop - 1].text == "{}")
        ):
            stop += 1
        plus = stop < len(call.argv) and call.argv[stop].text == "+"
        words = tuple(_replaced(word, "{}") for word in call.argv[at : stop - 1 if plus else stop])
        at = stop + 1
        if not words:
            continue
        scope = replace(
            call.scope, wrapped=(*call.scope.wrapped, "find"), behind=(), open_argv=call.scope.open_argv or plus
        )
        cwds = NOWHERE if action in ("-execdir", "-okdir") else call.cwds
        inner = Simple(call.simple.assignments, words, call.simple.source)
        call.reading.deeper()
        if call.reading.depth > 12:
            raise Limit("the command nests too deep")
        _run(Call(inner, call.reading, scope, cwds, call.script, True))
        call.reading.depth -= 1

"""What file rules say about a path: which one certainly, possibly or not holds, however many there are.

Owns the units that file tools build and the index over file rules. The language of one rule is in glob.py; verdicts
are the engine's.
"""

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from sayso.errors import InvalidRule
from sayso.permission.context import PermissionContext
from sayso.permission.glob import Glob, escape, literal, parse_glob
from sayso.permission.path import ResolvedPath, absolute, fold, home_directory, inside, resolve
from sayso.permission.rule import PermissionRule
from sayso.permission.unit import FileUnit, OpaqueUnit

__all__ = ["FileRules", "denied_globs", "file_unit", "search_unit"]


# -- units --------------------------------------------------------------------------------------------


def file_unit(
    op: Literal["read", "write", "remove"],
    path: Any,
    *,
    cwd: str | None,
    rule_tools: tuple[str, ...],
    source: str = "",
) -> FileUnit | OpaqueUnit:
    """The unit of a call that touches one file. `path` is the tool's argument as given, whatever its type.

    rule_tools: allow rules of the first one cover the unit; deny and ask rules of each hold for it.
    An argument that is no path gives a unit that asks.
    """
    if not isinstance(path, str):
        return OpaqueUnit(why="the path is missing or is not text", source=source)
    try:
        whole = absolute(path, cwd=cwd)
    except ValueError as error:
        return OpaqueUnit(why=str(error), source=source)
    return FileUnit(op=op, path=whole, cwd=cwd, rule_tools=rule_tools, source=source or path)


def search_unit(
    path: Any,
    *,
    cwd: str | None,
    rule_tools: tuple[str, ...],
    excludes: tuple[str, ...] = (),
    source: str = "",
) -> FileUnit | OpaqueUnit:
    """The unit of a call that reads a tree; `path` None is the working directory.

    excludes: globs, as `denied_globs` gave them, that the tool promises not to enter, so that a rule which denies part
    of the tree need not stop the search.
    """
    root = "." if path is None else path
    if not isinstance(root, str):
        return OpaqueUnit(why="the path is not text", source=source)
    try:
        whole = absolute(root, cwd=cwd)
    except ValueError as error:
        return OpaqueUnit(why=str(error), source=source)
    return FileUnit(op="search", path=whole, cwd=cwd, rule_tools=rule_tools, source=source or root, excludes=excludes)


def denied_globs(
    context: PermissionContext,
    root: str,
    *,
    tools: Sequence[str] = ("Read", "Grep", "Glob"),
    cwd: str | None = None,
    home: str | None = None,
) -> tuple[str, ...]:
    """The globs, absolute and in gitignore's notation, that deny rules of `tools` take out of a search below `root`.

    A search that leaves them out, comparing case-folded names, may pass them as `excludes` of its unit. A deny rule
    that cannot be read is not among them, so it goes on asking. `cwd` None is this process's.
    """
    base = os.getcwd() if cwd is None else cwd
    place = resolve(root, cwd=base, home=home)
    found: dict[str, None] = {}
    for tool in tools:
        rules = FileRules(context.deny_rules.get(tool, ()), base=base, home=home, refusing=True)
        for form in place.forms:
            found |= dict.fromkeys(glob.pattern for glob, _rule in rules.below(form))
    return tuple(found)


# -- the index ----------------------------------------------------------------------------------------


class FileRules:
    """The rules of one behaviour for one tool, found by where they can match instead of one after the other.

    refusing: they are deny or ask rules, so they compare leniently, and one that cannot be read may hold for anything.
    base: the working directory that relative globs start from.
    """

    def __init__(self, rules: Sequence[PermissionRule], *, base: str, home: str | None = None, refusing: bool) -> None:
        self.every: PermissionRule | None = None
        self.broken: PermissionRule | None = None
        self.first = rules[0] if rules else None
        self._refusing = refusing
        self._base = base
        self._real_base = resolve(base, cwd=None).real
        self._below: dict[str, list[tuple[Glob, PermissionRule]]] = {}
        self._named: dict[str, list[tuple[Glob, PermissionRule]]] = {}
        self._loose: list[tuple[Glob, PermissionRule]] = []
        where = home or home_directory()
        for rule in rules:
            if rule.rule_content is None:
                self.every = self.every or rule
                continue
            try:
                glob = parse_glob(rule.rule_content, base=base, home=where, anywhere=refusing)
            except InvalidRule:
                self.broken = self.broken or rule
                continue
            self._add(glob, rule)
            if refusing and (other := _by_real_prefix(glob)) is not None:
                self._add(other, rule)
        self._prefixes = sorted(self._below)

    def _add(self, glob: Glob, rule: PermissionRule) -> None:
        if glob.prefix != "/":
            self._below.setdefault(self._key(glob.prefix), []).append((glob, rule))
        elif (name := _last_name(glob.pattern)) is not None:
            self._named.setdefault(self._key(name), []).append((glob, rule))
        else:
            self._loose.append((glob, rule))

    def _key(self, text: str) -> str:
        return fold(text) if self._refusing else text

    def _forms(self, path: str) -> tuple[str, ...]:
        """`path`, and its name under the working directory as the rules write it where that is a link."""
        if self._base != self._real_base and inside(path, self._real_base):
            return path, self._base + path[len(self._real_base) :]
        return (path,)

    def _near(self, path: str) -> Iterator[tuple[Glob, PermissionRule]]:
        """The rules that might match `path` or, refusing, a directory above it."""
        names = self._key(path).split("/")
        for end in range(len(names), 1, -1):
            yield from self._below.get("/".join(names[:end]), ())
        if self._named:
            for name in names if self._refusing else names[-1:]:
                yield from self._named.get(name, ())
                if "." in name:
                    yield from self._named.get("*" + name[name.rindex(".") :], ())
        yield from self._loose

    def covering(self, path: ResolvedPath) -> PermissionRule | None:
        """The allow rule that covers `path`: as written and as it really is, each must be covered."""
        if path.outside is not None:
            return None
        if self.every is not None:
            return self.every
        found = None
        for form in path.forms:
            names = self._forms(form)
            found = next((rule for name in names for glob, rule in self._near(name) if glob.covers(name)), None)
            if found is None:
                return None
        return found

    def holding(self, path: ResolvedPath) -> PermissionRule | None:
        """The deny or ask rule that certainly holds for `path` in either form."""
        if self.every is not None:
            return self.every
        for form in path.forms:
            for name in self._forms(form):
                for glob, rule in self._near(name):
                    if glob.holds(name):
                        return rule
        return None

    def below(self, root: str, excludes: Sequence[str] = ()) -> Iterator[tuple[Glob, PermissionRule]]:
        """The deny or ask rules that might hold for something below the directory `root`, but for `excludes`."""
        for name in self._forms(root):
            for glob, rule in self._candidates_below(fold(name)):
                if glob.pattern not in excludes and glob.reaches(name):
                    yield glob, rule

    def _candidates_below(self, root: str) -> Iterator[tuple[Glob, PermissionRule]]:
        yield from self._loose
        for rules in self._named.values():
            yield from rules
        names = root.split("/")
        for end in range(len(names), 1, -1):
            yield from self._below.get("/".join(names[:end]), ())
        start = root.rstrip("/") + "/"
        for index in range(bisect_left(self._prefixes, start), len(self._prefixes)):
            if not self._prefixes[index].startswith(start):
                return
            yield from self._below[self._prefixes[index]]


def _by_real_prefix(glob: Glob) -> Glob | None:
    """The same rule for the place that its directory really is, where links lead there."""
    if glob.prefix == "/":
        return None
    real = resolve(glob.prefix, cwd=None).real
    if real == glob.prefix:
        return None
    depth = glob.prefix.count("/") + 1
    rest = glob.pattern.split("/")[depth:]
    return Glob("/".join([escape(real.rstrip("/")), *rest]), real, glob.whole)


def _last_name(pattern: str) -> str | None:
    """A name, or `*` and an extension, that some component of every match has."""
    for part in reversed(pattern.split("/")):
        if part in ("", "**"):
            continue
        if (name := literal(part)) is not None:
            return name
        if part[0] == "*" and "." in part and (end := literal(part[1:])) is not None:
            return "*" + end[end.rindex(".") :]
        return None
    return None

"""What a git repository's configuration would make a reading command start.

Asks git itself for the configuration in force, and judges it: keys of the repository's own files by a closed list, keys
of the user's and the system's files by what git would start for a reading command. A verdict is kept until one of the
files that it came from changes. Knows nothing of commands.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from sayso.permission.shell.readonly.git_keys import is_harmless_here, is_harmless_of_user

__all__ = ["Repository", "examine"]

TIME_LIMIT = 3.0
"""Seconds that git may take to list a configuration."""
MOST_KEPT = 256
LARGEST_INDEX = 1 << 26
GITLINK_MODE = b"\x00\x00\xe0\x00"
GITDIR = re.compile(r"gitdir: ([^\n]+)\n?")

Key = TypeVar("Key")
Stamp = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class Repository:
    """A directory in which reading git commands start no program.

    top: the work tree's root, where there is one. lfs: git-lfs's own filters are configured; filtered: some attribute
    file uses a filter. nested: directories in which git would start itself for submodules.
    """

    top: str | None
    git_dir: str | None
    lfs: bool = False
    filtered: bool = False
    nested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A verdict and the state of the files it came from."""

    stamps: tuple[tuple[str, Stamp], ...]
    verdict: Repository | None


_configurations: dict[tuple[str, str | None, str], Kept] = {}
_trees: dict[Repository, Kept] = {}


def examine(directory: str, *, filters: bool, nested: bool) -> Repository | None:
    """The repository of a directory if reading it starts no program but git, else None.

    filters: the command compares files of the work tree, through the filters that attributes name. nested: it may
    start git in the repositories of submodules. Where no repository is, the user's own configuration is judged alone.
    Anything unclear is None.
    """
    try:
        here = os.path.realpath(directory, strict=True)
        top, git_dir = discover(here)
        found = recall(_configurations, (here, git_dir, home()), lambda: configuration(here, top, git_dir))
        if found is None or found.git_dir is None or not (filters or nested):
            return found
        tree = recall(_trees, found, lambda: work_tree(found))
    except (OSError, ValueError):
        return None
    if tree is None or (filters and tree.filtered):
        return None
    inner = [place for place in tree.nested if nested and os.path.lexists(os.path.join(place, ".git"))]
    return tree if all(examine(place, filters=True, nested=True) is not None for place in inner) else None


def home() -> str:
    return os.path.expanduser("~")


def stamp(path: str) -> Stamp:
    try:
        fact = os.stat(path)
    except OSError:
        return None
    return (fact.st_mtime_ns, fact.st_size, fact.st_ino, fact.st_ctime_ns)


def recall(
    kept: dict[Key, Kept], key: Key, judge: Callable[[], tuple[list[str], Repository | None]]
) -> Repository | None:
    """The verdict kept for a key, made anew when a file it came from has changed."""
    entry = kept.get(key)
    if entry is not None and all(stamp(path) == was for path, was in entry.stamps):
        return entry.verdict
    paths, verdict = judge()
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = Kept(tuple((path, stamp(path)) for path in paths), verdict)
    return verdict


def discover(here: str) -> tuple[str | None, str | None]:
    """The nearest directory that holds a repository, and the repository; whether git will accept it is not judged."""
    while True:
        entry = os.path.join(here, ".git")
        if os.path.lexists(entry):
            return here, git_dir_of(entry)
        if all(os.path.exists(os.path.join(here, name)) for name in ("HEAD", "objects", "refs")):
            return None, here
        parent = os.path.dirname(here)
        if parent == here:
            return None, None
        here = parent


def git_dir_of(entry: str) -> str:
    if os.path.isdir(entry):
        return os.path.realpath(entry)
    with open(entry, encoding="utf-8") as stream:
        match = GITDIR.fullmatch(stream.read(4096))
    if match is None:
        raise ValueError("a .git file that names no directory")
    return os.path.realpath(os.path.join(os.path.dirname(entry), match.group(1)))


def common_dir(git_dir: str) -> str:
    """Where a linked work tree keeps its shared configuration (gitrepository-layout(5), commondir)."""
    try:
        with open(os.path.join(git_dir, "commondir"), encoding="utf-8") as stream:
            return os.path.realpath(os.path.join(git_dir, stream.read(4096).strip()))
    except FileNotFoundError:
        return git_dir


def configuration(here: str, top: str | None, git_dir: str | None) -> tuple[list[str], Repository | None]:
    """The files that decide, and the verdict on what git would read from them."""
    paths = ["/etc/gitconfig", os.path.join(home(), ".gitconfig"), os.path.join(xdg(), "git", "config")]
    own: list[str] = []
    if git_dir is not None:
        shared = common_dir(git_dir)
        own = [os.path.join(shared, "config"), os.path.join(git_dir, "config.worktree")]
        paths += [*own, os.path.join(git_dir, "commondir"), os.path.join(git_dir, "HEAD")]
        if top is not None:
            paths.append(os.path.join(top, ".git"))
    listed = list_configuration(["--show-scope", "--show-origin"], here)
    if listed is None:
        return paths, None
    plain = harmless = True
    seen: set[str] = set()
    for scope, origin, entry in zip(listed[0::3], listed[1::3], listed[2::3], strict=True):
        key, _, value = entry.partition("\n")
        path = origin.removeprefix("file:")
        path = os.path.normpath(os.path.join(top or here, path))
        seen.add(os.path.realpath(path))
        paths.append(path)
        if scope in ("local", "worktree"):
            harmless = harmless and is_harmless_here(key, value, top, git_dir)
        elif scope in ("system", "global"):
            harmless = harmless and is_harmless_of_user(key, value)
            if key in ("include.path",) or key.startswith("includeif."):
                paths.append(os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(value))))
        else:
            harmless = False
        plain = plain and not key.startswith("filter.lfs.")
    for path in own:
        # A repository that git does not accept as it is may become one before the command runs.
        if os.path.exists(path) and os.path.realpath(path) not in seen:
            entries = list_configuration(["--file", path], here)
            harmless = (
                entries is not None
                and harmless
                and all(is_harmless_here(*entry.partition("\n")[::2], top, git_dir) for entry in entries)
            )
    return list(dict.fromkeys(paths)), Repository(top, git_dir, not plain) if harmless else None


def xdg() -> str:
    return os.environ.get("XDG_CONFIG_HOME") or os.path.join(home(), ".config")


def list_configuration(options: list[str], directory: str) -> list[str] | None:
    return run_git(["config", *options, "--list", "-z", "--includes"], directory)


def ask(arguments: list[str], repository: Repository) -> list[str] | None:
    """What git lists from the root of a repository whose configuration has been judged."""
    return run_git(arguments, repository.top or repository.git_dir or "/")


def run_git(arguments: list[str], directory: str) -> list[str] | None:
    """git's answer, cut at its NULs; None where git is missing, fails or takes too long."""
    import subprocess

    kept = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=directory,
            env={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT,
            check=True,
        )
        return done.stdout.decode().split("\0")[:-1]
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None


def work_tree(repository: Repository) -> tuple[list[str], Repository | None]:
    """Whether comparing the work tree starts a filter; and the nested repositories in which git would start itself."""
    git_dir = repository.git_dir or ""
    index = os.path.join(git_dir, "index")
    attributes = [os.path.join(common_dir(git_dir), "info", "attributes")]
    if repository.top is not None:
        attributes.append(os.path.join(repository.top, ".gitattributes"))
    paths = [index, *attributes]
    if any(name.startswith("sharedindex.") for name in os.listdir(git_dir)):
        return paths, None
    data = read_at_most(index, LARGEST_INDEX)
    if data is None:
        return paths, None
    if repository.lfs:
        if b"/.gitattributes" in data:
            names = ask(["ls-files", "-z", "--", "*.gitattributes"], repository)
            if names is None:
                return paths, None
            attributes += [os.path.join(repository.top or "", name) for name in names]
            paths += attributes
        filtered = any(b"filter" in (read_at_most(path, LARGEST_INDEX) or b"filter") for path in attributes)
        repository = replace(repository, filtered=filtered)
    if GITLINK_MODE not in data:
        return paths, repository
    staged = ask(["ls-files", "--stage", "-z"], repository)
    if staged is None:
        return paths, None
    links = [entry.partition("\t")[2] for entry in staged if entry.startswith("160000 ")]
    return paths, replace(repository, nested=tuple(os.path.join(repository.top or "", name) for name in links))


def read_at_most(path: str, limit: int) -> bytes | None:
    """The content of a file, an empty line where there is none, None where it is too large."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        return b"\n"
    return None if len(data) > limit else data

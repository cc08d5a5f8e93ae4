"""A search in a process of its own: `python -I walker.py ORDER`, the order as JSON; prints one finding a line.

Only the standard library, and pathspec where paths are left out: it starts fast, and whoever started it may kill it.
It must not import the package it belongs to.
"""

import fnmatch
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["main"]

_OWN = {".git", ".hg", ".svn", ".jj"}  # version control's own
_LARGEST = 20_000_000  # bytes of a file that is looked into
_LINE = 2_000  # characters of a line that are shown
# The types that are asked for most, as ripgrep calls them (`rg --type-list`).
_TYPES = {
    "c": ("*.c", "*.h"), "cpp": ("*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.h"), "css": ("*.css", "*.scss"),
    "go": ("*.go",), "html": ("*.html", "*.htm"), "java": ("*.java",), "js": ("*.js", "*.jsx", "*.mjs", "*.cjs"),
    "json": ("*.json",), "kotlin": ("*.kt", "*.kts"), "lua": ("*.lua",), "make": ("Makefile", "*.mk"),
    "md": ("*.md", "*.markdown"), "php": ("*.php",), "py": ("*.py", "*.pyi"), "ruby": ("*.rb",), "rust": ("*.rs",),
    "sh": ("*.sh", "*.bash"), "sql": ("*.sql",), "swift": ("*.swift",), "toml": ("*.toml",),
    "ts": ("*.ts", "*.tsx", "*.mts", "*.cts"), "txt": ("*.txt",), "xml": ("*.xml",), "yaml": ("*.yaml", "*.yml"),
}  # fmt: skip


def _left_out(excludes: list[str]) -> Callable[[str], bool]:
    """Whether a path matches one of the globs: absolute ones in gitignore's notation, compared case-folded."""
    if not excludes:
        return lambda path: False
    import pathspec

    spec = pathspec.GitIgnoreSpec.from_lines([e.casefold() for e in excludes])
    return lambda path: spec.match_file(path.casefold().lstrip("/"))


def _files(root: str, out: Callable[[str], bool]) -> Iterator[str]:
    """Every regular file below the root, in the order of its path, but for what a .gitignore there leaves out.

    No link is followed: it may lead to what is left out.
    """
    if not os.path.isdir(root):
        if os.path.isfile(root) and not out(root):
            yield root
        return
    yield from _below(root, out, [])


def _below(folder: str, out: Callable[[str], bool], ignores: list[tuple[str, Any]]) -> Iterator[str]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda e: e.name)
    except OSError:  # it cannot be read, or is gone: then there is nothing to be found in it
        return
    if any(e.name == ".gitignore" and e.is_file(follow_symlinks=False) for e in entries):
        import pathspec

        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            ignores = [*ignores, (folder, pathspec.GitIgnoreSpec.from_lines(file))]
    for entry in entries:
        directory = entry.is_dir(follow_symlinks=False)
        path = entry.path + "/" if directory else entry.path
        if entry.name in _OWN or out(path) or _ignored(path, ignores):
            continue
        if directory:
            yield from _below(entry.path, out, ignores)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _ignored(path: str, ignores: list[tuple[str, Any]]) -> bool:
    """What the .gitignore nearest to the path says that says anything."""
    for folder, spec in reversed(ignores):
        said = spec.check_file(path[len(folder) + 1 :]).include
        if said is not None:
            return bool(said)
    return False


def _matcher(pattern: str, root: str) -> Callable[[str], bool]:
    """Whether a path below the root matches: `**` spans directories, braces are alternatives, no slash: any depth."""
    wanted = [re.compile(_as_regex(p)) for p in _braces(pattern)]
    whole = "/" in pattern

    def matches(path: str) -> bool:
        text = os.path.relpath(path, root) if whole else os.path.basename(path)
        return any(w.fullmatch(text) for w in wanted)

    return matches


def _braces(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    head, tail = pattern[: found.start()], pattern[found.end() :]
    return [p for part in found[1].split(",") for p in _braces(f"{head}{part}{tail}")]


def _as_regex(pattern: str) -> str:
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif pattern.startswith("**", at):
            out, at = out + ".*", at + 2
        elif pattern[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif pattern[at] == "?":
            out, at = out + "[^/]", at + 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\")
            inside = "^" + inside[1:] if inside.startswith("!") else inside
            out, at = f"{out}[{inside}]", end + 1
        else:
            out, at = out + re.escape(pattern[at]), at + 1
    return out


def _glob(order: dict[str, Any]) -> Iterator[str]:
    out = _left_out(order["excludes"])
    # A pattern without a slash is for the root itself, unlike a filter of Grep.
    matches = _matcher(order["pattern"] if "/" in order["pattern"] else f"./{order['pattern']}", order["root"])
    root = order["root"]
    plain = "/" not in order["pattern"]
    found = []
    for path in _files(root, out):
        if os.path.dirname(path) == root if plain else True:
            ok = fnmatch.fnmatchcase(os.path.basename(path), order["pattern"]) if plain else matches(path)
            if ok:
                found.append(path)
    yield from sorted(found, key=lambda p: (-_changed(p), p))


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _grep(order: dict[str, Any]) -> Iterator[str]:
    flags = (re.IGNORECASE if order["i"] else 0) | (re.DOTALL | re.MULTILINE if order["multiline"] else 0)
    wanted = re.compile(order["pattern"], flags)
    keep = _matcher(order["glob"], order["root"]) if order["glob"] else lambda path: True
    kinds = _TYPES.get(order["type"] or "")
    if order["type"] and kinds is None:
        raise ValueError(f"there is no type {order['type']!r}; known: {', '.join(sorted(_TYPES))}")
    for path in _files(order["root"], _left_out(order["excludes"])):
        name = os.path.basename(path)
        if not keep(path) or (kinds and not any(fnmatch.fnmatchcase(name, k) for k in kinds)):
            continue
        text = _text(path)
        if text is not None:
            yield from _found(path, text, wanted, order)


def _text(path: str) -> str | None:
    """The file as text; None for what cannot be read, is too large or is binary."""
    try:
        # Not through a link, not waiting at a pipe, that were put there since the directory was listed.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if os.fstat(file.fileno()).st_size > _LARGEST:
                return None
            data = file.read(_LARGEST)
    except OSError:
        return None
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")


def _found(path: str, text: str, wanted: "re.Pattern[str]", order: dict[str, Any]) -> Iterator[str]:
    mode = order["output_mode"]
    lines = text.split("\n")
    if order["multiline"]:
        starts = [(text.count("\n", 0, m.start()), text.count("\n", 0, m.end())) for m in wanted.finditer(text)]
        hits = sorted({n for a, b in starts for n in range(a, b + 1)})
        count = len(starts)
    else:
        hits = [n for n, line in enumerate(lines) if wanted.search(line)]
        count = sum(len(wanted.findall(lines[n])) for n in hits) if mode == "count" else len(hits)
    if not hits:
        return
    if mode == "files_with_matches":
        yield path
    elif mode == "count":
        yield f"{path}:{count}"
    else:
        yield from _lines(path, lines, hits, order)


def _lines(path: str, lines: list[str], hits: list[int], order: dict[str, Any]) -> Iterator[str]:
    matched = set(hits)
    wanted = sorted(
        {n for hit in hits for n in range(hit - order["before"], hit + order["after"] + 1) if 0 <= n < len(lines)}
    )
    last = None
    for n in wanted:
        if last is not None and n > last + 1 and (order["before"] or order["after"]):
            yield "--"
        last = n
        mark = ":" if n in matched else "-"
        number = f"{n + 1}{mark}" if order["n"] else ""
        yield f"{path}{mark}{number}{lines[n][:_LINE]}"


def main(argv: list[str]) -> int:
    """Carry out the order; 0 found, 1 nothing, 2 it cannot be done (said on stdout, which is all that is read)."""
    order = json.loads(argv[1])
    found = False
    try:
        for line in _glob(order) if order["do"] == "glob" else _grep(order):
            found = True
            sys.stdout.write(line.replace("\r", "") + "\n")
    except re.error as exc:
        print(f"the pattern cannot be read: {exc}")
        return 2
    except ValueError as exc:
        print(exc)
        return 2
    return 0 if found else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    sys.exit(main(sys.argv))

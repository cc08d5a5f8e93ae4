"""The language of file rules: gitignore-like globs, made absolute.

Owns what one glob means; knows nothing of tools, units or verdicts. The language is gitignore(5)'s, with these anchors:

    /srv/app/**      an absolute path, and everything below it
    ~/notes/**       below the home directory
    src/**  ./src/*  a slash inside: below the working directory
    *.py  **/*.py    no slash inside: at any depth below the working directory (deny, ask: anywhere)

An allow rule covers what the glob names: `src/*` covers no file in a subdirectory of src, `src` only src itself, and a
directory is covered whole by `src/` or `src/**`. A deny or ask rule on a directory holds for everything in it, and
`src/**` holds for src as well. Deny and ask rules compare case-folded and NFC; allow rules compare exactly.
"""

import functools
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from sayso.errors import InvalidRule
from sayso.permission.path import fold

__all__ = ["Glob", "escape", "literal", "parse_glob"]

LONGEST_GLOB = 4096
# Matching takes time that grows with a power of the stars, and a rule file may come with a stranger's project.
MOST_STARS = 3
_WILD = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def escape(path: str) -> str:
    """`path` as a glob that matches only it."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


@dataclass(frozen=True, slots=True)
class Glob:
    """A rule's glob, made absolute.

    pattern: gitignore's notation, anchored at the root. prefix: the directory, free of wildcards, that every match lies
    in or is. whole: it ends in `**`, so it covers what is below.
    """

    pattern: str
    prefix: str
    whole: bool

    def covers(self, path: str) -> bool:
        """Whether an allow rule with this glob names exactly `path`."""
        regex = _regex(self.pattern)
        return bool(regex.match(path[1:]) if self.whole else regex.fullmatch(path[1:] + "/"))

    def holds(self, path: str) -> bool:
        """Whether a deny or ask rule with this glob holds for `path`, or for a directory above it."""
        subject = path[1:] + "/"
        if _regex(self.pattern).match(subject):
            return True
        return bool(_regex(fold(self.pattern)).match(fold(subject)))

    def reaches(self, root: str) -> bool:
        """Whether a deny or ask rule with this glob might hold for something below the directory `root`."""
        parts = fold(self.pattern).split("/")[1:]
        for part, name in zip(parts, fold(root).split("/")[1:], strict=False):
            if part == "**":
                return True
            if name and not _regex("/" + part).fullmatch(name + "/"):
                return False
        return True


@functools.lru_cache(maxsize=16384)
def _regex(pattern: str) -> re.Pattern[str]:
    """What begins with a match and a slash, as pathspec translates it, but so that `.` matches a newline in a name.

    The pattern goes in with `/**` at its end: pathspec strips blanks from the end of a line, and a name may end in one.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    stem = pattern.removesuffix("/**")
    if not stem:
        return re.compile("")
    text, _include = GitIgnoreSpecPattern.pattern_to_regex(stem + "/**")
    if text is None:
        raise InvalidRule("the glob matches nothing")
    with warnings.catch_warnings():
        # `[[]` is a class of one bracket; re only wonders whether it might mean a set operation one day.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(str(text), re.DOTALL)


@functools.lru_cache(maxsize=16384)
def parse_glob(text: str, *, base: str, home: str, anywhere: bool = False) -> Glob:
    """The glob of a rule's content, relative to the working directory `base`.

    anywhere: for deny and ask rules: a glob without a slash inside holds on the whole file system.
    Raises InvalidRule, with the reason, for a glob that is unreadable or can match no path.
    """
    _check(text)
    body = text[2:] if text.startswith("./") else text
    parts = [part for part in body.rstrip("/").split("/") if part not in ("", ".")]
    if body.endswith("/"):
        parts.append("**")
    if parts[-2:] == ["**", "*"]:
        parts.pop()
    if body == "~" or body.startswith("~/"):
        parts = [*_split(escape(home)), *parts[1:]]
    elif not body.startswith("/"):
        stem = body.rstrip("/")
        loose = body == text and ("/" not in stem or stem.startswith("**/"))
        if loose and parts[0] != "**":
            parts.insert(0, "**")
        if not (loose and anywhere):
            parts = [*_split(escape(base)), *parts]
    pattern = "/" + "/".join(parts)
    return _compiled(Glob(pattern, "/" + "/".join(_literals(parts)), parts[-1:] == ["**"]), text)


def _check(text: str) -> None:
    if not text.strip():
        raise InvalidRule("a file rule needs a glob; leave the content out to mean every file")
    if text[0] in "!#":
        raise InvalidRule(f"a glob cannot start with {text[0]!r}; write \\{text[0]} for a file whose name does")
    parts = text.split("/")
    if parts.count("**") > MOST_STARS or any(part.count("*") > MOST_STARS for part in parts):
        raise InvalidRule(f"a glob has at most {MOST_STARS} `*` in one name and {MOST_STARS} `**` in all")
    if "\0" in text or len(text) > LONGEST_GLOB:
        raise InvalidRule(f"a glob has no NUL and at most {LONGEST_GLOB} characters")
    if ".." in parts:
        raise InvalidRule(
            "a glob with `..` matches nothing: rules are compared with resolved paths; write the path out"
        )
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        raise InvalidRule("only `~/` stands for a home directory; write another user's as an absolute path")


def _compiled(glob: Glob, text: str) -> Glob:
    try:
        _regex(glob.pattern)
        _regex(fold(glob.pattern))
    except (ValueError, re.error):
        raise InvalidRule(f"the glob {text!r} cannot be read: check its brackets and backslashes") from None
    return glob


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _literals(parts: Sequence[str]) -> list[str]:
    """The leading components without wildcards, unescaped."""
    found: list[str] = []
    for part in parts:
        if (name := literal(part)) is None:
            break
        found.append(name)
    return found


def literal(part: str) -> str | None:
    """The name that one component of a pattern stands for, or None where it has a wildcard."""
    if _WILD.search(_ESCAPED.sub("", part)):
        return None
    return _ESCAPED.sub(r"\1", part)

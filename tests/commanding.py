"""Simple commands for the tests of proofs and safety checks, made without the shell's reader.

Owns a small reading of text: quotes are honoured, an unquoted glob or any expansion is a word of unknown value.
"""

import re
import shlex

from sayso.permission.unit import CommandUnit, Word

UNKNOWN = re.compile(r"[$`*?{]|\[(?=[^\[]*\])")
HEAD = re.compile(r"[^$`*?{\[]*")


def word(source: str) -> Word:
    """One word as written; in single quotes nothing is special, in double quotes only expansions are."""
    bare = source.replace("\\$", "").replace("\\(", "").replace("\\)", "")
    bare = re.sub(r"'[^']*'", "", bare)
    globbing = re.sub(r'"[^"]*"', "", bare)
    if "$" not in bare and "`" not in bare and (not UNKNOWN.search(globbing) or source == "{}"):
        return Word("".join(shlex.split(source)), source)
    splits = "$" in globbing or "`" in globbing
    head = (HEAD.match(source.replace('"', "")) or [""])[0]
    return Word(None, source, "" if splits else head, not splits and globbing == re.sub(r"[*?{\[]", "", globbing))


def command(text: str, cwd: str | None = "/work", wrapped: tuple[str, ...] = ()) -> CommandUnit:
    """The simple command that a line is."""
    sources = re.findall(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+""", text)
    assignments = []
    while sources and (match := re.fullmatch(r"([A-Za-z_]\w*)=(.*)", sources[0])):
        assignments.append((match[1], word(match[2]) if match[2] else Word("", "")))
        sources.pop(0)
    return CommandUnit(
        argv=tuple(word(source) for source in sources),
        assignments=tuple(assignments),
        wrapped=wrapped,
        cwd=cwd,
        source=text,
    )

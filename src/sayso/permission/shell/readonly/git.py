"""Which git commands only read, in a repository whose configuration names no program.

Manual: git 2.39.5, git(1) and the page of each command. Left out of every row: --output, --ext-diff, --textconv,
--filters, --show-signature, --remerge-diff (writes objects), --open-files-in-pager, --edit-description, --stdin, and
all that reaches another repository (--git-dir, -c, --exec-path, ls-remote, remote show, clone ...).
`-C DIR` is followed. What the repository may hide is `repository`'s to find.
"""

import os
import re
from collections.abc import Callable, Sequence

from sayso.permission.shell.readonly.git_options import (
    BLAME,
    CONFIG,
    DIFF_LONG,
    DIFF_SHORT,
    GREP,
    LOG_LONG,
    LOG_SHORT,
    REFS_LONG,
    REV_PARSE,
    REVISIONS,
)
from sayso.permission.shell.readonly.repository import Repository, examine
from sayso.permission.shell.readonly.table import Parsed, Reads, Table, searching
from sayso.permission.shell.readonly.word import word_set
from sayso.permission.unit import FileUnit, Word

__all__ = ["GIT_ENVIRONMENT", "git"]

GIT_ENVIRONMENT: dict[str, str] = {
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "diff.autoRefreshIndex",
    "GIT_CONFIG_VALUE_1": "false",
}
"""What the shell tool sets, and the proofs rely on, after it has removed every other GIT_* variable.

No pager, no prompt, no fetch of missing objects (git 2.44), no file system monitor, and no refresh of the index by
`status` (GIT_OPTIONAL_LOCKS) or `diff` (diff.autoRefreshIndex): a refresh writes, and runs the post-index-change hook.
"""

MANUAL = "git 2.39.5, git-{}(1)"
FORMATS = frozenset(["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw", "mboxrd"])
PATCH = word_set(
    "p u U c L S G W patch unified cc patch-with-stat patch-with-raw function-context word-diff color-words"
)
LISTS = ("l", "list", "contains", "no-contains", "merged", "no-merged", "points-at")
GLOBAL = word_set(
    "-P --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
    "--icase-pathspecs --no-replace-objects --no-advice --no-lazy-fetch"
)
PLAIN = frozenset({"--version", "-v", "--help", "-h", "--exec-path", "--html-path", "--man-path", "--info-path"})


def row(
    name: str, short: str = "", long: str = "", operands: str | Callable[[Parsed], bool] = "text", **more: bool
) -> Table:
    return Table(manual=MANUAL.format(name), short=short, long=long, operands=operands, **more)  # type: ignore[arg-type]


def harmless_format(parsed: Parsed) -> bool:
    """%G asks gpg; a name that is not git's own stands for a format in the configuration."""
    for value in parsed.values("pretty", "format"):
        text = "oneline" if value is None else value.text
        if text is None or "%G" in text or "signature" in text or "%(describe" in text:
            return False
        if "%" not in text and text not in FORMATS and not text.startswith(("format:", "tformat:")):
            return False
    return True


def harmless_fields(parsed: Parsed) -> bool:
    """The ref-filter language has a signature field as well; the other fields are in the objects."""
    return all(v is not None and v.text is not None and "signature" not in v.text for v in parsed.values("format"))


def lists_only(parsed: Parsed) -> bool:
    """A name would be created, unless an option says that it is a pattern."""
    return harmless_fields(parsed) and (not parsed.operands or parsed.has(*LISTS))


def lists_tags(parsed: Parsed) -> bool:
    return harmless_fields(parsed) and (not parsed.operands or parsed.has(*LISTS, "n"))


def no_contact(parsed: Parsed) -> bool:
    """`git remote show NAME` asks the remote unless -n is given; `get-url` and no command read the configuration."""
    verb = parsed.operands[0].text if parsed.operands else None
    return (verb is None and not parsed.operands) or verb == "get-url" or (verb == "show" and len(parsed.operands) == 1)


def verb_of(*allowed: str, bare: bool = False) -> Callable[[Parsed], bool]:
    def rule(parsed: Parsed) -> bool:
        return parsed.operands[0].text in allowed if parsed.operands else bare

    return rule


def reflog_shown(parsed: Parsed) -> bool:
    """`expire` and `delete` change; a ref without `show` is left out, since verbs may be added."""
    verb = parsed.operands[0].text if parsed.operands else "show"
    return verb in ("show", "list", "exists") and harmless_format(parsed)


def one_ref(parsed: Parsed) -> bool:
    return len(parsed.operands) == 1


LOG = row("log", LOG_SHORT + DIFF_SHORT, LOG_LONG + DIFF_LONG, harmless_format, digits=True)
DIFF = row(
    "diff", DIFF_SHORT + "123q", DIFF_LONG + "cached staged merge-base no-index base ours theirs quiet", digits=True
)
SHOW = row("show", LOG_SHORT + DIFF_SHORT, LOG_LONG + DIFF_LONG, harmless_format, digits=True)
RAW = row(
    "diff-tree",
    DIFF_SHORT + "rtmcvq",
    DIFF_LONG + "root cc always no-commit-id pretty? format== cached merge-base combined-all-paths",
    harmless_format,
)
COMMANDS: dict[str, Table] = {
    "status": row(
        "status",
        "sbvu?zM?",
        "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? "
        "column? no-column "
        "ahead-behind no-ahead-behind renames no-renames find-renames?",
    ),
    "log": LOG,
    "show": SHOW,
    "diff": DIFF,
    "diff-tree": RAW,
    "diff-index": RAW,
    "diff-files": RAW,
    "range-diff": row("range-diff", DIFF_SHORT, DIFF_LONG + "creation-factor= no-dual-color left-only right-only"),
    "rev-list": row(
        "rev-list",
        "n:iEFPgmcrtq",
        REVISIONS + "count disk-usage? objects objects-edge unpacked header timestamp no-commit-header "
        "commit-header quiet",
        harmless_format,
        digits=True,
    ),
    "shortlog": row(
        "shortlog",
        "nsecw?iEF",
        "numbered summary email committer group= since= until= after= before= author= grep= all branches? "
        "tags? remotes? "
        "merges no-merges first-parent max-count=",
    ),
    "blame": BLAME,
    "annotate": BLAME,
    "grep": GREP,
    "branch": row(
        "branch",
        "arvliq",
        REFS_LONG + "all remotes verbose list show-current abbrev? no-abbrev quiet no-color",
        lists_only,
    ),
    "tag": row("tag", "ln?i", REFS_LONG + "list", lists_tags),
    "for-each-ref": row("for-each-ref", "", REFS_LONG + "count=", harmless_fields),
    "show-ref": row(
        "show-ref", "s?dq", "hash? dereference abbrev? head heads branches tags verify quiet exists"
    ),
    "symbolic-ref": row("symbolic-ref", "q", "quiet short recurse no-recurse", one_ref),
    "remote": row("remote", "v", "verbose push all", no_contact),
    "rev-parse": REV_PARSE,
    "ls-files": row(
        "ls-files",
        "cdmoiskuztvfx:X<",
        "cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol deduplicate "
        "exclude= exclude-from< exclude-per-directory= exclude-standard error-unmatch full-name abbrev? debug sparse "
        "format= resolve-undo",
    ),
    "ls-tree": row(
        "ls-tree", "drtlz", "long name-only name-status object-only full-name full-tree abbrev? format="
    ),
    "cat-file": row(
        "cat-file", "tsepz", "batch? batch-check? batch-all-objects buffer unordered allow-unknown-type follow-symlinks"
    ),
    "describe": row(
        "describe", "", "all tags contains abbrev? candidates= exact-match debug long match= exclude= always "
        "first-parent"
    ),
    "merge-base": row("merge-base", "a", "all octopus independent is-ancestor fork-point"),
    "name-rev": row("name-rev", "", "tags refs= exclude= all name-only always no-undefined"),
    "cherry": row("cherry", "v", "abbrev? verbose"),
    "show-branch": row("show-branch", "ar", "all remotes current topo-order date-order sparse list merge-base "
    "independent "
                       "no-name sha1-name topics color? no-color more?"),
    "count-objects": row("count-objects", "vH", "verbose human-readable", "none"),
    "check-ignore": row("check-ignore", "qvnz", "quiet verbose non-matching no-index"),
    "check-attr": row("check-attr", "az", "all cached source="),
    "check-mailmap": row("check-mailmap"),
    "config": CONFIG,
    "var": row("var", "l"),
    "reflog": row("reflog", LOG_SHORT + DIFF_SHORT, LOG_LONG + DIFF_LONG, reflog_shown, digits=True),
    "stash list": LOG,
    "stash show": row("stash-show", "u" + DIFF_SHORT, DIFF_LONG + "include-untracked only-untracked"),
    "worktree list": row("worktree", "vz", "verbose porcelain", "none"),
    "submodule": row("submodule", "", "cached recursive quiet", verb_of("status", bare=True)),
    "notes": row("notes", "", "ref==", verb_of("list", "show")),
    "bisect log": row("bisect", "", "", "none"),
    "version": row("version", "", "build-options", "none"),
    "help": row("help", "ag", "all guides no-external-commands no-aliases", "none"),
}  # fmt: skip
# These look at the work tree: filters and nested repositories matter to them.
WORKTREE = frozenset(
    {"status", "diff", "diff-index", "diff-files", "ls-files", "blame", "annotate", "grep", "submodule", "stash show"}
)
# These may start git in a nested repository (diff.submodule), and compare no files.
HISTORY = frozenset({"log", "show", "diff-tree", "range-diff", "stash list", "reflog"})
CONTENT = frozenset(
    {"show", "diff", "diff-tree", "diff-index", "diff-files", "range-diff", "grep", "blame", "annotate", "cat-file"}
    | {"stash show"}
)
ANYWHERE = frozenset({"version", "help"})


def git(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """What a git command reads, or None where it may do more than read."""
    texts = [word.text for word in words]
    if not words or (len(words) == 1 and texts[0] in PLAIN):
        return ()
    found = globals_of(words, cwd)
    if found is None:
        return None
    rest, where, moved = found
    name, table, arguments = command_of(rest)
    if table is None:
        return None
    if name in ANYWHERE:
        return () if table.reads(arguments, where) is not None else None
    filters = name in WORKTREE
    repository = None if where is None else examine(where, filters=filters, nested=filters or name in HISTORY)
    if repository is None:
        return None
    parsed = table.parse(arguments, where)
    if parsed is None:
        return None
    if callable(table.operands):
        if not table.operands(parsed):
            return None
    elif table.operands == "none" and parsed.operands:
        return None
    return moved + tuple(parsed.reads) + contents(name, parsed, repository)


def globals_of(words: Sequence[Word], cwd: str | None) -> tuple[Sequence[Word], str | None, Reads] | None:
    """The words from the command on, where git runs, and the directory it was told to go to."""
    position, where = 0, cwd
    moved: Reads = ()
    while position < len(words):
        text = words[position].text
        if text is None:
            return None
        if text == "-C":
            if position + 1 >= len(words) or (to := words[position + 1].text) is None:
                return None
            if where is None and not to.startswith("/"):
                return None
            where = os.path.join(where or "/", to) if to else where
            moved = (searching(Word(where, words[position + 1].source), None, content=False),)
            position += 2
        elif text in GLOBAL:
            position += 1
        elif text.startswith("-"):
            return None
        else:
            return words[position:], where, moved
    return None


def command_of(rest: Sequence[Word]) -> tuple[str, Table | None, Sequence[Word]]:
    first = rest[0].text or ""
    second = rest[1].text if len(rest) > 1 else None
    if f"{first} {second}" in COMMANDS:
        return f"{first} {second}", COMMANDS[f"{first} {second}"], rest[2:]
    return first, COMMANDS.get(first), rest[1:]


REVISION_PATH = re.compile(r"[^:]*:(?!/)(?:\d:)?(.+)", re.S)


def contents(name: str, parsed: Parsed, repository: Repository) -> Reads:
    """The files whose content is shown: those named, or any in the repository."""
    shown = name in CONTENT or any(option in PATCH for option, _ in parsed.options)
    if not shown:
        return ()
    found: list[FileUnit] = []
    for word in parsed.operands:
        path = word.text
        if path is not None and (match := REVISION_PATH.fullmatch(path)):
            inner = match.group(1)
            base = parsed.cwd if inner.startswith(("./", "../")) else repository.top or parsed.cwd
            path = os.path.join(base or "/", inner)
        found.append(FileUnit(op="read", path=path, cwd=parsed.cwd, rule_tools=("Read",), source=word.source))
    if name not in ("blame", "annotate", "cat-file") and not any(":" in (w.text or "") for w in parsed.operands):
        found.append(searching(Word(parsed.cwd, "git"), parsed.cwd))
    return tuple(found)

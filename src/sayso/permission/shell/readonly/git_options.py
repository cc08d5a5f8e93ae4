"""The option lists that several git commands share, and the rows that are mostly options.

Manual: git 2.39.5, git-log(1), git-diff(1), git-rev-parse(1), git-grep(1), git-blame(1), git-config(1), with the
arity that git itself shows: `==` where a value can only be attached.
"""

from sayso.permission.shell.readonly.table import Parsed, Table

__all__ = [
    "BLAME",
    "CONFIG",
    "DIFF_LONG",
    "DIFF_SHORT",
    "GREP",
    "LOG_LONG",
    "LOG_SHORT",
    "REFS_LONG",
    "REVISIONS",
    "REV_PARSE",
]

DIFF_SHORT = "pusU?zB?M?C?DRabwWl:S:G:I:X?"
DIFF_LONG = (
    "patch no-patch unified? raw patch-with-raw indent-heuristic no-indent-heuristic minimal patience "
    "histogram anchored= "
    "diff-algorithm= stat? compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary "
    "patch-with-stat "
    "name-only name-status submodule? color? no-color color-moved? no-color-moved color-moved-ws= no-color-moved-ws "
    "word-diff? word-diff-regex= color-words? no-renames renames rename-empty no-rename-empty check "
    "ws-error-highlight= "
    "full-index binary abbrev? no-abbrev break-rewrites? find-renames? find-copies? find-copies-harder "
    "irreversible-delete diff-filter= find-object= pickaxe-all pickaxe-regex skip-to= rotate-to= relative? no-relative "
    "text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines "
    "ignore-matching-lines= inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv "
    "ignore-submodules? src-prefix= dst-prefix= no-prefix line-prefix= ita-invisible-in-index output-indicator-new= "
    "output-indicator-old= output-indicator-context= "
)
LOG_SHORT = "n:iEFPgmcrtL:q"
REVISIONS = (
    "max-count= skip= since= after= until= before= since-as-filter= author= committer= grep-reflog= grep= all-match "
    "invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp remove-empty "
    "merges no-merges "
    "min-parents== max-parents== no-min-parents no-max-parents first-parent exclude-first-parent-only not "
    "all branches? "
    "tags? remotes? glob= exclude= reflog single-worktree ignore-missing bisect cherry-mark cherry-pick left-only "
    "right-only cherry walk-reflogs merge boundary simplify-by-decoration show-pulls full-history dense sparse "
    "simplify-merges ancestry-path? date-order author-date-order topo-order reverse no-walk? do-walk pretty? format== "
    "abbrev-commit no-abbrev-commit abbrev? oneline encoding= expand-tabs? no-expand-tabs notes? no-notes "
    "show-notes? no-standard-notes standard-notes relative-date date= parents children left-right graph no-graph "
    "show-linear-break? full-diff "
)
LOG_LONG = REVISIONS + (
    "follow no-decorate decorate? decorate-refs= decorate-refs-exclude= clear-decorations source mailmap no-mailmap "
    "use-mailmap log-size diff-merges= cc combined-all-paths root no-diff-merges "
)
REFS_LONG = "sort= format= color? points-at! contains! no-contains! merged! no-merged! column? no-column "
"ignore-case omit-empty "

BLAME = Table(
    manual="git 2.39.5, git-blame(1)",
    short="bL:ltM?C?pcnsefw",
    long="root show-stats reverse porcelain line-porcelain incremental encoding= contents< date= ignore-rev= "
    "ignore-revs-file< color-lines color-by-age progress no-progress show-number show-name show-email minimal abbrev? "
    "first-parent since==",
    operands="text",
)


GREP = Table(
    manual="git 2.39.5, git-grep(1)",
    short="aIivwhHEGFPncolLqzrWpA:B:C:e:f<m:",
    long="cached untracked no-exclude-standard exclude-standard no-index text ignore-case word-regexp invert-match "
    "full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only "
    "files-without-match null only-matching count color? no-color break heading show-function context= after-context= "
    "before-context= function-context threads= and or not all-match quiet recursive no-recursive "
    "max-depth= no-textconv",
    operands="text",
    digits=True,
)


def reads_config(parsed: Parsed) -> bool:
    """One name without an action is read, with a value after it it is set."""
    action = parsed.has("l", "list", "get", "get-all", "get-regexp", "get-urlmatch")
    if action or not parsed.operands:
        return action
    return len(parsed.operands) == 1 or parsed.operands[0].text in ("get", "list")


CONFIG = Table(
    manual="git 2.39.5, git-config(1); `get` and `list` as words since 2.46",
    short="lzf<",
    long="list get get-all get-regexp get-urlmatch show-origin show-scope null name-only global system local worktree "
    "file< blob= type= no-type bool int bool-or-int bool-or-str path expiry-date includes no-includes "
    "default= all regexp "
    "show-names value= url= fixed-value",
    operands=reads_config,
)
REV_PARSE = Table(
    manual="git 2.39.5, git-rev-parse(1)",
    short="q",
    long="git-dir show-toplevel abbrev-ref? short? verify quiet is-inside-work-tree is-inside-git-dir "
    "is-bare-repository "
    "is-shallow-repository show-prefix show-cdup absolute-git-dir git-common-dir symbolic "
    "symbolic-full-name all branches? "
    "tags? remotes? glob== exclude== disambiguate== since== after== until== before== local-env-vars "
    "show-object-format? show-ref-format shared-index-path path-format== sq not flags no-flags revs-only "
    "no-revs git-path= "
    "default= prefix= end-of-options",
    operands="text",
)

"""Which configuration keys let a reading git command start a program.

Manual: git 2.39.5, git-config(1) and `git help --config`. Keys of the repository's own files are harmless only if
listed, because whoever wrote the repository wrote them. Keys of the user's and the system's files are harmless unless
a reading command would start, write or ask gpg because of them.
"""

import os
import re

from sayso.permission.shell.readonly.word import word_set

__all__ = ["is_harmless_here", "is_harmless_of_user"]

# Sections whose keys are names, numbers and switches: none of them is a command.
SECTIONS = word_set(
    "user author committer init branch color push pull fetch rebase commit tag advice gc pack index feature "
    "maintenance blame grep column i18n http https url svn-remote gui github gitlab receive transfer rerere "
    "versionsort notes am apply checkout clone clean safe stash lfs credentialcache gitflow"
)
# A key of those sections that may hold a command all the same (rebase's and receive's hooks, credential-like helpers).
PROGRAM = re.compile(r"(?:command|cmd|program|textconv|driver|helper|pager|editor|askpass|proxy|hook|exec|path)$")
CORE = word_set(
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol "
    "safecrlf quotepath abbrev compression loosecompression bigfilethreshold excludesfile attributesfile "
    "commentchar whitespace untrackedcache preloadindex longpaths protectntfs protecthfs checkstat trustctime "
    "sharedrepository sparsecheckout sparsecheckoutcone packedgitlimit packedgitwindowsize deltabasecachelimit "
    "multipackindex commitgraph fscache createobject fsync fsyncmethod fsyncobjectfiles warnambiguousrefs "
    "hidedotfiles hookspath"
)
REMOTE = word_set("url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved")
SUBMODULE = word_set("url active branch path ignore fetchrecursesubmodules recurse fetchjobs propagatebranches shallow")
DIFF = word_set(
    "renames renamelimit algorithm mnemonicprefix noprefix colormoved colormovedws context interhunkcontext "
    "indentheuristic ignoresubmodules relative wserrorhighlight wordregex statgraphwidth suppressblankempty "
    "submodule dirstat autorefreshindex tool guitool"
)
EXTENSIONS = word_set(
    "worktreeconfig objectformat noop relativeworktrees refstorage compatobjectformat preciousobjects"
)
OTHER = word_set(
    "log.abbrevcommit log.date log.decorate log.follow log.graphcolors log.diffmerges log.mailmap status.short "
    "status.branch status.showuntrackedfiles status.showstash status.relativepaths status.aheadbehind "
    "status.renames status.displaycommentprefix merge.conflictstyle merge.ff merge.renames merge.renamelimit "
    "merge.tool merge.stat merge.log merge.autostash merge.suppressdest gpg.format gpg.mintrustlevel "
    "mailmap.file format.numbered format.signoff"
)
LFS_DEFAULTS = {
    "clean": {"git-lfs clean -- %f"},
    "smudge": {"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"},
    "process": {"git-lfs filter-process", "git-lfs filter-process --skip"},
    "required": {"true"},
}
SWITCH = frozenset({"", "true", "false", "yes", "no", "on", "off", "1", "0"})


def is_harmless_here(key: str, value: str, top: str | None, git_dir: str | None) -> bool:
    """Whether a key in a repository's own files makes no reading command start a program or look elsewhere."""
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    match section:
        case "core":
            if name == "worktree":
                return top is not None and os.path.realpath(os.path.join(git_dir or "", value)) == top
            return name in CORE or (name == "fsmonitor" and value.lower() in SWITCH)
        case "remote":
            return name in REMOTE
        case "submodule":
            return name in SUBMODULE or (name == "update" and not value.startswith("!"))
        case "diff":
            return name in DIFF if not subsection else name in ("xfuncname", "funcname", "binary", "wordregex")
        case "filter":
            return subsection == "lfs" and value in LFS_DEFAULTS.get(name, ())
        case "extensions":
            return name in EXTENSIONS
        case _:
            return key in OTHER or (section in SECTIONS and PROGRAM.search(name) is None)


def is_harmless_of_user(key: str, value: str) -> bool:
    """Whether a key in the user's or the system's files makes no reading command start a program or write."""
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    match section:
        case "core":
            if name == "fsmonitor":
                return value.lower() in SWITCH
            return name not in ("worktree", "alternaterefscommand")
        case "diff":
            return name not in ("external", "command", "textconv", "cachetextconv")
        case "filter":
            return name == "required" or (subsection == "lfs" and value in LFS_DEFAULTS.get(name, ()))
        case "log":
            return name != "showsignature" or value.lower() in ("false", "no", "off", "0")
        case "status":
            return name != "submodulesummary" or value.lower() in ("false", "no", "off", "0")
        case "pretty" | "format":
            return "%G" not in value
        case "remote":
            return name not in ("promisor", "partialclonefilter")
        case "trace2" | "extensions":
            return False
        case _:
            return True

"""Rows for tools that search, compare and show text. sed and awk, which are languages, have files of their own.

Manuals: Debian 12's section-1 pages; the version stands in each row.
"""

import re
from collections.abc import Sequence

from sayso.permission.shell.readonly.awk import awk
from sayso.permission.shell.readonly.sed import sed
from sayso.permission.shell.readonly.table import HERE, Parsed, Reads, Table, reading, searching
from sayso.permission.unit import FileUnit, Word

__all__ = ["ROWS"]


def grep_like(parsed: Parsed) -> bool:
    """The first operand is the pattern, unless an option gave it; the rest are files, or trees when recursive."""
    rest = parsed.operands if parsed.has("e", "f", "regexp", "file") else parsed.operands[1:]
    if parsed.has("r", "R", "recursive", "dereference-recursive") or "recurse" in map(word_text, parsed.values("d")):
        parsed.reads += [searching(word, parsed.cwd) for word in rest or [HERE]]
    else:
        parsed.reads += [reading(word, parsed.cwd) for word in rest if word.text != "-"]
    return True


def word_text(word: Word | None) -> str | None:
    return None if word is None else word.text


def rg_like(parsed: Parsed) -> bool:
    """As grep, but always recursive; --files and --type-list take no pattern."""
    if parsed.has("type-list"):
        return True
    without = parsed.has("e", "f", "regexp", "file", "files", "g-names")
    rest = parsed.operands if without else parsed.operands[1:]
    content = not parsed.has("files")
    parsed.reads += [searching(word, parsed.cwd, content=content) for word in rest or [HERE]]
    return True


def yq_like(parsed: Parsed) -> bool:
    """Either yq: an expression, then files. `load` reads a file by name, `system` (mikefarah 4.52) runs one."""
    program = parsed.operands[:1]
    if any(word.text is None or "system" in word.text or "load" in word.text for word in program):
        return False
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands[1:] if word.text != "-"]
    return True


JQ_FLAGS = {
    "seq", "stream", "slurp", "raw-input", "null-input", "compact-output", "tab", "color-output", "monochrome-output",
    "ascii-output", "unbuffered", "sort-keys", "raw-output", "join-output", "exit-status", "args", "jsonargs", "help",
    "raw-output0", "stream-errors", "version", "from-file", "build-configuration",
}  # fmt: skip
JQ_VALUES = {"arg": 2, "argjson": 2, "slurpfile": 2, "rawfile": 2, "argfile": 2, "indent": 1}
JQ_SHORT = set("srRncCMaSjefhV")


def jq(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """jq's own option loop: `--arg` takes two words. A program may load modules by name, and does nothing else."""
    operands: list[Word] = []
    reads: list[FileUnit] = []
    position, from_file = 0, False
    while position < len(words):
        word = words[position]
        position += 1
        text = word.text
        if text is None or not text.startswith("-") or text == "-":
            operands.append(word)
        elif text.startswith("--"):
            name = text[2:]
            if name in JQ_VALUES:
                taken = words[position : position + JQ_VALUES[name]]
                position += JQ_VALUES[name]
                if name.endswith("file"):
                    reads += [reading(value, cwd) for value in taken[1:]]
            elif name not in JQ_FLAGS and name:
                return None
            from_file = from_file or name == "from-file"
        elif set(text[1:]) <= JQ_SHORT:
            from_file = from_file or "f" in text
        else:
            return None
    program, rest = (operands[:0], operands) if from_file else (operands[:1], operands[1:])
    loads = from_file or any(w.text is None or "import" in w.text or "include" in w.text for w in program)
    unknown = [reading(Word(None, "jq modules"), cwd)] if loads else []
    return (*reads, *unknown, *(reading(word, cwd) for word in rest if word.text != "-"))


def compared(parsed: Parsed) -> bool:
    """diff of directories without -r still reads the files in them."""
    recursive = parsed.has("r", "recursive")
    for word in parsed.operands:
        if word.text != "-":
            parsed.reads.append(searching(word, parsed.cwd) if recursive else reading(word, parsed.cwd))
    return True


def without_startup_command(parsed: Parsed) -> bool:
    """`+...` gives a pager a command to start with, which may be a shell escape."""
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands if word.text != "-"]
    return all(not (word.text or "").startswith("+") for word in parsed.operands)


PAGE_NAME = re.compile(r"[A-Za-z0-9_][\w.+:@-]*")


def installed_pages(parsed: Parsed) -> bool:
    """A page by its name; a path would be formatted as given, whatever it holds."""
    return all(word.text is not None and PAGE_NAME.fullmatch(word.text) for word in parsed.operands)


def bat_like(parsed: Parsed) -> bool:
    """`bat cache` writes, and a pager is a program."""
    for word in parsed.operands:
        if word.text in (None, "cache"):
            return False
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands if word.text != "-"]
    return all(word is not None and word.text == "never" for word in parsed.values("paging"))


GREP = Table(
    manual="GNU grep 3.8, grep(1)",
    short="A:B:C:D:EFGHILPRTUVZabcd:e:f<him:lnoqrsvwxyz",
    long="after-context= basic-regexp before-context= binary binary-files= byte-offset color? colour? context= count "
    "dereference-recursive devices= directories= exclude-dir= exclude-from< exclude= extended-regexp file< "
    "files-with-matches files-without-match fixed-strings group-separator= ignore-case include= initial-tab "
    "invert-match label= line-buffered line-number line-regexp max-count= no-filename no-group-separator "
    "no-ignore-case no-messages null null-data only-matching perl-regexp quiet recursive regexp= silent text "
    "with-filename word-regexp",
    operands=grep_like,
    open=True,
    digits=True,
)
# Left out: --pre, --hostname-bin and -z/--search-zip, which start programs.
RG = Table(
    manual="ripgrep 13.0.0, rg(1), and 14.1.0",
    short="0A:B:C:E:FHILM:NPST:UVabcd:e:f<g:him:j:lnopqr:st:uvwx.",
    long="after-context= auto-hybrid-regex before-context= binary block-buffered byte-offset case-sensitive color= "
    "colors= column context-separator= context= count count-matches crlf debug dfa-size-limit= encoding= engine= "
    "field-context-separator= field-match-separator= file< files files-with-matches files-without-match fixed-strings "
    "follow glob-case-insensitive glob= heading help hidden hyperlink-format= iglob= ignore-case "
    "ignore-file-case-insensitive ignore-file< include-zero invert-match json line-buffered line-number line-regexp "
    "max-columns-preview max-columns= max-count= max-depth= max-filesize= mmap multiline multiline-dotall no-column "
    "no-config no-filename no-heading no-hidden no-ignore no-ignore-dot no-ignore-exclude no-ignore-files "
    "no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-line-number no-messages no-mmap no-pre "
    "no-require-git no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 "
    "pcre2-version pretty quiet regex-size-limit= regexp= replace= smart-case sort= sortr= stats stop-on-nonmatch text "
    "threads= trace trim type-add= type-clear= type-list type-not= type= unrestricted vimgrep with-filename "
    "word-regexp",
    operands=rg_like,
)

ROWS: dict[str, Table] = {
    "grep": GREP,
    "egrep": GREP,
    "fgrep": GREP,
    "rg": RG,
    # Left out: --pager, which starts a program.
    "ag": Table(
        manual="ag 2.2.0, ag(1)",
        short="A:B:C:FG:HLQSUVacfg:hilm:noprstuvw0",
        long="ackmate after? all-text all-types before? break case-sensitive column context? count depth= filename "
        "files-with-matches files-without-matches fixed-strings follow group heading hidden ignore-case ignore-dir= "
        "ignore= literal max-count= nobreak nocolor nofilename nogroup noheading nonumbers norecurse null numbers "
        "only-matching parallel print-long-lines print0 silent skip-vcs-ignores smart-case stats stats-only "
        "unrestricted vimgrep word-regexp",
        operands=grep_like,
    ),
    "sed": Table(manual="GNU sed 4.9, sed(1) and its info manual", grammar=sed),
    "awk": Table(manual="POSIX awk; gawk 5.2.1 and mawk 1.3.4, awk(1)", grammar=awk),
    "gawk": Table(manual="gawk 5.2.1, gawk(1)", grammar=awk),
    "mawk": Table(manual="mawk 1.3.4, mawk(1)", grammar=awk),
    "jq": Table(manual="jq 1.6 and 1.7, jq(1)", grammar=jq),
    # Left out: -i (in place) and mikefarah's -s (writes a file a document).
    "yq": Table(
        manual="yq 4 (mikefarah) and 3 (kislyuk), --help",
        short="rCMejPyno:p:",
        long="raw-output colors no-colors exit-status prettyPrint null-input output-format= input-format=",
        operands=yq_like,
    ),
    # Left out: -l/--paginate, which starts pr.
    "diff": Table(
        manual="GNU diffutils 3.8, diff(1)",
        short="BC:D:EF:I:NS:TU:W:X<Zabcdeinpqrstuvwx:y",
        long="brief color? context? ed exclude-from< exclude= expand-tabs from-file< horizon-lines= ifdef= "
        "ignore-all-space ignore-blank-lines ignore-case ignore-file-name-case ignore-matching-lines= "
        "ignore-space-change ignore-tab-expansion ignore-trailing-space initial-tab label= left-column line-format= "
        "minimal new-file no-dereference no-ignore-file-name-case normal palette= rcs recursive report-identical-files "
        "show-c-function show-function-line= side-by-side speed-large-files starting-file= strip-trailing-cr "
        "suppress-blank-empty suppress-common-lines tabsize= text to-file< unidirectional-new-file unified? width= "
        "unchanged-line-format= old-line-format= new-line-format= old-group-format= new-group-format= "
        "changed-group-format= unchanged-group-format=",
        operands=compared,
        digits=True,
    ),
    "cmp": Table(
        manual="GNU diffutils 3.8, cmp(1)",
        short="bi:ln:sv",
        long="bytes= ignore-initial= print-bytes quiet silent verbose",
        open=True,
    ),
    "column": Table(
        manual="util-linux 2.38.1, column(1)",
        short="E:H:JLN:O:R:T:VW:c:dehi:l:n:o:p:r:s:tx",
        long="fillrows json keep-empty-lines output-separator= output-width= separator= table table-columns-limit= "
        "table-columns= table-header-repeat table-hide= table-name= table-noextreme= table-noheadings table-order= "
        "table-right= table-truncate= table-wrap= tree-id= tree-parent= tree=",
        open=True,
    ),
    "hexdump": Table(
        manual="util-linux 2.38.1, hexdump(1)",
        short="CL?Vbcde:f<hn:os:vx",
        long="canonical color? format-file< format= length= no-squeezing one-byte-char one-byte-octal skip= "
        "two-bytes-decimal two-bytes-hex two-bytes-octal",
        open=True,
    ),
    "hd": Table(manual="util-linux 2.38.1, hexdump(1)", short="Vbcde:f<hn:os:vx", open=True),
    # Left out: -r, which patches a file; a second operand is the output file.
    "xxd": Table(
        manual="vim 9.0, xxd(1)", short="abCc:Eeg:hil:n:o:ps:dus:v", words="-ps -plain", operands="one", posix=True
    ),
    "rev": Table(manual="util-linux 2.38.1, rev(1)", short="hV", open=True),
    "look": Table(manual="util-linux 2.38.1, look(1)", short="adft:", long="alternative alphanum ignore-case"),
    "colrm": Table(manual="util-linux 2.38.1, colrm(1)", operands="text"),
    "col": Table(manual="util-linux 2.38.1, col(1)", short="bfhl:px", operands="none"),
    # Left out: -o/--output.
    "iconv": Table(manual="glibc 2.36, iconv(1)", short="f:t:lcs", long="from-code= to-code= list silent verbose"),
    "envsubst": Table(manual="gettext 0.21, envsubst(1)", short="hV", operands="text"),
    "bc": Table(manual="GNU bc 1.07.1, bc(1)", short="hlwsqv", long="mathlib warn standard quiet"),
    "shasum": Table(manual="perl 5.36, shasum(1)", short="a:bctU0", long="algorithm= binary check text tag"),
    # Left out: -o/-O (log file), -k (keys), -t/-T (tags), and options with text, after whose `$` options go on.
    "less": Table(
        manual="less 590, less(1)",
        short="aABcCdeEfFgGiIJKLmMnNqQrRsSuUwWX~",
        long="quit-at-eof QUIT-AT-EOF quit-if-one-screen ignore-case no-lessopen line-numbers LINE-NUMBERS "
        "raw-control-chars RAW-CONTROL-CHARS squeeze-blank-lines chop-long-lines no-init",
        operands=without_startup_command,
    ),
    "more": Table(manual="util-linux 2.38.1, more(1)", short="dlfpcsu", operands=without_startup_command),
    # Left out: -P, -H, -C, -M, -l, -t, -X, -T, -Z, -p, which name programs, configurations, files or printers.
    "man": Table(
        manual="man-db 2.11.2, man(1)",
        short="afks:wW",
        long="all whatis apropos sections= where path no-pager",
        operands=installed_pages,
    ),
    "whatis": Table(manual="man-db 2.11.2, whatis(1)", short="lrws:", long="long regex wildcard", operands="text"),
    "apropos": Table(
        manual="man-db 2.11.2, apropos(1)", short="adelrws:", long="and exact long regex", operands="text"
    ),
    "bat": Table(
        manual="bat 0.22.1, bat(1)",
        short="Apnl:r:H:L",
        long="show-all plain number language= style= color= paging= line-range= theme= decorations= wrap= tabs= "
        "highlight-line= list-themes list-languages",
        operands=bat_like,
    ),
    "shellcheck": Table(
        manual="shellcheck 0.9.0, shellcheck(1)",
        short="ae:f:i:o:P:s:S:W:xVC?",
        long="check-sourced exclude= format= include= enable= shell= severity= wiki-link-count= external-sources norc "
        "color? list-optional",
    ),
}
ROWS["batcat"] = ROWS["bat"]

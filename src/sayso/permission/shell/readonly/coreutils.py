"""Rows for GNU coreutils: what only prints, lists or computes.

Manual: GNU coreutils 9.1, the section-1 pages of Debian 12, unless a row says otherwise. Left out because an option or
operand of theirs writes: csplit, dd, df --sync, install, link, mkfifo, mknod, mktemp, split, sync, tee, truncate.
"""

from collections.abc import Sequence

from sayso.permission.shell.readonly.table import Parsed, Reads, Table, reading
from sayso.permission.unit import Word

__all__ = ["ROWS"]

MANUAL = "coreutils 9.1, {}(1)"


def row(name: str, short: str = "", long: str = "", **fields: object) -> Table:
    long = f"{long} help version"
    return Table(manual=MANUAL.format(name), short=short, long=long, **fields)  # type: ignore[arg-type]


def format_only(parsed: Parsed) -> bool:
    """An operand of date without `+` sets the clock."""
    return all(word.text is not None and word.text.startswith("+") for word in parsed.operands)


def counted(parsed: Parsed) -> bool:
    """With --files0-from a file names the files to read."""
    if parsed.has("files0-from"):
        parsed.reads.append(reading(Word(None, "--files0-from"), parsed.cwd))
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands if word.text != "-"]
    return True


def printed(words: Sequence[Word], cwd: str | None) -> Reads:
    """echo prints whatever is no option of its own: `echo ---`."""
    return ()


SUM_SHORT = "bctwz"
SUM_LONG = "binary check ignore-missing quiet status strict tag text warn zero"

ROWS: dict[str, Table] = {
    "arch": row("arch", operands="none"),
    "base32": row("base32", "diw:", "decode ignore-garbage wrap=", open=True),
    "base64": row("base64", "diw:", "decode ignore-garbage wrap=", open=True),
    "b2sum": row("b2sum", SUM_SHORT + "l:", SUM_LONG + " length=", open=True),
    "basename": row("basename", "as:z", "multiple suffix= zero", operands="text", open=True),
    "cat": row(
        "cat",
        "AETbenstuv",
        "number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank",
        open=True,
    ),
    "cksum": row(
        "cksum",
        "a:cl:wz",
        "algorithm= check debug ignore-missing length= quiet status strict tag untagged warn zero",
        open=True,
    ),
    "comm": row("comm", "123z", "check-order nocheck-order output-delimiter= total zero-terminated", open=True),
    "cut": row(
        "cut",
        "b:c:d:f:nsz",
        "bytes= characters= complement delimiter= fields= only-delimited output-delimiter= zero-terminated",
        open=True,
    ),
    "date": row(
        "date",
        "I?Rd:r<u",
        "date= debug iso-8601? reference< resolution rfc-3339= rfc-email universal utc",
        operands=format_only,
    ),
    "df": row(
        "df",
        "B:HPTahiklt:x:",
        "all block-size= exclude-type= human-readable inodes local no-sync output? portability print-type "
        "si total type=",
        operands="names",
    ),
    "dirname": row("dirname", "z", "zero", operands="text", open=True),
    "du": row(
        "du",
        "0B:DHLPSX<abcd:hklmst:x",
        "all apparent-size block-size= bytes count-links dereference dereference-args exclude-from< exclude= "
        "human-readable inodes max-depth= no-dereference null one-file-system separate-dirs si summarize "
        "threshold= time? time-style= total",
        operands="trees",
        open=True,
    ),
    "echo": row("echo", grammar=printed),
    "expand": row("expand", "it:", "initial tabs=", open=True, digits=True),
    "expr": row("expr", operands="text", open=True, posix=True),
    "factor": row("factor", operands="text"),
    "false": row("false", operands="text", open=True, posix=True),
    "fmt": row(
        "fmt",
        "cg:p:stuw:",
        "crown-margin goal= prefix= split-only tagged-paragraph uniform-spacing width=",
        open=True,
        digits=True,
    ),
    "fold": row("fold", "bsw:", "bytes spaces width=", open=True, digits=True),
    "groups": row("groups", operands="text"),
    "head": row("head", "c:n:qvz", "bytes= lines= quiet silent verbose zero-terminated", open=True, digits=True),
    "hostid": row("hostid", operands="none"),
    "id": row("id", "GZagnruz", "context group groups name real user zero", operands="text"),
    "join": row(
        "join", "1:2:a:e:ij:o:t:v:z", "check-order header ignore-case nocheck-order zero-terminated", open=True
    ),
    "logname": row("logname", operands="none"),
    "ls": row(
        "ls",
        "1ABCDFGHI:LNQRST:UXZabcdfghiklmnopqrstuvw:x",
        "all almost-all author block-size= classify? color? context dereference dereference-command-line "
        "dereference-command-line-symlink-to-dir directory dired escape file-type format= full-time "
        "group-directories-first hide= hide-control-chars human-readable hyperlink? ignore= ignore-backups "
        "indicator-style= inode kibibytes literal no-group numeric-uid-gid quote-name quoting-style= recursive "
        "reverse show-control-chars si size sort= tabsize= time= time-style= width= zero",
        operands="names",
        open=True,
    ),
    "nl": row(
        "nl",
        "b:d:f:h:i:l:n:ps:v:w:",
        "body-numbering= footer-numbering= header-numbering= join-blank-lines= line-increment= no-renumber "
        "number-format= number-separator= number-width= section-delimiter= starting-line-number=",
        open=True,
    ),
    "nproc": row("nproc", "", "all ignore=", operands="none"),
    "numfmt": row(
        "numfmt",
        "d:z",
        "debug delimiter= field= format= from= from-unit= grouping header? invalid= padding= round= suffix= to= "
        "to-unit= zero-terminated",
        operands="text",
    ),
    "od": row(
        "od",
        "A:N:S:abcdfhij:lost:vw?x",
        "address-radix= endian= format= output-duplicates read-bytes= skip-bytes= strings? width?",
        open=True,
    ),
    "paste": row("paste", "d:sz", "delimiters= serial zero-terminated", open=True),
    "pathchk": row("pathchk", "pP", "portability", operands="text"),
    "pr": row(
        "pr",
        "D:FJN:S?TW:acde?fh:i?l:mn?o:rs?tvw:",
        "across columns= date-format= double-space expand-tabs? first-line-number= form-feed header= indent= "
        "join-lines length= merge no-file-warnings number-lines? omit-header omit-pagination output-tabs? "
        "page-width= sep-string? separator? show-control-chars show-nonprinting width=",
        digits=True,
    ),
    "printenv": row("printenv", "0", "null", operands="text"),
    "pwd": row("pwd", "LP", "logical physical", operands="none"),
    "readlink": row(
        "readlink",
        "efmnqsvz",
        "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
        operands="names",
        open=True,
    ),
    "realpath": row(
        "realpath",
        "LPemqsz",
        "canonicalize-existing canonicalize-missing logical no-symlinks physical quiet relative-base= relative-to= "
        "strip zero",
        operands="names",
        open=True,
    ),
    "seq": row("seq", "f:s:w", "equal-width format= separator=", operands="text", open=True, digits=True),
    "sha1sum": row("sha1sum", SUM_SHORT, SUM_LONG, open=True),
    "sha224sum": row("sha224sum", SUM_SHORT, SUM_LONG, open=True),
    "sha256sum": row("sha256sum", SUM_SHORT, SUM_LONG, open=True),
    "sha384sum": row("sha384sum", SUM_SHORT, SUM_LONG, open=True),
    "sha512sum": row("sha512sum", SUM_SHORT, SUM_LONG, open=True),
    "md5sum": row("md5sum", SUM_SHORT, SUM_LONG, open=True),
    "shuf": row(
        "shuf", "ei:n:rz", "echo head-count= input-range= random-source< repeat zero-terminated", operands="files"
    ),
    "sleep": row("sleep", operands="text", open=True),
    "sort": row(
        "sort",
        "CMRS:Vbcdfghik:mnrst:uz",
        "batch-size= buffer-size= check? debug dictionary-order field-separator= general-numeric-sort "
        "human-numeric-sort ignore-case ignore-leading-blanks ignore-nonprinting key= merge month-sort numeric-sort "
        "parallel= random-sort random-source< reverse sort= stable unique version-sort zero-terminated",
    ),
    "stat": row("stat", "Lc:ft", "cached= dereference file-system format= printf= terse", operands="names", open=True),
    "sum": row("sum", "rs", "sysv", open=True),
    "tac": row("tac", "brs:", "before regex separator=", open=True),
    "tail": row(
        "tail",
        "Fc:fn:qs:vz",
        "bytes= follow? lines= max-unchanged-stats= pid= quiet retry silent sleep-interval= verbose zero-terminated",
        open=True,
        digits=True,
    ),
    "tr": row("tr", "Ccdst", "complement delete squeeze-repeats truncate-set1", operands="text", open=True),
    "true": row("true", operands="text", open=True, posix=True),
    "tsort": row("tsort"),
    "tty": row("tty", "s", "quiet silent", operands="none"),
    "uname": row(
        "uname",
        "aimnoprsv",
        "all hardware-platform kernel-name kernel-release kernel-version machine nodename operating-system processor",
        operands="none",
    ),
    "unexpand": row("unexpand", "at:", "all first-only tabs=", open=True),
    "uniq": row(
        "uniq",
        "Dcdf:is:uw:z",
        "all-repeated? check-chars= count group? ignore-case repeated skip-chars= skip-fields= unique zero-terminated",
        operands="one",
        posix=True,
    ),
    "users": row("users", operands="none"),
    "wc": row("wc", "Lclmw", "bytes chars files0-from< lines max-line-length words", operands=counted, open=True),
    "who": row(
        "who",
        "HTabdlmpqrstuw",
        "all boot count dead heading ips login lookup mesg message process runlevel short time users writable",
        operands="text",
    ),
    "whoami": row("whoami", operands="none"),
    "yes": row("yes", operands="text", open=True, posix=True),
}

"""Rows for tools that look at files, trees, archives and object files.

Manuals: Debian 12's section-1 and section-8 pages; the version stands in each row. find has a file of its own, the
core utilities (ls, stat, du, df) another.
"""

from collections.abc import Sequence

from sayso.permission.shell.readonly.table import HERE, Parsed, Reads, Table, reading, searching
from sayso.permission.unit import Word

__all__ = ["ROWS"]


def fd_like(parsed: Parsed) -> bool:
    """A pattern, then trees; options may name trees as well."""
    named = [word for word in parsed.values("search-path", "base-directory") if word is not None]
    trees = [*parsed.operands[1:], *named] or [HERE]
    parsed.reads += [searching(word, parsed.cwd, content=False) for word in trees]
    return True


def to_stdout(parsed: Parsed) -> bool:
    """gzip writes files unless it lists, tests or is told to print."""
    parsed.reads += [reading(word, parsed.cwd) for word in parsed.operands if word.text != "-"]
    return parsed.has("c", "l", "t", "stdout", "to-stdout", "list", "test")


def tar(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """`tar -tf FILE`: a listing. `host:file` would start a remote shell; gzip and its like only filter."""
    if len(words) < 2 or words[0].text is None:
        return None
    letters = words[0].text.removeprefix("-")
    archive = words[1].text
    if not set(letters) <= set("tvzjJaf") or "t" not in letters or letters.find("f") != len(letters) - 1:
        return None
    if archive is None or ":" in archive or archive.startswith("-"):
        return None
    if any(word.text is None or word.text.startswith("-") for word in words[2:]):
        return None
    return (reading(words[1], cwd),)


def unzip(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """`unzip -l FILE`: lists, tests or prints; without such a letter it extracts."""
    if len(words) < 2 or not (words[0].text or "").startswith("-"):
        return None
    letters = set((words[0].text or "")[1:])
    if not letters <= set("lvqZ1tzp") or letters.isdisjoint("lvtzpZ"):
        return None
    if any(word.text is None or word.text.startswith("-") for word in words[1:]):
        return None
    return (reading(words[1], cwd),)


FILE_LONG = (
    "apple brief checking-printout debug dereference exclude= exclude-quiet= extension files-from< "
    "keep-going magic-file< "
    "mime mime-encoding mime-type no-buffer no-dereference no-pad parameter= print0 raw separator= special-files"
)
FD = Table(
    # Left out: -x/-X (start programs) and -l (starts ls).
    manual="fd 8.6.0, fd(1)",
    short="01E:FHILS:Vac:d:e:ghij:o:pqst:u",
    long="absolute-path and= base-directory= case-sensitive changed-before= changed-within= color= exact-depth= "
    "exclude= "
    "extension= fixed-strings follow format= full-path glob hidden ignore-case ignore-file= max-depth= max-results= "
    "min-depth= no-ignore no-ignore-parent no-ignore-vcs no-require-git newer= older= one-file-system owner= "
    "path-separator= print0 prune quiet regex search-path= show-errors size= strip-cwd-prefix threads= "
    "type= unrestricted",
    operands=fd_like,
)
EXA = Table(
    manual="exa 0.10.1 and eza 0.18, exa(1)",
    short="1lGRTxadDFBbgHhimrs:SUut:nI:L:@",
    long="oneline long grid across recurse tree classify color= colour= color-scale icons? all list-dirs level= "
    "reverse "
    "sort= group-directories-first only-dirs ignore-glob= git-ignore binary bytes group header links inode modified "
    "blocks time= accessed created extended git no-permissions no-filesize no-user no-time time-style= "
    "octal-permissions no-icons",
    operands="trees",
)
CAT = Table(manual="gzip 1.12, bzip2 1.0.8, xz 5.4.1, zstd 1.5.4: zcat(1), bzcat(1), xzcat(1), zstdcat(1)", short="fq")

ROWS: dict[str, Table] = {
    # Left out: -C (compiles a magic file), -z/-Z (start gzip and its like), -p (sets the access time), -S.
    "file": Table(manual="file 5.44, file(1)", short="0F:LNP:bce:f<hiklm<nrsvd", long=FILE_LONG),
    # Left out: -o (writes a file) and -R (writes 00Tree.html in every directory).
    "tree": Table(
        manual="tree 2.1.0, tree(1)",
        short="ACDFI:JL:NP:QSUXacdfghilnpqrstuvx",
        long="charset= device dirsfirst du fflinks filelimit= filesfirst gitfile= gitignore ignore-case info infofile= "
        "inodes matchdirs metafirst nolinks noreport prune si sort= timefmt=",
        operands="trees",
        detached=True,
    ),
    "fd": FD,
    "fdfind": FD,
    "exa": EXA,
    "eza": EXA,
    "tar": Table(manual="GNU tar 1.34, tar(1)", grammar=tar),
    "unzip": Table(manual="Info-ZIP UnZip 6.00, unzip(1)", grammar=unzip),
    # Left out: -M, which starts more.
    "zipinfo": Table(manual="Info-ZIP ZipInfo 3.00, zipinfo(1)", short="12smlvChtTz"),
    "zcat": CAT,
    "bzcat": CAT,
    "xzcat": CAT,
    "zstdcat": CAT,
    "gzip": Table(
        manual="gzip 1.12, gzip(1)",
        short="cdlqtv123456789",
        long="stdout to-stdout decompress list test",
        operands=to_stdout,
    ),
    "gunzip": Table(
        manual="gzip 1.12, gunzip(1)", short="clqtv", long="stdout to-stdout list test verbose", operands=to_stdout
    ),
    "strings": Table(
        manual="GNU binutils 2.40, strings(1)",
        short="T:U:Vade:fhn:os:t:vw",
        long="all bytes= data encoding= include-all-whitespace output-separator= print-file-name radix= target= "
        "unicode=",
        open=True,
    ),
    # Left out of these: DWARF and source listings, which may fetch debug files, and nm's --plugin.
    "readelf": Table(
        manual="GNU binutils 2.40, readelf(1)",
        short="aAcdeghInp:rR:sStuVWx:",
        long="all arch-specific archive-index dyn-syms dynamic file-header headers hex-dump= histogram notes "
        "program-headers "
        "relocs sections section-headers segments string-dump= symbols syms unwind version-info wide",
    ),
    "objdump": Table(
        manual="GNU binutils 2.40, objdump(1)",
        short="aC?dDfhj:M:prRstTwxz",
        long="all-headers archive-headers demangle? disassemble disassemble-all disassemble-zeroes dynamic-reloc "
        "dynamic-syms file-headers full-contents headers private-headers reloc section= section-headers syms wide "
        "no-show-raw-insn no-addresses",
    ),
    "nm": Table(
        manual="GNU binutils 2.40, nm(1)",
        short="ABC?DPSVaf:gnoprst:u",
        long="debug-syms defined-only demangle? dynamic extern-only format= no-demangle no-sort numeric-sort "
        "portability "
        "print-armap print-file-name print-size radix= reverse-sort size-sort special-syms undefined-only",
    ),
    "size": Table(manual="GNU binutils 2.40, size(1)", short="ABGdotx", long="common totals format= radix="),
    "lsattr": Table(manual="e2fsprogs 1.47.0, lsattr(1)", short="RVadlpv", operands="names"),
    "getfacl": Table(
        manual="acl 2.3.1, getfacl(1)",
        short="acdestnpRLP",
        long="access default omit-header all-effective no-effective skip-base recursive tabular numeric absolute-names",
        operands="names",
    ),
    "namei": Table(
        manual="util-linux 2.38.1, namei(1)", short="lmnovx", long="long modes owners vertical", operands="names"
    ),
    "mountpoint": Table(
        manual="util-linux 2.38.1, mountpoint(1)", short="dqx", long="quiet nofollow", operands="names"
    ),
    "findmnt": Table(
        manual="util-linux 2.38.1, findmnt(8)",
        short="ACDJPRS:T:UVabcd:efhiklmnO:o:rst:uv",
        long="all ascii bytes canonicalize df direction= evaluate first-only fstab invert json kernel list mtab "
        "nocanonicalize nofsroot noheadings notruncate options= output-all output= pairs raw real source= submounts "
        "target= tree types= uniq verbose verify",
        operands="text",
    ),
    "locate": Table(
        manual="plocate 1.1.18, locate(1)",
        short="abcd<ehiLl:NpPr:Sw0",
        long="all basename count existing ignore-case limit= null regexp= regex statistics wholename",
        operands="text",
    ),
    "whereis": Table(manual="util-linux 2.38.1, whereis(1)", short="bmsul", operands="text"),
    "which": Table(manual="debianutils 5.7, which(1)", short="as", operands="text", open=True),
}

"""Finding and looking at files, archives and object files."""

import pytest

from commanding import command
from sayso.permission.shell.readonly import prove

PROVEN = """
find
find .
find . -name '*.py'
find . -name *.py -type f
find src -type f -newer README.md -print
find . -maxdepth 2 -type d -not -path '*/node_modules/*'
find . \\( -name a -o -name b \\) -print0
find . ! -name x -size +1M -mtime -7
find -L /etc -iname "*$x*" -ls
find . -newermt 2024-01-01 -printf '%p\\n'
find . -name '*.py' -exec grep -l foo {} +
find . -type f -exec sed -n 1p {} \\;
find "src/$x" -empty
fd foo src
fdfind -e py
tree
tree -L 2 -I node_modules
tree -L2 -a
file README.md
file -b --mime-type x
exa -la
tar -tf a.tar
tar tzvf a.tgz src
unzip -l a.zip
zipinfo a.zip
zcat a.gz
gzip -dc a.gz
gunzip -c a.gz
readelf -h a.bin
objdump -d a.o
nm a.o
size a.o
which python3
whereis ls
locate x
lsattr
findmnt
"""

NOT_PROVEN = [
    ("find . -delete", "deletes"),
    ("find . -name '*.pyc' -delete", "deletes"),
    ("find . \\( -name a -o -delete \\)", "deletes, in parentheses"),
    ("find . -type f -exec rm {} +", "executes"),
    ("find . -exec sh -c 'rm {}' \\;", "executes"),
    ("find . -exec {} \\;", "executes what it finds"),
    ("find . -execdir ls {} \\;", "executes elsewhere"),
    ("find . -ok ls {} \\;", "executes"),
    ("find . -exec cat {}", "no end"),
    ("find . -exec cat x + -delete", "the + does not follow {}"),
    ("find . -fprint out", "writes"),
    ("find . -fprintf out %p", "writes"),
    ("find . -fls out", "writes"),
    ("find -files0-from list", "starting points that are named elsewhere"),
    ("find . $x", "may be -delete"),
    ("find . -name $x", "may be several words"),
    ("find . -name *", "a file may be named -delete"),
    ("find . -name x*", "a file may be called anything"),
    ("find $x -name y", "may be -delete"),
    ("find . -zebra", "not listed"),
    ("find . -name", "a value is missing"),
    ("fd -x rm", "executes"),
    ("fd -X rm", "executes"),
    ("fd --exec rm", "executes"),
    ("fd -l", "starts ls"),
    ("tree -o out", "writes"),
    ("tree -ao out .", "-o in a cluster"),
    ("tree -Io pattern out", "-o in a cluster, after a letter with a value"),
    ("tree -R -L 2", "writes 00Tree.html"),
    ("file -C -m magic", "compiles"),
    ("file -z x", "starts gzip"),
    ("tar -xf a.tar", "extracts"),
    ("tar -cf a.tar x", "writes"),
    ("tar -tf host:a.tar", "starts a remote shell"),
    ("tar -I ./x -tf a.tar", "starts a program"),
    ("tar -tf a.tar --checkpoint=1 --checkpoint-action=exec=x", "starts a program"),
    ("unzip a.zip", "extracts"),
    ("unzip -q a.zip", "extracts"),
    ("unzip -l a.zip -d x", "an option after it"),
    ("gzip x", "replaces the file"),
    ("gunzip x", "replaces the file"),
    ("nm --plugin ./x.so a.o", "loads a library"),
    ("ldd a", "may run the program"),
]


@pytest.mark.parametrize("text", PROVEN.strip().splitlines())
def test_looking_is_proven(text: str) -> None:
    assert prove(command(text)) is not None


@pytest.mark.parametrize(("text", "why"), NOT_PROVEN)
def test_what_may_write_or_start_something_is_not_proven(text: str, why: str) -> None:
    assert prove(command(text)) is None, why


def test_find_reads_names_unless_a_command_reads_the_files() -> None:
    names, content = prove(command("find src -name x")), prove(command("find src -exec cat {} +"))
    assert names is not None
    assert content is not None
    assert [(u.op, u.path, u.rule_tools) for u in names.reads] == [("search", "src", ("Glob",))]
    assert [(u.op, u.path, u.rule_tools[0]) for u in content.reads] == [("search", "src", "Read")]


def test_the_archive_that_is_listed_is_read() -> None:
    proof = prove(command("tar -tf backup.tar"))
    assert proof is not None
    assert [unit.path for unit in proof.reads] == ["backup.tar"]

"""The core utilities: what prints is proven, what an option turns into writing is not."""

import pytest

from commanding import command
from sayso.permission.shell.readonly import prove

PROVEN = """
ls
ls -la
ls -lah --color=auto src
ls -ltr --time-style=long-iso
ls -1 *.py
ls "src/a b.txt"
ls --help
cat README.md
cat -n src/main.py
cat src/*.py $x
head -20 x
head -n 20 x
head -c 100 x
tail -100f app.log
tail -n +5 x
tail -F app.log
wc -l src/*.py
sort -k2 -n -r data.csv
sort -t, -k1,1 -u x
sort -h
sort -- *.csv
sort ./*.csv
uniq -c
uniq -c data.csv
cut -d: -f1 /etc/passwd
tr -d '\\n'
tr a-z A-Z
nl x
tac x
paste -sd, x
fold -w 80 x
comm -12 a b
join -t, a b
od -c x
md5sum x
sha256sum -c SUMS
base64 -d x
cksum x
date
date +%Y-%m-%d
date -d yesterday +%F
date -u -Iseconds
date -r x
du -sh .
du -sh *
du -h --max-depth=1
df -h
df -h .
stat -c %s x
stat $x
readlink -f x
realpath --relative-to=. x
basename src/main.py .py
dirname "$x"
pwd
uname -a
whoami
id
groups
nproc
printenv HOME
seq 1 10
seq 10 -1 1
echo "hello $x" -n
expr 1 + 2
sleep 1
true
false
env
env -0
"""

NOT_PROVEN = [
    ("sort -o out.txt x", "writes the output file"),
    ("sort -uo out.txt x", "-o in a cluster"),
    ("sort -oout.txt x", "-o attached"),
    ("sort --output=out.txt x", "writes the output file"),
    ("sort --outp=out.txt x", "an abbreviation"),
    ("sort --compress-program=./x y", "starts a program"),
    ("sort --files0-from=list", "reads files that are named elsewhere"),
    ("sort -T /x y", "writes temporary files where told"),
    ("sort x -o y", "options are found after operands"),
    ("sort *.csv", "a file may be named -ox"),
    ("sort $x", "may be -o out"),
    ("uniq a b", "the second operand is the output"),
    ("uniq a -c", "the output, where options end at the first operand"),
    ("date -s 2020-01-01", "sets the clock"),
    ("date --set=2020-01-01", "sets the clock"),
    ("date 010203042020", "sets the clock"),
    ("date $x", "may set the clock"),
    ("df --sync", "flushes the disks"),
    ("shuf -o out x", "writes the output file"),
    ("tee out", "writes"),
    ("split x", "writes"),
    ("env -S 'rm x'", "runs a command"),
    ("env ls", "runs a command, whose own unit is judged"),
    ("ls --colour", "not spelled so"),
    ("cat --output=x", "no such option"),
]


@pytest.mark.parametrize("text", PROVEN.strip().splitlines())
def test_a_listing_is_proven(text: str) -> None:
    assert prove(command(text)) is not None


@pytest.mark.parametrize(("text", "why"), NOT_PROVEN)
def test_what_may_write_or_start_something_is_not_proven(text: str, why: str) -> None:
    assert prove(command(text)) is None, why


def paths(text: str) -> list[tuple[str, str | None, str]]:
    proof = prove(command(text))
    assert proof is not None
    return [(unit.op, unit.path, unit.rule_tools[0]) for unit in proof.reads]


def test_a_proof_names_the_files_whose_content_is_read() -> None:
    assert paths("cat a -n b -") == [("read", "a", "Read"), ("read", "b", "Read")]
    assert paths("head -n 5 .env") == [("read", ".env", "Read")]
    assert paths("du -X list src") == [("read", "list", "Read"), ("search", "src", "Glob")]


def test_names_alone_are_told_from_content() -> None:
    assert paths("ls secrets") == [("read", "secrets", "Glob")]
    assert paths("ls") == [("read", ".", "Glob")]
    assert paths("stat x") == [("read", "x", "Glob")]


def test_a_file_that_names_files_makes_the_reads_unknown() -> None:
    assert ("read", None, "Read") in paths("wc --files0-from=list")


def test_the_reason_names_the_manual() -> None:
    proof = prove(command("ls -la"))
    assert proof is not None
    assert proof.why == "ls only reads (coreutils 9.1, ls(1))"

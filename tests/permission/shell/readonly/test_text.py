"""Searching, comparing and showing text; sed and awk as languages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commanding import command
from sayso.permission.shell.readonly import prove
from sayso.permission.shell.readonly.awk import only_computes
from sayso.permission.shell.readonly.sed import script_reads

PROVEN = """
grep -rn TODO src
grep -rn --include=*.py foo .
grep -E 'a|b' x
grep -c $x y
grep -A3 -B 3 foo x
grep -v -- -x y
egrep foo x
rg -n --glob '*.py' TODO src
rg foo
rg -tpy -i foo src/
rg --files
rg -l foo -g '!node_modules'
ag foo src
jq . data.json
jq -r '.a[]' data.json
jq -rc --arg x 1 '.[$x]' data.json
jq -n '1+1'
yq '.a' x.yml
diff a b
diff -u a b
diff -rq a b
diff --color=auto -U3 a b
cmp a b
column -t -s, x
hexdump -C x
xxd x
xxd -l 64 x
xxd -p x
strings -n 8 x
rev x
iconv -f latin1 -t utf-8 x
bc -l
less README.md
less -R x
more x
man ls
man 3 printf
man -k list
bat -n x
sed -n 1,5p x
sed 's/a/b/g' x
sed -e p -e d x
sed -E 's/(a)/\\1/' x
sed '/^$/d' "src/$x"
awk '{print $1}' x
awk -F, 'NR>1{s+=$2} END{print s}' data.csv
awk -v x="$y" '{print x}' $z
"""

NOT_PROVEN = [
    ("rg --pre ./x y", "runs a program per file"),
    ("rg --pre=./x y", "runs a program per file"),
    ("rg --hostname-bin ./x y", "runs a program"),
    ("rg -z x", "starts decompressors"),
    ("rg $x", "may be --pre"),
    ("ag --pager ./x y", "starts a program"),
    ("diff -l a b", "starts pr"),
    ("yq -i '.a=1' x", "edits in place"),
    ("yq -s .a x", "writes a file per document"),
    ("yq 'load(\"x\")' y", "reads a file of its own choice"),
    ("jq --zebra . x", "no such option"),
    ("xxd -r dump out", "writes the second operand"),
    ("xxd a b", "writes the second operand"),
    ("xxd a -p", "the output, since options end at the first operand"),
    ("iconv -o out x", "writes"),
    ("less +!id x", "starts a shell"),
    ("less -o copy x", "writes a log file"),
    ("less --cmd=x y", "a startup command"),
    ("less '-pfoo$-ocopy' x", "options go on after the text"),
    ("more +!id x", "starts a shell"),
    ("man -P ./x ls", "starts a pager"),
    ("man -Hx ls", "starts a browser"),
    ("man ./x", "formats any file"),
    ("man -l x", "formats any file"),
    ("bat --pager ./x y", "starts a program"),
    ("bat --paging=always x", "starts a pager"),
    ("bat cache --build", "writes"),
    ("awk -f x.awk y", "a program that is not seen"),
    ("awk -i inplace 1 x", "edits in place"),
    ('awk "$x" y', "a program that is not known"),
    ("awk 1 /inet/tcp/0/host/80", "a network connection in gawk"),
    ("sed -i p x", "edits in place"),
    ("sed -ni p x", "-i in a cluster"),
    ("sed p -i x", "-i after the script"),
    ("sed --in-pl p x", "an abbreviation"),
    ("sed -f x y", "a script that is not seen"),
    ('sed "$x" y', "a script that is not known"),
    ("sed -n 1p *.txt", "a file may be named -i"),
    ("perl -ne print x", "an interpreter"),
]


@pytest.mark.parametrize("text", PROVEN.strip().splitlines())
def test_reading_text_is_proven(text: str) -> None:
    assert prove(command(text)) is not None


@pytest.mark.parametrize(("text", "why"), NOT_PROVEN)
def test_what_may_write_or_start_something_is_not_proven(text: str, why: str) -> None:
    assert prove(command(text)) is None, why


SED_READS = [
    "p", "$!N;$!D", "1!G;h;$!d", "0~3d", "/re/I,+3{s/x/y/g;p}", "s,/usr,/opt,g; s#w#e#", ":w;N;$!bw;s/\\n/ /g",
    "s/[/]/e/x/", "s/[^/]*$//", "\\%w%p", "a we text", "a\\\nwe text\np", "y/we/ew/", "q5", "s/w/e/2p;te", "$=",
    "# w x\np",
]  # fmt: skip
SED_DOES_MORE = [
    ("1e id", "e runs a command"), ("e", "e runs what was read"), ("s/x/id/e", "the e flag"),
    ("s|x|y|ge", "another delimiter"),
    ("s/x\\/y/p/ge", "an escaped delimiter hides the flags"), ("w out", "w writes"), ("1W out", "W writes"),
    ("s/a/b/w out", "the w flag"), ("/a/{p;e id\n}", "in a block"), ("p\n1w out", "on the second line"),
    ("s/[/]/e", "where a bracket does not hide the delimiter"), ("a\\ \ns/a/\ne id/", "text or command, by version"),
    ("s/a/b/;s/c/d/e", "in the second command"), ("$!{$!N;w x\n}", "in a block"), ("}w x", "after a block"),
    ("s\tw\te\te", "a delimiter that is blank"), ("v 4.2;e", "unknown command"),
]  # fmt: skip


@pytest.mark.parametrize("script", SED_READS)
def test_a_sed_script_that_only_edits_the_stream_is_harmless(script: str) -> None:
    if script != "s/[/]/e/x/":
        assert script_reads(script) == []
    else:
        assert script_reads(script) is None, "versions differ on where it ends"


@pytest.mark.parametrize(("script", "why"), SED_DOES_MORE)
def test_a_sed_script_that_may_write_or_execute_is_not(script: str, why: str) -> None:
    assert script_reads(script) is None, why


def test_a_sed_script_names_the_files_that_it_reads() -> None:
    assert script_reads("/a/r notes.txt") == ["notes.txt"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ewWsy/|\\[]^p;{}\n gae,1$!", max_size=12))
def test_no_sed_script_with_an_execute_at_a_command_position_passes(script: str) -> None:
    assert script_reads("p;e") is None
    if script_reads(script + "\n") is not None and not script.endswith(
        "\\"
    ):  # a newline behind \ goes on with the text
        assert script_reads(script + "\n1e id") is None


AWK_COMPUTES = [
    "{print $1}", "NR>1{s+=$2} END{print s/NR}", "/foo|bar/ {print $NF}", "!seen[$0]++", "$3>5 || /a|b/", "length > 80",
    "{print ($1 > 5)}", '{ if ($1 ~ /x/) print $2; else print "a > b | c" }', "{print $1/2, $2/3}", "{print (a)/2}",
    'BEGIN{FS=":"}$3>=1000{print $1}', '{gsub(/"/,""); print}', "{a[$1]++} END{for(k in a) print k, a[k]}",
    "{print $1} # x > y | z", '{printf "%s\\n", $1}', "if(1) /|/; x",
]  # fmt: skip
AWK_DOES_MORE = [
    ('BEGIN{system("id")}', "system"), ('BEGIN{system ("id")}', "system with a blank"), ('{print > "out"}', "a file"),
    ('{print >> "out"}', "a file"), ("{print $1 > 5}", "a file called 5"), ('{print | "sh"}', "a command"),
    ('{"id" | getline x}', "a command"), ('{getline x < "f"}', "a file of its own choice"), ('@load "x"', "a library"),
    ('{f="sys" "tem"; @f("id")}', "an indirect call"), ('BEGIN{ARGV[1]="/etc/shadow"}', "inputs of its own choice"),
    ('{print a,\n b > "f"}', "over two lines"), ('{if(x)/"/;print > "/tmp/x";y="/"}', "a quote inside a regex"),
    ('{print $1 / 2 > "x/"}', "division, not a regex"), ('{x = "A"; printf("%d", x) > "f"}', "after a parenthesis"),
]  # fmt: skip


@pytest.mark.parametrize("program", AWK_COMPUTES)
def test_an_awk_program_that_only_computes_is_harmless(program: str) -> None:
    assert only_computes(program)


@pytest.mark.parametrize(("program", "why"), AWK_DOES_MORE)
def test_an_awk_program_with_a_way_out_is_not(program: str, why: str) -> None:
    assert not only_computes(program), why


def test_a_search_is_a_search_and_a_pattern_is_no_file() -> None:
    proof = prove(command("grep -r secret src lib"))
    assert proof is not None
    assert [(u.op, u.path) for u in proof.reads] == [("search", "src"), ("search", "lib")]
    proof = prove(command("grep -e secret .env"))
    assert proof is not None
    assert [(u.op, u.path) for u in proof.reads] == [("read", ".env")]

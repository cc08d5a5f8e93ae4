"""How a row reads a command line: the grammar of options that every proof rests on."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commanding import command, word
from sayso.permission.shell.readonly import prove, rows
from sayso.permission.shell.readonly.table import Program, Table
from sayso.permission.unit import CommandUnit, Word

TABLE = Table(manual="test(1)", short="abn:c?f<", long="all color? width= file< only== last!", operands="files")


def read(text: str, table: Table = TABLE) -> list[str | None] | None:
    reads = table.reads([word(source) for source in text.split()], "/work")
    return None if reads is None else [unit.path for unit in reads]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("-a -b x", ["x"]),
        ("-ab x", ["x"]),
        ("-n 5 x", ["x"]),
        ("-n5 x", ["x"]),
        ("-abn 5 x", ["x"]),
        ("-c x", ["x"]),
        ("-cauto x", ["x"]),
        ("x -a y", ["x", "y"]),
        ("--all x", ["x"]),
        ("--color x", ["x"]),
        ("--color=auto x", ["x"]),
        ("--width 5 x", ["x"]),
        ("--width=5 x", ["x"]),
        ("--only=5 x", ["x"]),
        ("-f list x", ["list", "x"]),
        ("--file=list x", ["list", "x"]),
        ("--last x y", ["y"]),
        ("--last", []),
        ("-- -a -z", ["-a", "-z"]),
        ("-a - x", ["x"]),
    ],
)
def test_an_option_takes_the_words_that_the_row_says(text: str, files: list[str]) -> None:
    assert read(text) == files


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-z x", "not listed"),
        ("-az x", "not listed, in a cluster"),
        ("--zebra x", "not listed"),
        ("--al x", "an abbreviation"),
        ("--all=1 x", "a value that the option does not take"),
        ("--width", "a value is missing"),
        ("-n", "a value is missing"),
        ("--only 5", "the value must be attached"),
        ("$x", "may be an option"),
        ("*.txt", "a file may be named like an option"),
        ("-n $x", "may be several words"),
    ],
)
def test_what_the_row_does_not_say_is_not_proven(text: str, why: str) -> None:
    assert read(text) is None, why


@pytest.mark.parametrize(
    "text",
    ["src/*.txt", '"src/$x"', "./$x.txt -a".replace("$x", "[a]"), "-- $x", "-- *.txt", '-n "$x" y', '--width="$x" y'],
)
def test_a_word_that_cannot_become_an_option_is_an_operand(text: str) -> None:
    assert read(text) is not None


def test_a_tool_without_a_harmful_option_takes_any_word_and_its_reads_are_unknown() -> None:
    harmless = Table(manual="test(1)", short="a", open=True)
    assert read("$x y", harmless) == [None, None, "y"]
    assert read("-z y", harmless) is None


def test_attached_letters_are_letters_where_values_are_words_of_their_own() -> None:
    detached = Table(manual="tree(1)", short="aI:L:", operands="trees", detached=True)
    assert read("-L2 x", detached) == ["x"]
    assert read("-Io pattern out.txt", detached) is None


def test_options_end_at_the_first_operand_where_the_tool_says_so() -> None:
    assert read("x -z", Table(manual="test(1)", operands="text", posix=True)) == []
    assert read("x -z", Table(manual="test(1)", operands="text")) is None


def every_table() -> list[tuple[str, Table]]:
    found: list[tuple[str, Table]] = []
    for name, row in rows().items():
        if isinstance(row, Program):
            found += [(f"{name} {verb}", table) for verb, table in row.commands.items()]
        else:
            found.append((name, row))
    return found


def test_every_row_names_its_manual() -> None:
    assert [name for name, table in every_table() if not table.manual.strip()] == []
    assert [name for name, row in rows().items() if not row.manual.strip()] == []


def test_an_option_that_no_tool_has_is_in_no_row() -> None:
    speaking = {"echo", "expr", "true", "false", "yes", ":", "exit", "return", "[", "[[", "test"}
    for name, table in every_table():
        if name not in speaking:
            assert table.reads([Word("--zebra-not-listed", "")], "/") is None, name


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(sorted(rows())),
    words=st.lists(
        st.sampled_from(["-a", "-o", "--output=x", "x", "--", "", "-", "$x", "\udcff", "-" * 9]), max_size=5
    ),
    unknown=st.integers(min_value=0, max_value=5),
)
def test_no_command_makes_a_proof_raise(name: str, words: list[str], unknown: int) -> None:
    argv = [Word(name, name), *(Word(None if i == unknown else w, w) for i, w in enumerate(words))]
    proof = prove(CommandUnit(argv=tuple(argv), cwd="/"))
    assert proof is None or proof.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("./ls", "a program of that name in the directory"),
        ("bin/ls", "a program of that name somewhere"),
        ("/tmp/ls", "a program of that name somewhere"),
        ("$CMD -la", "an unknown command"),
        ("LD_PRELOAD=./x.so ls", "a variable that loads code"),
        ("PATH=. ls", "a variable that finds another program"),
        ("LANG=$x ls", "a value that is not known"),
        ("GIT_PAGER=less git log", "a pager of its own"),
        ("FOO=bar ls", "a variable that nobody listed"),
    ],
)
def test_the_program_and_its_variables_must_be_known(text: str, why: str) -> None:
    assert prove(command(text)) is None, why


@pytest.mark.parametrize(
    "text", ["/bin/ls", "/usr/bin/ls -la", "LANG=C ls", "LC_ALL=C sort x", "TZ=UTC date", "NO_COLOR=1 ls"]
)
def test_system_programs_and_harmless_variables_are_fine(text: str) -> None:
    assert prove(command(text)) is not None


def test_a_wrapper_that_does_more_than_pass_on_is_no_proof() -> None:
    assert prove(command("ls", wrapped=("timeout", "nice"))) is not None
    assert prove(command("ls", wrapped=("sudo",))) is None
    assert prove(command("git log", cwd="/", wrapped=("env",))) is None, (
        "env may empty the environment that git relies on"
    )


def test_words_that_follow_unseen_count_as_unknown() -> None:
    def followed(text: str) -> CommandUnit:
        unit = command(text)
        return CommandUnit(argv=unit.argv, cwd="/work", wrapped=("xargs",), open_argv=True)

    assert prove(followed("grep -l x")) is not None
    assert prove(followed("sort")) is None
    assert prove(followed("git log")) is None


def test_no_command_is_in_two_families() -> None:
    from sayso.permission.shell.readonly import containers, coreutils, files, languages, shell, system, text

    families: list[Mapping[str, object]] = [
        coreutils.ROWS,
        text.ROWS,
        files.ROWS,
        languages.ROWS,
        system.ROWS,
        containers.ROWS,
        shell.ROWS,
    ]
    names = [name for family in families for name in family]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []

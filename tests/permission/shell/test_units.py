"""A text taken apart: every command, every redirection, and where each of them happens."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shell_text
from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, FileUnit, OpaqueUnit, Unit

quick = settings(max_examples=100, deadline=None)


def units(text: str, **given: object) -> tuple[Unit, ...]:
    return shell_units(text, cwd="/w", home="/h", workspace=["/w"])


def commands(text: str) -> list[str]:
    """The commands of a text, as they are written, in order."""
    found = [unit for unit in units(text) if isinstance(unit, CommandUnit)]
    return [" ".join(word.source for word in unit.argv) for unit in found if unit.argv]


def opaque(text: str) -> list[str]:
    return [unit.why for unit in units(text) if isinstance(unit, OpaqueUnit)]


# -- the gate -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["ls\rrm x", "ls\x0bx", "ls\x0cx", "ls\x00x", "ls \x1b[2J", "ls \u202etxt", "ls '\u200b'", "ls \udcff", "l\u00adx"],
)
def test_a_character_that_a_person_could_not_see_asks(text: str) -> None:
    assert opaque(text)


@pytest.mark.parametrize("text", ["ls 'if then", "if a; then b", "a |", "&& ls", "ls )", "(ls", "case x in", "{ ls"])
def test_what_cannot_be_parsed_asks(text: str) -> None:
    assert opaque(text)


@pytest.mark.parametrize("text", ["\\ ls", "a && \\ ls", "x=1 \\ ls", "if \\ ls; then a; fi", "(\\\tls)"])
def test_what_a_parser_skips_and_bash_does_not_asks(text: str) -> None:
    assert opaque(text)


def test_deny_rules_see_what_can_be_recognised_in_a_text_that_cannot_be_parsed() -> None:
    assert "rm x" in commands("rm x; if")


# -- commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["a; b", "a && b", "a || b", "a | b", "a |& b", "a & b", "a\nb", "a\n\n\nb", "{ a; b; }", "(a; b)", "! a; b",
     "if a; then b; fi", "while a; do b; done", "until a; do b; done", "time a; b", "a # c\nb", "a;b", "a&&b",
     "a && \\\nb", "for x in 1; do a; b; done", "case x in x) a;; *) b;; esac", "a > f; b", "if a\nthen b\nfi",
     "((1)) && a; b", "[[ -f x ]] && a; b", "a &\nb", "for ((i=0;i<2;i++)); do a; b; done"],
)  # fmt: skip
def test_every_command_is_a_unit_whatever_joins_them(text: str) -> None:
    assert [text for text in dict.fromkeys(commands(text)) if text in "ab"] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["x $(a)", 'x "$(a)"', "x `a`", "x <(a)", "x >(a)", "x ${v:-$(a)}", "v=$(a)", "x <<E\n$(a)\nE", "x <<< $(a)",
     "x > $(a)", "case $(a) in *) x;; esac", "for i in $(a); do x; done", "x \"$(y \"$(a)\")\"", "[[ $(a) == b ]]",
     "x <<-E\n\t`a`\n\tE", "x=($(a))", "export LANG=$(a)"],
)  # fmt: skip
def test_the_inside_of_a_substitution_is_a_unit(text: str) -> None:
    assert "a" in commands(text)


@pytest.mark.parametrize("text", ["x '$(a)'", "x \\$\\(a\\)", "x # $(a)", "x <<'E'\n$(a)\nE", 'x "\\$(a)"'])
def test_text_that_only_looks_like_a_substitution_is_none(text: str) -> None:
    assert "a" not in commands(text)


def test_a_continued_line_is_judged_joined_as_well() -> None:
    assert "rm x" in commands("r\\\nm x") or ["rm", "x"] in [
        [word.text for word in unit.argv] for unit in units("r\\\nm x") if isinstance(unit, CommandUnit)
    ]


def test_assignments_stand_before_the_command_that_they_are_for() -> None:
    (unit,) = units("LANG=C FOO='a b' ls")
    assert isinstance(unit, CommandUnit)
    assert [(name, word.text) for name, word in unit.assignments] == [("LANG", "C"), ("FOO", "a b")]
    assert [word.text for word in unit.argv] == ["ls"]


@pytest.mark.parametrize("text", ["'A'=b ls", "./x=y ls", "A-b=c ls"])
def test_what_only_looks_like_an_assignment_is_the_command(text: str) -> None:
    (unit,) = [unit for unit in units(text) if isinstance(unit, CommandUnit)]
    assert unit.assignments == ()


# -- redirections -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "op", "path"),
    [
        ("a > f", "write", "f"),
        ("a >> f", "write", "f"),
        ("a >| f", "write", "f"),
        ("a &> f", "write", "f"),
        ("a >& f", "write", "f"),
        ("a 2> f", "write", "f"),
        ("> f a", "write", "f"),
        ("> f", "write", "f"),
        ("a < f", "read", "f"),
        ("{ a; } > f", "write", "f"),
        ("for i in 1; do a; done > f", "write", "f"),
        ("a > 'f g'", "write", "f g"),
        ("a > ~/f", "write", "/h/f"),
        ("a > $x", "write", None),
        ("a > -", "write", "-"),
        ("a <<'E' > f\nb\nE", "write", "f"),
    ],
)
def test_a_redirection_is_a_file_operation(text: str, op: str, path: str | None) -> None:
    (file,) = [unit for unit in units(text) if isinstance(unit, FileUnit)]
    assert (file.op, file.path, file.cwd) == (op, path, "/w")


@pytest.mark.parametrize(
    "text", ["a > /dev/null", "a 2>&1", "a >&2", "a <&-", "a < /dev/null", "a 2>&1 >&-", "a <<< b"]
)
def test_a_stream_is_no_file(text: str) -> None:
    assert not [unit for unit in units(text) if isinstance(unit, FileUnit)]
    assert not opaque(text)


@pytest.mark.parametrize(
    "text", ["a > /dev/tcp/h/80", "a < /dev/udp/h/53", "a {fd}> f", "exec > f", "exec 3> f", "a >& $x", "a <& $x"]
)
def test_a_redirection_that_does_more_asks(text: str) -> None:
    assert opaque(text)


def test_words_after_a_target_belong_to_the_command() -> None:
    assert commands("a > f b 2>&1 c") == ["a b c"]


@pytest.mark.parametrize(
    "text", ["cat <<E\n$x\nE", "cat <<-'E'\n\ta\n\tE", "cat <<E1 <<E2\n1\nE1\n2\nE2", "cat << \\E\n(\nE"]
)
def test_a_here_document_is_text(text: str) -> None:
    assert commands(text) == ["cat"]
    assert not opaque(text)


def test_what_follows_a_here_document_is_a_command() -> None:
    assert commands("cat <<'E'\nx\nE\nrm y") == ["cat", "rm y"]
    assert commands("cat <<'E' | sh -x f; rm y\nx\nE") == ["cat", "sh -x f", "rm y"]


@pytest.mark.parametrize("text", ["cat <<E\nx", "cat <<E; $(cat <<E\nE\n)", "cat <<E\\\nF\nEF\n"])
def test_a_here_document_that_nobody_could_be_sure_about_asks(text: str) -> None:
    assert opaque(text)


# -- where it happens ---------------------------------------------------------------------------------


def places(text: str, work: Path) -> list[str | None]:
    """Where `a` runs."""
    found = shell_units(text, cwd=str(work), home=str(work.parent), workspace=[str(work)])
    return [
        unit.cwd and os.path.relpath(unit.cwd, work)
        for unit in found
        if isinstance(unit, CommandUnit) and unit.argv and unit.argv[0].text == "a"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ["."]),
        ("cd src && a", ["src"]),
        ("cd src; a", ["src", "."]),
        ("cd src && cd .. && a", ["."]),
        ("cd src || a", ["."]),
        ("(cd src); a", ["."]),
        ("cd src | a", ["."]),
        ("cd src & a", ["."]),
        ("cd .. && a", [None]),
        ("cd $x && a", [None]),
        ("cd && a", [None]),
        ("cd - && a", [None]),
        ("cd link && a", [None]),
        ("pushd src && a", ["src"]),
        ("pushd src && popd && a", [None]),
        ("if cd src; then a; fi", ["src"]),
        ("{ cd src; } && a", ["src"]),
        ("! cd src || a", ["src"]),
        ("while true; do a; cd src; done", [".", None]),
        ("env cd src && a", ["."]),
        ("command cd src && a", ["src"]),
        ("eval 'cd src' && a", [None]),
        ("source x && a", [None]),
        ("x=$(cd src && a)", ["src"]),
        ("env -C src a", ["src"]),
        ("find . -execdir a {} +", [None]),
    ],
)
def test_a_literal_change_of_directory_is_followed_inside_the_workspace(
    tmp_path: Path, text: str, expected: list[str | None]
) -> None:
    work = tmp_path.resolve() / "work"
    (work / "src").mkdir(parents=True)
    (work / "link").symlink_to("/usr")
    assert places(text, work) == expected


def test_the_target_of_a_redirection_lies_where_the_command_runs(tmp_path: Path) -> None:
    work = tmp_path.resolve()
    (work / "src").mkdir()
    found = shell_units("cd src && a > f", cwd=str(work), workspace=[str(work)])
    assert [unit.cwd for unit in found if isinstance(unit, FileUnit)] == [str(work / "src")]


# -- laws ---------------------------------------------------------------------------------------------


@quick
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.sampled_from(["\n", "; ", " && ", " | ", " & "]))
def test_joining_two_texts_keeps_the_commands_of_both(first: int, second: int, operator: str) -> None:
    one, two = shell_text.program(first), shell_text.program(second)
    if "<<" in one + two or opaque(one) or opaque(two) or opaque(joined := f"{{ {one}\n}}{operator}{{ {two}\n}}"):
        return
    assert set(commands(one)) | set(commands(two)) <= set(commands(joined))


@quick
@given(st.integers(0, 100_000), st.sampled_from([shell_text.program, shell_text.damaged, shell_text.soup]))
def test_no_text_makes_it_raise_and_it_always_finds_something(seed: int, make: object) -> None:
    assert callable(make)
    text = make(seed)
    if text.strip() and not text.lstrip().startswith("#"):
        assert isinstance(units(text), tuple)

"""Words: exact where they are literal, unknown where only running would tell."""

import shlex
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, OpaqueUnit, Word

quick = settings(max_examples=150, deadline=None)


def words(text: str) -> list[Word]:
    """The argv of the only command of a text of which all is understood."""
    units = shell_units(text, cwd="/w", home="/home/me", workspace=["/w"])
    (unit,) = units
    assert isinstance(unit, CommandUnit)
    return list(unit.argv)


def texts(text: str) -> list[str | None]:
    return [word.text for word in words(text)]


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("a b  c\td", ["a", "b", "c", "d"]),
        ("'a'\"b\"c", ["abc"]),
        (r"a\ b \;", ["a b", ";"]),
        (r"""echo "a\$b\"c\\d\e" """, ["echo", 'a$b"c\\d\\e']),
        (r"echo 'a\b'", ["echo", r"a\b"]),
        (r"echo $'\x41\t\101\''", ["echo", "A\tA'"]),
        ("echo '' \"\"", ["echo", "", ""]),
        ("echo a#b {} {a} a] !", ["echo", "a#b", "{}", "{a}", "a]", "!"]),
        ("ls ~ ~/x $HOME/y ${HOME}", ["ls", "/home/me", "/home/me/x", "/home/me/y", "/home/me"]),
        ("ls $PWD/x", ["ls", "/w/x"]),
        ("echo 日本 'é'", ["echo", "日本", "é"]),
        ("echo a=~b 'a'=b", ["echo", None, "a=b"]),
    ],
)
def test_a_literal_word_has_the_text_that_bash_passes(text: str, argv: list[str | None]) -> None:
    assert texts(text) == argv


@pytest.mark.parametrize(
    "word",
    ["$x", '"$x"', "${x:-y}", "$(echo a)", "`echo a`", "*.py", "a?", "[ab]", "{a,b}", "a{1..3}", "~bob", "$1", "$(("
     "1+1))", "$?", '$"t"', "<(ls)"],
)  # fmt: skip
def test_a_word_that_only_running_would_tell_has_no_text(word: str) -> None:
    units = shell_units(f"cmd {word}", cwd="/w", home="/h")
    *_, unit = [unit for unit in units if isinstance(unit, CommandUnit)]
    assert unit.argv[1].text is None
    assert unit.argv[1].source == word
    assert not any(isinstance(found, OpaqueUnit) for found in units)


@pytest.mark.parametrize(
    ("word", "prefix", "single"),
    [
        ('src/"$x"', "src/", True),
        ("src/$x", "", False),
        ("src/*.py", "src/", False),
        ('--o="$x"', "--o=", True),
        ("$((1+1))", "", True),
        ("$?", "", True),
        ('"$@"', "", False),
        ("<(ls)", "/", True),
        ("a{b,c}", "a", False),
    ],
)
def test_what_is_certain_of_an_unknown_word_is_kept(word: str, prefix: str, single: bool) -> None:
    *_, unit = [unit for unit in shell_units(f"cmd {word}", cwd="/w") if isinstance(unit, CommandUnit)]
    assert (unit.argv[1].prefix, unit.argv[1].single) == (prefix, single)


@pytest.mark.parametrize(
    "text",
    ["echo ${x@P}", "echo ${!x}", "echo $[1+1]", "echo ${a[$(ls)]}", "echo ${ ls; }", "echo $((a[$(ls)]))", "ls 'abc",
     'ls "a', "ls a\u00a0b", "ls \u2003", "echo ${x", "ls $(ls", "echo $((x=1, PATH=2))"],
)  # fmt: skip
def test_what_may_run_code_or_is_no_word_asks(text: str) -> None:
    assert any(isinstance(unit, OpaqueUnit) for unit in shell_units(text, cwd="/w"))


def test_a_value_in_arithmetic_must_be_a_number_in_all_the_text() -> None:
    assert not any(isinstance(unit, OpaqueUnit) for unit in shell_units("x=1; echo $((x + 1))", cwd="/w"))
    assert any(isinstance(unit, OpaqueUnit) for unit in shell_units("x='a[$(rm f)]'; echo $((x))", cwd="/w"))
    assert any(isinstance(unit, OpaqueUnit) for unit in shell_units("echo $((x)); read x", cwd="/w"))


QUOTINGS: list[Callable[[str], str]] = [
    shlex.quote,
    lambda text: "'" + text.replace("'", "'\\''") + "'",
    lambda text: '"' + "".join("\\" + c if c in '"\\$`' else c for c in text) + '"',
    lambda text: "$'" + "".join("\\" + c if c in "'\\" else c for c in text) + "'",
    lambda text: "$'" + "".join(f"\\x{byte:02x}" for byte in text.encode()) + "'",
    lambda text: "''" + shlex.quote(text) + '""',
]
plain = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x17F, exclude_characters="\x7f\xad"), max_size=8
).filter(lambda text: all(c.isprintable() for c in text))


@quick
@given(st.lists(plain, min_size=1, max_size=4), st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_quoting_a_word_in_another_way_never_changes_what_it_is(values: list[str], how: list[int]) -> None:
    text = "cmd " + " ".join(QUOTINGS[style](value) for value, style in zip(values, how, strict=False))
    assert texts(text) == ["cmd", *values]


@quick
@given(st.text("é日😀ñ", min_size=1, max_size=6), st.sampled_from(["rm a > b", "a $(b c)", "cd x && d", "a <<E\nb\nE"]))
def test_text_of_several_bytes_a_character_in_front_changes_nothing(front: str, text: str) -> None:
    alone = shell_units(text, cwd="/w", workspace=["/w"])
    assert shell_units(f"echo {front}\n{text}", cwd="/w", workspace=["/w"])[1:] == alone

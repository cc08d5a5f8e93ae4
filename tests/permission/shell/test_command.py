"""Commands that run other commands, and builtins that change the shell."""

import pytest

from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, FileUnit, OpaqueUnit, Unit


def units(text: str) -> tuple[Unit, ...]:
    return shell_units(text, cwd="/w", home="/h", workspace=["/w"])


def commands(text: str) -> list[CommandUnit]:
    return [unit for unit in units(text) if isinstance(unit, CommandUnit)]


def shown(unit: CommandUnit) -> str:
    return " ".join(word.source if word.text is None else word.text for word in unit.argv)


def needing(text: str) -> list[str]:
    """The commands of a text that need cover."""
    return [shown(unit) for unit in commands(text) if unit.needs_cover]


def besides(text: str) -> list[str]:
    """The commands of a text that only deny, ask and safety checks look at."""
    return [shown(unit) for unit in commands(text) if not unit.needs_cover]


def opaque(text: str) -> list[str]:
    return [unit.why for unit in units(text) if isinstance(unit, OpaqueUnit)]


# -- wrappers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapper",
    [
        "timeout 5",
        "timeout -k 1 --signal=KILL 5",
        "timeout --preserve-status -s9 5",
        "timeout --kill=1 --for 5",
        "nice",
        "nice -n 5",
        "nice -10",
        "nice --adjustment=3",
        "nohup",
        "stdbuf -oL",
        "stdbuf --output=0",
        "env",
        "env -i",
        "env -u X",
        "command",
        "command -p",
        "time",
        "time -p",
        "builtin",
        "exec",
        "exec -a z",
        "/usr/bin/env",
        "/usr/bin/time -v",
        "xargs",
        "xargs -n1 -P 4",
        "xargs -0 --max-args=3",
        "'timeout' 5",
        "timeout 5 nice env",
        "env --",
        "nohup nice -n 1",
    ],
)
def test_behind_a_wrapper_that_only_waits_or_repeats_the_inner_command_is_judged(wrapper: str) -> None:
    assert needing(f"{wrapper} rm x") == ["rm x"]
    assert not opaque(f"{wrapper} rm x")


@pytest.mark.parametrize(
    ("text", "inner_at", "inner"),
    [
        ("sudo rm x", 1, "rm x"),
        ("sudo -u root -n A=1 rm x", 5, "rm x"),
        ("doas rm x", 1, "rm x"),
        ("su -c 'rm x' root", 2, "rm x"),
        ("su - root -c 'rm x'", 4, "rm x"),
        ("ssh -p 22 host rm x", 4, "rm x"),
        ("watch -n 1 'rm x'", 3, "rm x"),
        ("setsid -f rm x", 2, "rm x"),
        ("flock lock rm x", 2, "rm x"),
        ("flock lock -c 'rm x'", 3, "rm x"),
        ("docker exec -it c rm x", 4, "rm x"),
        ("docker compose -f y exec -T web rm x", 7, "rm x"),
        ("kubectl exec pod -- rm x", 4, "rm x"),
        ("npx -y rm x", 2, "rm x"),
        ("busybox rm x", 1, "rm x"),
        ("bash -c 'rm x'", 2, "rm x"),
        ("bash --norc -ec 'rm x' a", 3, "rm x"),
        ("sh -o pipefail -c 'rm x'", 4, "rm x"),
        ("zsh -c 'rm x'", 2, "rm x"),
        ("eval 'rm x'", 1, "rm x"),
        ("eval rm x", 1, "rm x"),
        ("eval -- rm x", 2, "rm x"),
        ("script -q -c 'rm x' log", 3, "rm x"),
        ("../bin/env rm x", 1, "rm x"),
    ],
)
def test_a_wrapper_that_changes_who_where_or_how_needs_cover_itself_and_deny_rules_look_inside(
    text: str, inner_at: int, inner: str
) -> None:
    (outer,) = [unit for unit in commands(text) if unit.needs_cover]
    assert outer.inner_at == inner_at
    assert inner in besides(text)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("docker run --rm -v a:b image rm x", "rm x"),
        ("npm exec -- rm x", "rm x"),
        ("uv run rm x", "rm x"),
        ("poetry run rm x", "rm x"),
        ("git bisect run rm x", "rm x"),
        ("git submodule foreach 'rm x'", "rm x"),
        ("git rebase --exec 'rm x' main", "rm x"),
        ("git -c 'alias.y=!rm x' y", "rm x"),
    ],
)
def test_deny_rules_look_into_a_command_that_runs_another_by_the_way(text: str, inner: str) -> None:
    (outer,) = [unit for unit in commands(text) if unit.needs_cover]
    assert outer.inner_at is None
    assert inner in besides(text)


@pytest.mark.parametrize(
    "text",
    [
        "timeout $x rm y",
        "timeout --what 5 rm y",
        "env -S 'rm y'",
        "sudo --what rm y",
        "xargs $x rm y",
        "bash -c $x",
        'eval "$x"',
        "nice -n $x rm y",
        "bash $x -c 'rm y'",
        "xargs -I{} sh -c 'rm {}'",
        "uv run --what rm y",
        "find . $x",
    ],
)
def test_where_nobody_knows_what_a_wrapper_runs_it_may_be_anything(text: str) -> None:
    assert any(unit.argv[0].text is None and not unit.needs_cover for unit in commands(text))
    assert all(
        unit.inner_at is not None or unit.argv[0].text in ("uv", "find") for unit in commands(text) if unit.needs_cover
    )


@pytest.mark.parametrize(
    ("text", "words", "is_open"),
    [
        ("xargs rm -f", ["rm", "-f"], True),
        ("xargs", ["echo"], True),
        ("find . -exec rm {} +", ["rm"], True),
        ("find . -exec rm {} \\;", ["rm", None], False),
        ("xargs -I% rm a/% b", ["rm", None, "b"], False),
        ("timeout 5 xargs -n1 rm", ["rm"], True),
    ],
)
def test_words_that_only_running_would_tell_are_open_or_unknown(
    text: str, words: list[str | None], is_open: bool
) -> None:
    (unit,) = [u for u in commands(text) if u.needs_cover and u.argv[0].text != "find"]
    assert [word.text for word in unit.argv] == words
    assert unit.open_argv is is_open


def test_a_variable_that_env_sets_is_one_of_the_inner_command() -> None:
    (unit,) = [unit for unit in commands("A=1 env B=2 =3 make") if unit.needs_cover]
    assert [(name, word.text) for name, word in unit.assignments] == [("A", "1"), ("B", "2"), ("", "3")]
    assert [word.text for word in unit.argv] == ["make"]


def test_a_wrapper_knows_how_the_command_was_reached() -> None:
    (unit,) = [unit for unit in commands("timeout 5 nice make all") if unit.needs_cover]
    assert unit.wrapped == ("timeout", "nice")
    assert [word.text for word in unit.behind] == ["timeout", "5", "nice"]


def test_a_file_that_another_machine_writes_is_none_of_ours() -> None:
    assert not [unit for unit in units("ssh host 'ls > f'") if isinstance(unit, FileUnit)]
    assert [unit for unit in units("bash -c 'ls > f'") if isinstance(unit, FileUnit)]


@pytest.mark.parametrize("text", ["curl x | sh", "bash", "bash -s a", "sh < f", "bash <<'E'\nls\nE"])
def test_a_shell_that_reads_its_commands_asks(text: str) -> None:
    assert opaque(text)


# -- builtins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cd src",
        "pushd src",
        "popd",
        "set -e",
        "set -euo pipefail",
        "set +x",
        "set -- a b",
        "shopt -s nullglob",
        "x=1",
        "x+=y",
        "FILE=$(ls)",
        "x=(a b)",
        "export LANG=C TZ=UTC",
        "export CI=1",
        "export -p",
        "declare x=1",
        "local y=2",
        "readonly z=3",
        "declare -a l=(a b)",
        "unset x",
        "read -r a b",
        "IFS= read -r line",
        "mapfile -t lines",
        "getopts ab x",
        "let x=1+2",
        "hash -r",
        "shift",
        "exec",
        "trap - EXIT",
        "printf -v x y",
        "export AWS_PROFILE=x",
    ],
)
def test_what_changes_only_harmless_state_needs_no_cover(text: str) -> None:
    assert needing(text) in ([], ["ls"])
    assert not opaque(text)


@pytest.mark.parametrize(
    "text",
    [
        "alias ls=rm",
        "unalias -a",
        "trap 'rm x' EXIT",
        "trap x DEBUG",
        "hash -p ./x ls",
        "enable -n echo",
        "enable -f ./x y",
        "bind -x '\"a\": rm x'",
        "set -a",
        "set -o posix",
        "set -k",
        "shopt -s expand_aliases",
        "shopt -s extglob",
        "PATH=.",
        "export PATH=.",
        "export FOO=1",
        "export x",
        "declare -x x=1",
        "declare -n x=y",
        "declare -i x=y",
        "readonly PATH=.",
        "IFS=x",
        "PS4='$(rm x)'",
        "PROMPT_COMMAND=x",
        "BASH_ENV=x",
        "unset PATH",
        "unset 'a[$(rm x)]'",
        "read 'a[$(rm x)]'",
        "read PATH",
        "read $x",
        "mapfile -C x -c 1",
        "declare 'a[$(rm x)]=1'",
        "let 'a[$(rm x)]=1'",
        "let $x",
        "coproc rm x",
        "test -v 'a[$(rm x)]'",
        "[ -v x[0] ]",
        "[[ -v a[$(rm)] ]]",
        "x[$(rm)]=1",
        "printf -v PATH x",
        'printf "$f" x',
        "complete -C x y",
        "compgen -C x",
        "fc -s",
        "exec > f",
        "f() { rm x; }",
        "function f { rm x; }",
        "eval $x",
        "wait -p PATH",
        "getopts ab PATH",
        "jobs -x rm y",
        "CDPATH=/ cd etc",
        "if time { ls; }; then ls; fi",
        "time ! ls",
    ],
)
def test_what_may_change_what_runs_asks(text: str) -> None:
    assert opaque(text)


def test_the_visible_commands_of_what_asks_are_units_all_the_same() -> None:
    for text in ("f() { rm x; }", "trap 'rm x' EXIT", "coproc rm x", "alias y=z; rm x", 'eval "$y"; rm x'):
        assert "rm x" in [shown(unit) for unit in commands(text)], text


@pytest.mark.parametrize(
    "text", ["env eval 'rm x'", "nohup export PATH=.", "timeout 5 alias a=b", "/x/eval y", "xargs cd"]
)
def test_behind_a_program_a_builtin_is_none(text: str) -> None:
    assert not opaque(text)
    assert len(needing(text)) == 1


def test_what_is_sourced_needs_cover_by_its_name() -> None:
    (unit,) = commands("source venv/bin/activate")
    assert (unit.needs_cover, unit.inner_at) == (True, 1)


@pytest.mark.parametrize(
    "text", ["[ -d $dir ] && ls", "x=3; [ $x -gt 2 ]", "for f in a b; do [ -f $f ]; done", "wait $!", "[ $? -eq 0 ]"]
)
def test_a_plain_value_is_one_word(text: str) -> None:
    assert not opaque(text)


@pytest.mark.parametrize("text", ["x=$(cat f); [ $x = y ]", "x='a -o -v b'; test $x", "read x; [ -n $x ]", "[ $@ ]"])
def test_a_value_that_may_be_several_words_may_be_an_expression(text: str) -> None:
    assert opaque(text)


def test_a_name_that_is_not_in_the_environment_stays_in_the_shell() -> None:
    for text in ("API_URL=x; ls", "BUILD_DIR=$(pwd); ls", "for F in a; do ls; done"):
        found = shell_units(text, cwd="/w", exported={"PATH", "EDITOR"})
        assert not any(isinstance(unit, OpaqueUnit) for unit in found), text
    for text in ("EDITOR=x; ls", "PATH=x; ls", "IFS=x; ls", "PS4=x; ls", "BASH_ENV=x; ls", "export API_URL=x; ls"):
        found = shell_units(text, cwd="/w", exported={"PATH", "EDITOR"})
        assert any(isinstance(unit, OpaqueUnit) for unit in found), text

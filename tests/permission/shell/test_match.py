"""Which commands a rule matches: strictly for allow, leniently for deny and ask."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import InvalidRule
from sayso.permission import PermissionBehavior, PermissionRule
from sayso.permission.shell.match import (
    CommandIndex,
    Match,
    explain_pattern,
    match_command,
    quote,
    validate_pattern,
)
from sayso.permission.shell.units import shell_units
from sayso.permission.unit import CommandUnit, Word


def unit(text: str) -> CommandUnit:
    """The last command of a text that needs cover."""
    found = shell_units(text, cwd="/w", home="/h", workspace=["/w"])
    return [unit for unit in found if isinstance(unit, CommandUnit) and unit.needs_cover][-1]


def covers(pattern: str, text: str) -> bool:
    return match_command(pattern, unit(text), lenient=False) is Match.CERTAIN


def holds(pattern: str, text: str) -> Match:
    return match_command(pattern, unit(text), lenient=True)


# -- allow --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("npm test", "npm test"),
        ("npm test", "npm  'test'"),
        ("npm test:*", "npm test"),
        ("npm test:*", "npm test -- --watch"),
        ("npm test:*", "npm test $x"),
        ("npm test:*", "CI=1 LANG=C npm test"),
        ("npm test:*", "timeout 60 npm test"),
        ("npm test:*", "npm test | cat && npm test"),
        ("timeout 60 npm test:*", "timeout 60 npm test -x"),
        ("git *", "git"),
        ("git *", "git push origin"),
        ("git * main", "git push origin main"),
        ("git * main", "git push $x main"),
        ("npm run *", "npm run build --all"),
        ("npm run test*", "npm run test:unit --all"),
        ("*", "python3 x.py"),
        ("* --version", "node --version"),
        ("./run.sh:*", "./run.sh a"),
        ("./scripts/*", "./scripts/a.sh -x"),
        ("rm build/*", "rm build/x"),
        ("rm build/*.o", "rm build/a.o"),
        ("git:*", "/usr/bin/git status"),
        (r"echo \*", "echo '*'"),
        ("git commit -m 'a b'", 'git commit -m "a b"'),
        ("FOO=1 make:*", "FOO=1 make all"),
        ("sudo npm:*", "sudo npm test"),
        ("bash -c 'npm test'", "bash -c 'npm test'"),
        ("xargs grep:*", "xargs grep x"),
        ("grep:*", "xargs grep x"),
    ],
)
def test_an_allow_rule_covers_what_it_says(pattern: str, text: str) -> None:
    assert covers(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("npm test", "npm test x"),
        ("npm test", "'npm test'"),
        ("npm test:*", "npm tests"),
        ("npm test:*", "npm 'test x'"),
        ("npm test:*", "npm $x"),
        ("npm test:*", "npm -s test"),
        ("npm test:*", "PATH=. npm test"),
        ("npm test:*", "FOO=1 npm test"),
        ("npm test:*", "LANG=$x npm test"),
        ("npm test:*", "env PATH=. npm test"),
        ("npm test:*", "sudo npm test"),
        ("npm test:*", "bash -c 'npm test'"),
        ("npm test", "xargs npm test"),
        ("npm test:*", "$x npm test"),
        ("npm:*", "./npm i"),
        ("npm:*", "/tmp/npm i"),
        ("npm:*", "NPM i"),
        ("./npm:*", "npm i"),
        ("git *", "gitk"),
        ("git * main", "git main"),
        ("git * main", "git push origin main2"),
        ("git status:*", "git -C x status"),
        ("rm -rf:*", "rm -fr x"),
        ("rm build/*", "rm build/../x"),
        ("rm build/*", "rm build/x y"),
        ("rm build/*", "rm build/x/../../y"),
        ("rm build/*", "rm build/$x"),
        ("./scripts/*", "./scripts/../x"),
        (r"echo \*", "echo x"),
        ("echo '*'", "echo x"),
        ("*", "$x y"),
        ("*", "sudo rm x"),
        ("sudo:*", "sudo rm x"),
        ("sudo *", "sudo rm x"),
        ("bash:*", "bash -c 'npm test'"),
        ("bash -c:*", "bash -c 'npm test'"),
        ("timeout:*", "timeout 5 rm x"),
        ("xargs:*", "xargs rm"),
        ("env:*", "env rm x"),
        ("npx:*", "npx evil"),
        ("FOO=1 make:*", "make all"),
        ("FOO=1 make:*", "FOO=2 make all"),
        ("FOO=1 make:*", "FOO=1 PATH=. make all"),
    ],
)
def test_an_allow_rule_covers_nothing_else(pattern: str, text: str) -> None:
    assert not covers(pattern, text)


# -- deny and ask -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("rm:*", "rm x"),
        ("rm:*", "/bin/rm x"),
        ("rm:*", "../../bin/rm x"),
        ("rm:*", "\\rm x"),
        ("rm:*", "r''m x"),
        ("rm:*", "timeout 5 rm x"),
        ("rm:*", "xargs rm"),
        ("rm:*", "PATH=. rm x"),
        ("rm:*", "rm $x"),
        ("rm", "rm"),
        ("git push:*", "git -C x push"),
        ("git push:*", "git -c a.b=c --no-pager push origin"),
        ("git push:*", "/usr/bin/git --git-dir=x push"),
        ("curl *", "curl"),
        ("curl *", "curl x"),
        ("git * main", "git main"),
        ("rm build/*", "rm build/x y"),
        ("/usr/bin/curl:*", "curl x"),
        ("./run.sh:*", "./run.sh"),
        ("sudo:*", "sudo rm x"),
        ("FOO=1 make:*", "FOO=1 BAR=2 make"),
    ],
)
def test_a_deny_rule_holds_however_the_program_is_called(pattern: str, text: str) -> None:
    assert holds(pattern, text) is Match.CERTAIN


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("rm:*", "$x y"),
        ("rm:*", '"$x" y'),
        ("rm:*", "RM x"),
        ("git push:*", "git $x"),
        ("git push:*", "$x push"),
        ("git push:*", "git $x push"),
        ("git push:*", 'git "$x" y'),
        ("npm publish", "npm $x"),
        ("npm publish", "npm publish $x"),
        ("npm publish", "xargs npm"),
        ("rm -rf:*", "rm -fr x"),
        ("rm -rf:*", "rm -r -f x"),
        ("rm -rf:*", "rm --recursive --force x"),
        ("git push --force:*", "git push origin main --force"),
        ("npm publish:*", "npm --tag x publish"),
        ("docker push:*", "docker -H h push x"),
        ("rm *.py", "rm $x"),
        ("./run.sh:*", "../w/run.sh"),
        ("FOO=1 make", "FOO=$x make"),
    ],
)
def test_a_deny_rule_that_may_hold_says_so(pattern: str, text: str) -> None:
    assert holds(pattern, text) is Match.MAY


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("rm:*", "ls rm"),
        ("rm:*", "echo 'rm x'"),
        ("rm:*", "rmdir x"),
        ("rm", "rm x"),
        ("install", "npm install x"),
        ("git push:*", "git log --grep 'git push'"),
        ("git push:*", "git log push"),
        ("git push:*", "git log $x"),
        ("git push:*", "git -C push log"),
        ("npm publish", "npm publish --dry-run"),
        ("./run.sh:*", "run.sh"),
        ("rm -rf:*", "rm -r x"),
        ("FOO=1 make", "make"),
    ],
)
def test_a_deny_rule_does_not_hold_for_another_command(pattern: str, text: str) -> None:
    assert holds(pattern, text) is Match.CANNOT


# -- the language -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "  ",
        ":*",
        "a && b",
        "a | b",
        "a; b",
        "a > f",
        "echo 'x",
        'echo "x',
        "echo \\",
        "FOO=1",
        "FOO=1:*",
        "a\x00b",
        "a \udc2a",
    ],
)
def test_a_pattern_that_can_never_match_is_refused(content: str) -> None:
    with pytest.raises(InvalidRule):
        validate_pattern(content)


@pytest.mark.parametrize(
    "content", ["rm", "echo it\\'s", "echo 'a;b'", "find . -exec rm {} \\;", "a:b:*", "* x", "é 日"]
)
def test_a_pattern_that_can_match_is_none(content: str) -> None:
    validate_pattern(content)


@given(
    st.lists(st.text(max_size=6).filter(lambda t: not set(t) & set("\0") and t.isprintable()), min_size=1, max_size=4)
)
@settings(max_examples=150, deadline=None)
def test_a_quoted_word_stands_for_itself_alone(texts: list[str]) -> None:
    words = ["cmd", *texts]
    command = CommandUnit(argv=tuple(Word(text, text) for text in words))
    pattern = " ".join(map(quote, words))
    assert match_command(pattern, command, lenient=False) is Match.CERTAIN
    longer = CommandUnit(argv=(*command.argv, Word("x", "x")))
    assert match_command(pattern, longer, lenient=False) is Match.CANNOT
    assert match_command(pattern + ":*", longer, lenient=False) is Match.CERTAIN


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("npm test", "exactly the command `npm test`"),
        ("rm:*", "the command `rm` with any arguments"),
        ("git push:*", "any command that begins with `git push`"),
        ("git * main", "any command of the form `git * main`, where `*` is any text"),
        ("*", "any simple command"),
        (r"echo \*", "exactly the command `echo '*'`"),
    ],
)
def test_a_pattern_is_explained_in_words(content: str, sentence: str) -> None:
    assert explain_pattern(content) == sentence


# -- many rules ---------------------------------------------------------------------------------------


def rules(*contents: str | None) -> list[PermissionRule]:
    return [
        PermissionRule(tool_name="Bash", rule_content=content, behavior=PermissionBehavior.ALLOW)
        for content in contents
    ]


PATTERNS = [
    "git push:*",
    "git push",
    "git * main",
    "git -C x:*",
    "git:*",
    "rm -rf:*",
    "rm:*",
    "rm build/*",
    "./run.sh:*",
    "* -x",
    "*",
    "npm run a:*",
    "npm run b",
    "FOO=1 make:*",
    "GIT log:*",
    "/bin/rm:*",
    "npm * b",
    "git log --oneline *",
    "ls a b:*",
]
TEXTS = [
    "git push",
    "git push x",
    "git -C x push main",
    "git log main",
    "git log --oneline x",
    "rm -fr x",
    "/bin/rm x",
    "rm build/a",
    "./run.sh",
    "../run.sh",
    "npm run a",
    "npm run b",
    "npm run $x",
    "$x y",
    "git $x",
    "FOO=1 make",
    "make",
    "GIT push",
    "git LOG",
    "xargs git",
    "xargs npm run",
    "timeout 5 rm x",
    "sudo rm x",
    "ls a b c",
    "ls a",
    "cmd -x",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PATTERNS), max_size=6), st.sampled_from(TEXTS))
def test_an_index_finds_what_comparing_each_rule_would_find(patterns: list[str], text: str) -> None:
    command = unit(text)
    index = CommandIndex(rules(*patterns, None))
    covering = [pattern for pattern in patterns if covers(pattern, text)]
    found = index.covering(command)
    assert (found is not None) == bool(covering)
    assert found is None or found.rule_content in covering
    holding = [match_command(pattern, command, lenient=True) for pattern in patterns]
    best = Match.CERTAIN if Match.CERTAIN in holding else Match.MAY if Match.MAY in holding else None
    hit = index.holding(command)
    assert (hit and hit[0]) == best


def test_an_unreadable_rule_covers_nothing_and_may_hold_for_everything() -> None:
    index = CommandIndex(rules("echo 'x"))
    assert index.covering(unit("echo x")) is None
    assert index.holding(unit("ls")) == (Match.MAY, rules("echo 'x")[0])


@pytest.mark.parametrize(
    "form", ["cmd{}:*", "git sub{}:*", "npm run t{}:*", "git commit -m x{}", "git * b{}", "./s/{}.sh:*"]
)
def test_ten_thousand_rules_cost_no_more_than_twice_ten(form: str) -> None:
    commands = [unit(text) for text in ("git push origin", "npm run build", "ls -la", "./s/9.sh a", "git -C x log")]

    def cost(index: CommandIndex) -> float:
        spent = []
        for _ in range(9):
            before = time.thread_time()
            for _ in range(20):
                for command in commands:
                    index.covering(command)
                    index.holding(command)
            spent.append(time.thread_time() - before)
        return min(spent)

    few, many = (CommandIndex(rules(*(form.format(n) for n in range(count)))) for count in (10, 10_000))
    assert cost(many) <= 2 * cost(few) + 0.001

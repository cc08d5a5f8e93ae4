"""Whatever the size and shape of a text, it is read in a moment or asks."""

import time

import pytest

from sayso.permission.shell.units import shell_units
from sayso.permission.unit import OpaqueUnit

# What is promised is 50 ms; a busy machine with slow cores is given more.
MOST_SECONDS = 0.3
SHAPES = {
    "many commands": ("ls && ", 30_000),
    "a long pipeline": ("a|", 90_000),
    "many lines": ("ls -la x\n", 20_000),
    "many words": ("x ", 90_000),
    "one long word": ("x", 190_000),
    "many quotes": ("'x' ", 40_000),
    "many expansions": ('"$x" ', 30_000),
    "open parentheses": ("(", 190_000),
    "closed parentheses": (")", 190_000),
    "open braces": ("{ ", 90_000),
    "nested substitutions": ("$(", 90_000),
    "quoted substitutions": ('"$(', 60_000),
    "backticks": ("`", 190_000),
    "backslashes": ("\\", 190_000),
    "continued lines": ("a \\\n", 40_000),
    "dollars": ("$", 190_000),
    "parameters": ("${x:-", 30_000),
    "arithmetic": ("$((1+", 30_000),
    "bars": ("|", 190_000),
    "redirections": ("> a ", 40_000),
    "here-documents": ("cat <<E\nx\nE\n", 15_000),
    "operators of here-documents": ("<<a ", 40_000),
    "here-documents without an end": ("<<E\n", 40_000),
    "conditions": ("if a; then ", 15_000),
    "cases": ("case x in ", 15_000),
    "wrappers": ("env ", 40_000),
    "privileges": ("sudo ", 30_000),
    "evaluations": ("eval ", 30_000),
    "shells": ('bash -c "', 20_000),
    "finds": ("find . -exec ", 14_000),
    "tests": ("[[ a && ", 20_000),
    "assignments": ("x=1;", 40_000),
    "tildes": ("~]", 90_000),
    "globs": ("*", 190_000),
    "comments": ("#", 190_000),
    "functions": ("f() ", 40_000),
    "letters of several bytes": ("é", 90_000),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [1.0, 0.1, 0.01])
def test_no_text_takes_long(shape: str, share: float) -> None:
    unit, count = SHAPES[shape]
    text = unit * max(1, int(count * share))
    shell_units("ls", cwd="/w")
    spent = []
    for _ in range(2):
        before = time.thread_time()
        shell_units(text, cwd="/w", home="/h", workspace=["/w"])
        spent.append(time.thread_time() - before)
    assert min(spent) < MOST_SECONDS


@pytest.mark.parametrize(
    "text", ["x" * 200_001, "ls;" * 20_000, "$(" * 100 + "ls" + ")" * 100, "env " * 100 + "ls", "eval " * 100 + "ls"]
)
def test_a_text_beyond_the_limits_asks(text: str) -> None:
    assert any(isinstance(unit, OpaqueUnit) for unit in shell_units(text, cwd="/w"))


def test_a_long_here_document_is_within_the_limits() -> None:
    text = "cat <<'E' > f\n" + 'a line of some text, (with) "marks" $and `all`\n' * 3000 + "E"
    assert not any(isinstance(unit, OpaqueUnit) for unit in shell_units(text, cwd="/w"))

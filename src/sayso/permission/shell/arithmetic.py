"""Which arithmetic only computes.

Bash evaluates the value of a variable in arithmetic as an expression of its own, and a subscript in it runs command
substitutions: `x='a[$(rm f)]'; echo $((x))` runs rm (bash(1), "ARITHMETIC EVALUATION"). So names may stand here only
if all that the text gives to them is numbers. Owns this check; knows no command.
"""

import re

from sayso.permission.shell.scan import NotAWord, Scanner
from sayso.permission.shell.variable import Value, Variables

__all__ = ["check", "evaluate", "rely_on_number"]

_TOKEN = re.compile(
    rb"""(?P<skip>[\s+\-*/%<>=!&|^~?:,]+|(?:0[xX][0-9A-Fa-f]+|[0-9]+(?:\#[0-9A-Za-z@_]+)?)(?![0-9A-Za-z_])|\$[#?$!])
    |(?P<open>\$?\(\(|\()|(?P<close>\))
    |(?:(?P<step>\+\+|--)[ \t]*)?(?:\$\{(?P<braced>[A-Za-z_]\w*)\}|\$\{\#\w+(?:\[[@*]\])?\}|\$?(?P<name>[A-Za-z_]\w*))
        (?:\[(?P<index>\d+|\$?[A-Za-z_]\w*)\])?(?P<sets>\s*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--))?
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def rely_on_number(variables: Variables, name: str) -> None:
    """The value of this name is evaluated."""
    variables.demand(name, Value.NUMBER, f"arithmetic evaluates ${name}, whose value may hold a command")


def evaluate(scanner: Scanner, at: int, end: int) -> int | None:
    """Read from after `((` to after the matching `))`; None where the parentheses close otherwise.

    Raises NotAWord for what may run a command.
    """
    data = scanner.data
    depth = 2
    spoilt: str | None = None
    while at < end:
        token = _TOKEN.match(data, at, end)
        if token is None:
            break
        kind = token.lastgroup
        at = token.end()
        if kind == "open":
            depth += token[0].count(b"(")
        elif kind == "close":
            depth -= 1
            if depth == 1 and data[at : at + 1] != b")":
                # Then Bash takes it for a command substitution that starts with a subshell.
                return None
            if depth == 0:
                if spoilt:
                    raise NotAWord(spoilt)
                return at
        elif kind == "other":
            spoilt = spoilt or f"arithmetic with {token[0].decode(errors='replace')!r} in it may run a command"
            if data[token.start() : token.start() + 2] == b"$(" or token[0] == b"`":
                at = scanner.inside(token.start(), True)
        else:
            _use(scanner.variables, token)
    return None


def check(scanner: Scanner, start: int, end: int) -> None:
    """The whole text between these offsets is an expression. Raises NotAWord for what may run a command."""
    at = start
    depth = 0
    while at < end:
        token = _TOKEN.match(scanner.data, at, end)
        kind = None if token is None else token.lastgroup
        if token is not None and kind == "open":
            depth += token[0].count(b"(")
        elif kind == "close":
            depth -= 1
        if token is None or kind == "other" or depth < 0:
            raise NotAWord("arithmetic that may run a command")
        _use(scanner.variables, token)
        at = token.end()


def _use(variables: Variables, token: re.Match[bytes]) -> None:
    raw = token["name"] or token["braced"]
    if raw is None:
        return
    name = raw.decode()
    rely_on_number(variables, name)
    if index := token["index"]:
        index_name = index.decode().lstrip("$")
        if not index_name.isdigit():
            rely_on_number(variables, index_name)
    if token["sets"] or token["step"]:
        if not variables.is_local(name):
            raise NotAWord(f"arithmetic sets the variable {name}")
        variables.set(name, Value.NUMBER)

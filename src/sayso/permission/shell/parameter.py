"""What stands between `${` and `}`.

Owns the forms of bash(1) "Parameter Expansion" that compute nothing but text. Left out, so that they ask: `${!x}` and
`${x@P}` (a value becomes a name, or code), subscripts that are expressions, `${ cmd; }` of Bash 5.3.
"""

import re

from sayso.permission.shell.arithmetic import check, rely_on_number
from sayso.permission.shell.scan import CLOSING_BRACE, Builder, NotAWord, Scanner
from sayso.permission.shell.variable import Value

__all__ = ["braced"]

_HEAD = re.compile(
    rb"\$\{(?P<length>\#(?=[\w@*]))?(?:(?P<name>[A-Za-z_]\w*)(?:\[(?P<index>[@*]|-?\d+|\$?[A-Za-z_]\w*)\])?"
    rb"|(?P<special>\d+|[@*\#?$!-]))"
)
_WORD_OPERATOR = re.compile(rb":?[-+=?]|\#\#?|%%?|//?|\^\^?|,,?")
_TRANSFORM = re.compile(rb"@[QULuLEKAak]\}")


def braced(scanner: Scanner, at: int, end: int, out: Builder, *, quoted: bool) -> int:
    """Read a `${...}`; returns the offset after it. Raises NotAWord."""
    data = scanner.data
    head = _HEAD.match(data, at, end)
    if head is None:
        raise NotAWord("${...} in a form that is not understood")
    several = _several(scanner, head)
    at = head.end()
    if data[at : at + 1] == b"}" and at < end:
        _plain(scanner, head, out, several=several, quoted=quoted)
        return at + 1
    if head["length"]:
        raise NotAWord("${#...} in a form that is not understood")
    out.unknown(single=quoted and not several)
    if match := _TRANSFORM.match(data, at, end):
        return match.end()
    if data[at : at + 1] == b":" and data[at + 1 : at + 2] not in (b"-", b"+", b"=", b"?"):
        close = data.find(b"}", at, end)
        if close < 0:
            raise NotAWord("${...} does not end with its word")
        check(scanner, at + 1, close)
        return close + 1
    operator = _WORD_OPERATOR.match(data, at, end)
    if operator is None:
        raise NotAWord("${...} in a form that is not understood")
    if operator[0] in (b"=", b":="):
        _assigns(scanner, head)
    return _rest(scanner, operator.end(), end, quoted=quoted)


def _several(scanner: Scanner, head: re.Match[bytes]) -> bool:
    """Whether quotes would not keep it one word; a subscript that is a name is evaluated."""
    index = head["index"]
    if index is None:
        return head["special"] == b"@"
    name = index.decode().lstrip("$")
    if name in ("@", "*"):
        return name == "@"
    if not name.lstrip("-").isdigit():
        rely_on_number(scanner.variables, name)
    return False


def _plain(scanner: Scanner, head: re.Match[bytes], out: Builder, *, several: bool, quoted: bool) -> None:
    if head["length"]:
        out.unknown(single=True)
    elif head["special"]:
        scanner.special(head["special"], out, quoted=quoted)
    elif head["index"]:
        out.unknown(single=quoted and not several)
    else:
        scanner.variable(head["name"], out, quoted=quoted)


def _assigns(scanner: Scanner, head: re.Match[bytes]) -> None:
    name = (head["name"] or b"").decode()
    if not scanner.variables.is_local(name):
        raise NotAWord(f"${{...}} sets the variable {name or 'of a position'}")
    scanner.variables.set(name, Value.UNKNOWN)


def _rest(scanner: Scanner, at: int, end: int, *, quoted: bool) -> int:
    """The word after an operator, to after the closing brace."""
    read = scanner.quoted if quoted else scanner.unquoted
    at = read(at, end, Builder(), CLOSING_BRACE)
    if at >= end:
        raise NotAWord("${...} does not end with its word")
    return at + 1

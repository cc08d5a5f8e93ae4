"""Which awk programs only read: a tokenizer that finds every way out of the language.

Manuals: POSIX awk; gawk 5.2.1 (sections Redirection, Getline, Includes, Indirect Calls); mawk 1.3.4. An awk program
starts programs or writes files by `system`, `|`, `>` after print, and by gawk's `@`; it chooses its own inputs by
`getline` and ARGV. A program with none of these reads its operands and prints.
"""

import re
from collections.abc import Sequence

from sayso.permission.shell.readonly.table import Reads, Table, reading
from sayso.permission.unit import Word

__all__ = ["awk", "only_computes"]

AWK = Table(manual="POSIX awk", short="F:v:", long="field-separator= assign=", posix=True)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
BANNED = re.compile(r"\bsystem[\s\\]*\(|\bgetline\b|\bARG[VC]\b|\binclude\b|\bload\b")
TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+|\\\n|\#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<operator>\+\+|--|\|\||&&|>=|<=|==|!=|[-+*/%^]=|!~|[-+*/%^!<>|?:~$,=&])
      | (?P<open>[(\[])
      | (?P<close>[)\]])
      | (?P<end>[;{}])
    """,
    re.X,
)
REGEX = re.compile(r"/(?:\\[^\n]|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]/\\\n])*\]|[^/\[\\\n])*/")
# After these a slash starts a regular expression; after another name, a value or a closing bracket it divides.
BEFORE_VALUE = frozenset({"print", "printf", "return", "in", "case", "else", "do", "exit", "delete"})
CONTROL = frozenset({"if", "while", "for", "switch"})


def awk(words: Sequence[Word], cwd: str | None) -> Reads | None:
    """What an awk command reads, or None where its program may do more. Options end at the program."""
    parsed = AWK.parse(words, cwd)
    if parsed is None or not parsed.operands:
        return None
    program, *inputs = parsed.operands
    if program.text is None or not only_computes(program.text):
        return None
    if any((word.text or "").startswith(("/inet", "/dev/tcp")) for word in inputs):
        return None
    files = [word for word in inputs if word.text is None or not ASSIGNMENT.match(word.text)]
    return tuple(reading(word, cwd) for word in files if word.text != "-")


def only_computes(program: str) -> bool:
    """Whether an awk program has no command, no output file, no input of its own choice."""
    if BANNED.search(program):
        return False
    position, after_value, name = 0, False, ""
    brackets: list[bool] = []
    printing: int | None = None
    while position < len(program):
        match = None
        if program[position] == "/" and not after_value:
            match = REGEX.match(program, position)
            kind = "regex"
        else:
            match = TOKEN.match(program, position)
            kind = match.lastgroup or "" if match else ""
        if match is None:
            return False
        position, text = match.end(), match.group()
        if kind == "blank":
            continue
        if kind == "name" and text in ("print", "printf"):
            printing = len(brackets)
        elif kind == "end":
            printing = None
        elif text == "|" or text == "&" or (text == ">" and printing is not None and len(brackets) <= printing):
            return False
        control = False
        if kind == "open":
            brackets.append(name in CONTROL)
        elif kind == "close":
            if not brackets:
                return False
            control = brackets.pop()
        name = text if kind == "name" else ""
        after_value = not control and (
            kind in ("string", "number", "regex", "close")
            or (kind == "name" and text not in BEFORE_VALUE)
            or text in ("++", "--")
        )
    return not brackets

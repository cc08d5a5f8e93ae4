"""What a redirection does to files.

Owns the operators of bash(1) "REDIRECTION". Knows no rules: a file that is read or written is a unit like any other.
"""

import re

from sayso.permission.shell.reading import NOWHERE, Cwds, Reading
from sayso.permission.unit import FileUnit, Word

__all__ = ["OPERATOR", "redirect"]

OPERATOR = re.compile(rb"[0-9]*(&>>|&>|<<<|<>|<&|>&|>>|>\||<|>)((?<=[<>]&)-(?=[\s;&|<>()]|$))?")
"""A redirection up to its target; the second group closes a descriptor."""

_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_STREAMS = re.compile(r"/dev/(?:null|stdin|stdout|stderr|tty|fd/[0-9]+)")
_NETWORK = re.compile(r"/dev/(?:tcp|udp)/")
_READS = frozenset({"<", "<>"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})


def redirect(reading: Reading, operator: str, numbered: bool, target: Word, cwds: Cwds) -> None:
    """Add what this redirection does. numbered: a descriptor stands before the operator."""
    if operator == "<<<":
        return
    text, source = target.text, target.source
    if operator in ("<&", ">&"):
        if text is not None and _DESCRIPTOR.fullmatch(text):
            return
        if operator == "<&" or numbered or text is None:
            reading.note("a redirection to a descriptor that only running would tell", source)
            return
    if text is not None and _STREAMS.fullmatch(text):
        return
    if text is not None and _NETWORK.match(text):
        reading.note("a redirection to /dev/tcp or /dev/udp opens a network connection", source)
        return
    if text is None and target.source.startswith((">(", "<(")) and target.single:
        # A pipe to commands that are units of their own.
        return
    for cwd in cwds or NOWHERE:
        if operator in _READS:
            reading.add(FileUnit(op="read", path=text, cwd=cwd, rule_tools=("Read",), source=source))
        if operator in _WRITES:
            reading.add(FileUnit(op="write", path=text, cwd=cwd, rule_tools=("Write", "Edit"), source=source))

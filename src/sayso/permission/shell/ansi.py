"""What `$'...'` means: the escapes of bash(1), "QUOTING"."""

import re

__all__ = ["decoded"]

_ESCAPE = re.compile(
    rb"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3}))"
)
_NAMED = dict(zip(b"abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def decoded(body: bytes) -> bytes | None:
    """The bytes between the quotes, escapes replaced; None where Bash versions differ or the text would end early."""
    out = bytearray()
    at = 0
    while (found := body.find(b"\\", at)) >= 0:
        out += body[at:found]
        match = _ESCAPE.match(body, found)
        if match is None:
            # \c and an escape that is none: not worth being exact about.
            return None
        value = _value(match)
        if not value or value == b"\0":
            return None
        out += value
        at = match.end()
    return bytes(out + body[at:])


def _value(match: re.Match[bytes]) -> bytes | None:
    named, hexadecimal, short, long, octal = match.groups()
    if named:
        return bytes([_NAMED[named[0]]])
    if hexadecimal or octal:
        number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF
        return bytes([number])
    code = int(short or long, 16)
    # Beyond ASCII the bytes depend on the locale.
    return bytes([code]) if code < 0x80 else None

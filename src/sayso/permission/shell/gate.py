"""Which texts may be read as a shell command at all.

Owns characters: what a person could not see, or what Bash and a parser could take for different things. Knows no
grammar.
"""

import re

__all__ = ["MAX_BYTES", "forbidden"]

MAX_BYTES = 200_000
"""A longer text is not judged."""

_PRINTABLE_ASCII = re.compile(r"[\n\t -~]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Default-ignorable and bidirectional controls: what is shown differs from what is run (Trojan Source, CVE-2021-42574).
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# A zero-width joiner between two pictographs is how one emoji is written.
_JOINED_EMOJI = re.compile(
    "(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
)


def forbidden(text: str) -> str | None:
    """Why this text must be shown to a person before anything else, or None.

    Unicode blanks are left to the reader of words: inside quotes they are data, elsewhere nothing that it knows.
    """
    if _PRINTABLE_ASCII.fullmatch(text):
        return None
    if match := _CONTROL.search(text):
        return f"the command contains the control character U+{ord(match[0]):04X}"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the command is not valid UTF-8"
    if match := _INVISIBLE.search(_JOINED_EMOJI.sub("", text)):
        return f"the command contains the invisible character U+{ord(match[0]):04X}"
    return None

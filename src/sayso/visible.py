"""The one filter that text from outside passes before a person sees it.

Owns which characters are shown instead of obeyed. Knows no surface: every surface calls it on whatever a model, a
tool, a file or a client wrote, and never on its own markup.
"""

import re

__all__ = ["visible"]

# Characters that move the cursor, change the order of what is read, or take no room, so that what is seen is not
# what is there. Newline and tab are the only controls that stay. From Unicode 17: general categories Cc, Cf, Zl, Zp
# and Cs, and the property Default_Ignorable_Code_Point.
_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 controls, escape among them
    "\u00ad\u034f\u061c\u06dd\u070f\u08e2\u0600-\u0605\u0890\u0891"
    "\u115f\u1160\u3164\uffa0"  # fillers that draw nothing
    "\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f"  # zero width, and the marks of direction
    "\u2028-\u202e"  # line and paragraph separator, embeddings and overrides of direction
    "\u2060-\u206f"  # invisible operators, isolates
    "\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and more variation selectors: text can be hidden in them
    "]"
)

# Emoji presentation after a symbol that is drawn as text without it; anywhere else a selector may hide something.
_EMOJI = re.compile("(?<=[\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff])\ufe0f")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def visible(text: str) -> str:
    r"""`text` with every character that a terminal or a browser would obey instead of show written as an escape.

    An escape looks like `\x1b`, `\u202e` or `\U000e0041`. Newline and tab are kept. The result can be encoded, even
    where `text` had lone surrogates.
    """
    if text.isascii() and text.isprintable():
        return text
    if _UNSEEN.search(text) is None:
        return text
    return "\ufe0f".join(_UNSEEN.sub(_escape, part) for part in _EMOJI.split(text))

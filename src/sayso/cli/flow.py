"""Words as they arrive, wrapped at words and lightly marked up. Shows every character that was sent.

Owns where a line breaks and how headings, code and strong words look. Knows no event and no agent.
"""

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from sayso.visible import visible

__all__ = ["Flow", "folded"]

_PIECE = re.compile(r"\n|[ \t]+|[^\s]+")
# Of text that is whole: nothing falls between the pieces, and no line is broken at a no-break space.
_WHOLE = re.compile(r"\n|[ \t]+|[^ \t\n]+")
# East Asian text has no blanks: a line may break after any of its characters, but not before closing punctuation.
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003ffff]"
    r"[\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01\uff1f\uff09\u300d\u300f\u3011\u300b\u201d\u2019]*"
)
_MARK = re.compile(r"(\*\*|`)")
_FENCE = "```"
_MEASURE = 100  # columns that a line of words has at most: longer ones are hard to read


def folded(parts: Sequence[tuple[str, str]], width: int, indent: int = 0) -> list[tuple[str, str]]:
    """Styled text with its lines broken at words, none wider than `width` columns but a word that is.

    parts: (style, visible text). indent: columns before what a broken line goes on with.
    """
    out: list[tuple[str, str]] = []
    blank: tuple[str, str] | None = None
    column = 0
    for style, text in parts:
        for piece in _pieces(text):
            if not piece.strip(" \t"):
                blank = (style, piece if blank is None else blank[1] + piece)
                continue
            size, gap = cell_len(piece), 0 if blank is None else cell_len(blank[1])
            if piece == "\n":
                column = 0
            elif column > indent and column + gap + size > width and size <= width - indent:
                out.append(("", "\n" + " " * indent))
                column = indent + size
            else:
                out += [blank] if blank is not None else []
                column += gap + size
                if column > width:  # a word that the screen itself breaks
                    column = (column - 1) % width + 1
            blank = None
            out.append((style, piece))
    return out if blank is None else [*out, blank]


def _pieces(text: str) -> list[str]:
    """What a line is not broken within: words, wide characters with their punctuation, runs of blanks, line ends."""
    out: list[str] = []
    for match in _WHOLE.finditer(text):
        piece = match.group()
        while (wide := _WIDE.search(piece)) is not None:
            end = wide.end() if wide.start() == 0 else wide.start()
            out.append(piece[:end])
            piece = piece[end:]
        out += [piece] if piece else []
    return out


class Flow:
    """Writes one block of text to `console`, in pieces, without ever taking back what it wrote.

    style: of the whole block. The last word is held until what follows it is known, or `end` is called.
    """

    def __init__(self, console: Console, style: str = "") -> None:
        self._console = console
        self._style = Style.parse(style)
        self._held = ""
        self._blank = ""
        self._column = 0
        self._line = ""
        self._fenced = self._code = self._strong = False
        self.started = False

    def feed(self, text: str) -> None:
        """Write more of the block."""
        self._held += text
        out = Text()
        while self._held:
            piece = self._next()
            if piece is None:
                break
            self._put(out, piece)
        self._write(out)

    def end(self) -> None:
        """Write what is held; leave the cursor at the start of a line."""
        out = Text()
        if self._held:
            self._put(out, self._held)
            self._held = ""
        self._write(out)
        if self._column:
            self._console.print()
        self._column, self._line = 0, ""

    def _next(self) -> str | None:
        """The next piece of what is held, or None where more of it may come."""
        match = _PIECE.match(self._held)
        piece = match.group() if match else self._held[0]
        wide = _WIDE.search(piece)
        if wide is not None:
            piece = piece[: wide.end()] if wide.start() == 0 else piece[: wide.start()]
        if len(piece) == len(self._held) and piece != "\n":
            return None
        self._held = self._held[len(piece) :]
        return piece

    def _put(self, out: Text, piece: str) -> None:
        if piece == "\n":
            self._newline(out)
            return
        shown = visible(piece)
        if not piece.strip(" \t"):
            self._blank = shown.expandtabs(4)
            return
        if self._overflows(shown):
            out.append("\n")
            self._column, self._blank = 0, ""
        self._line += self._blank + shown
        out.append(self._blank)
        self._column += len(self._blank) + cell_len(shown)
        self._blank = ""
        self._paint(out, shown)
        self.started = True

    def _newline(self, out: Text) -> None:
        if self._line.lstrip().startswith(_FENCE):
            self._fenced = not self._fenced
        if self.started:
            out.append("\n")
        self._column, self._line, self._blank = 0, "", ""
        self._code = self._strong = False

    def _paint(self, out: Text, word: str) -> None:
        line = self._line.lstrip()
        if self._fenced or line.startswith(_FENCE):
            out.append(word, self._style + Style(color="cyan"))
            return
        heading = Style(bold=line.startswith("#") or None)
        for part in _MARK.split(word):
            if part == "`":
                self._code = not self._code
                out.append(part, self._style + Style(dim=True))
            elif part == "**" and not self._code:
                self._strong = not self._strong
                out.append(part, self._style + Style(dim=True))
            elif part:
                inner = Style(color="cyan") if self._code else Style(bold=self._strong or None)
                out.append(part, self._style + heading + inner)

    def _overflows(self, shown: str) -> bool:
        """Whether the word belongs on the next line. What is no terminal has no width, and code keeps its lines."""
        if self._fenced or not self._column or not self._console.is_terminal:
            return False
        width = min(self._console.width, _MEASURE) - 1
        return self._column + len(self._blank) + cell_len(shown) > width

    def _write(self, out: Text) -> None:
        if out:
            self._console.print(out, end="", soft_wrap=True, highlight=False)

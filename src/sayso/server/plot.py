"""Plots as SVG, each with its table behind it. Text in, text out; every text is escaped. Knows no host."""

from collections.abc import Sequence
from html import escape

__all__ = ["bars", "stacked", "tile"]

_WIDTH = 420
_ROW = 26
_LABEL = 150  # columns of the drawing for the names
_SHORT = 24  # characters of a name that fit there


def tile(value: str, what: str) -> str:
    """One number and what it counts."""
    return f'<div class="tile"><strong>{escape(value)}</strong><span>{escape(what)}</span></div>'


def bars(title: str, rows: Sequence[tuple[str, float]], unit: str = "", *, none: str = "Nothing yet.") -> str:
    """Horizontal bars, one a row. rows: name and value."""
    if not rows:
        return _plot(title, f"<p>{escape(none)}</p>", "")
    most = max(value for _, value in rows) or 1
    parts = []
    for n, (name, value) in enumerate(rows):
        y, width = n * _ROW, (_WIDTH - _LABEL - 60) * value / most
        parts.append(f'<text x="0" y="{y + 17}">{escape(_short(name))}</text>')
        parts.append(f'<rect class="a" x="{_LABEL}" y="{y + 5}" width="{max(width, 1):.1f}" height="16" rx="3"/>')
        parts.append(
            f'<text class="quiet" x="{_LABEL + width + 6:.1f}" y="{y + 17}">{_number(value)}{escape(unit)}</text>'
        )
    drawn = _svg(title, len(rows) * _ROW + 4, "".join(parts))
    return _plot(title, drawn, _table(("", title), [(name, f"{_number(value)}{unit}") for name, value in rows]))


def stacked(title: str, names: Sequence[str], columns: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Vertical bars of up to three parts. names: of the parts. columns: a label, and a count for each part."""
    if not any(sum(parts) for _, parts in columns):
        return _plot(title, "<p>Nothing yet.</p>", "")
    most = max(sum(parts) for _, parts in columns)
    height, step = 120, _WIDTH / max(len(columns), 1)
    out = [f'<line class="axis" x1="0" x2="{_WIDTH}" y1="{height}" y2="{height}"/>']
    for n, (label, parts) in enumerate(columns):
        y = float(height)
        for part, style in zip(parts, "abc", strict=False):
            tall = (height - 16) * part / most
            y -= tall
            if part:
                x = n * step + step * 0.15
                out.append(
                    f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{step * 0.7:.1f}" height="{tall:.1f}"/>'
                )
        if sum(parts):
            x = n * step + step / 2
            out.append(f'<text class="quiet" x="{x:.1f}" y="{y - 4:.1f}" text-anchor="middle">{sum(parts)}</text>')
        if n % max(1, len(columns) // 7) == 0:
            out.append(f'<text class="quiet" x="{n * step:.1f}" y="{height + 16}">{escape(label)}</text>')
    for n, (name, style) in enumerate(zip(names, "abc", strict=False)):
        out.append(f'<rect class="{style}" x="{n * 110}" y="{height + 28}" width="12" height="12"/>')
        out.append(f'<text x="{n * 110 + 17}" y="{height + 39}">{escape(name)}</text>')
    rows = [(label, *(str(part) for part in parts)) for label, parts in columns if sum(parts)]
    return _plot(title, _svg(title, height + 46, "".join(out)), _table(("", *names), rows))


def _svg(title: str, height: float, inside: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">{inside}</svg>'


def _plot(title: str, drawn: str, table: str) -> str:
    behind = f"<details><summary>as a table</summary>{table}</details>" if table else ""
    return f'<section class="plot"><h2>{escape(title)}</h2>{drawn}{behind}</section>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(h) or "what"}</th>' for h in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _short(name: str) -> str:
    return name if len(name) <= _SHORT else name[: _SHORT - 1] + "…"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"

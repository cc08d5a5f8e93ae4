"""A request as a person sees it before the choice: which tool, where, why it asks, and what would happen.

Owns the look of a request; shows nothing of it as anything but text. Asks nothing.
"""

import json
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from sayso.cli.sentence import questions
from sayso.permission.rule import PermissionRule
from sayso.request import Request
from sayso.visible import visible

__all__ = ["Shown", "card", "pretty", "rule_text", "whole"]

# Rows of a preview that a card shows; the rest is behind a key, and the card says so.
_ROWS = 200
_HIDDEN_ARG = 200  # characters of an argument that is shown on one line


class Shown:
    """A card to print. rest: rows of the preview that did not fit."""

    def __init__(self, body: RenderableType, rest: int) -> None:
        self.body = body
        self.rest = rest


def pretty(tool_input: str) -> str:
    """Arguments as indented JSON, or as they came where they are no JSON. Not filtered."""
    try:
        return json.dumps(json.loads(tool_input), indent=2, ensure_ascii=False)
    except ValueError:
        return tool_input


def rule_text(rule: PermissionRule) -> str:
    """A rule as it is written in a rule file. Not filtered."""
    return rule.tool_name if rule.rule_content is None else f"{rule.tool_name}({rule.rule_content})"


def card(request: Request, width: int) -> Shown:
    """What the person must see; `width` in columns."""
    lines = list(_preview(request))
    kept, rest = _bounded(lines, width)
    parts: list[RenderableType] = [_title(request), _facts(request), Text()]
    parts += kept
    if rest:
        parts.append(Text(f"… {rest:,} more lines are not shown here; v shows everything", style="bold yellow"))
    parts.append(Rule(style="yellow"))
    return Shown(Group(*parts), rest)


def whole(request: Request) -> str:
    """The whole preview and the exact arguments as visible text, for a pager."""
    shown = "\n".join(line.plain for line in _preview(request))
    return f"{shown}\n\nThe exact arguments:\n{visible(pretty(request.input))}\n"


def _title(request: Request) -> Rule:
    wants = {"confirm": "wants your say-so", "ask": "asks you", "external": "waits for its result"}[request.kind]
    title = Text.assemble((visible(request.tool).replace("\n", " "), "bold"), f" {wants} ")
    return Rule(title, align="left", style="yellow")


def _facts(request: Request) -> RenderableType:
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    if request.in_doubt:
        warning = "It was started before and the process that ran it is gone: it may have happened already."
        facts.add_row(Text("careful", "bold red"), Text(warning, style="bold red"))
    if request.why:
        facts.add_row("why", Text(visible(request.why), style="yellow" if request.safety else ""))
    if request.preview is not None and request.preview.cwd:
        facts.add_row("in", Text(visible(request.preview.cwd)))
    if len(request.path) > 1:
        facts.add_row("asked by", Text(visible(" › ".join(request.path))))
    if request.expires_at:
        facts.add_row("until", Text(visible(request.expires_at)))
    for name, value in _arguments_beside(request):
        facts.add_row(Text(visible(name)), Text(visible(value)))
    return facts


def _arguments_beside(request: Request) -> Iterator[tuple[str, str]]:
    """Arguments that the preview does not show: they are part of what is approved."""
    if request.preview is None or request.preview.kind == "json":
        return
    try:
        args = json.loads(request.input)
    except ValueError:
        return
    if not isinstance(args, dict):
        return
    seen = request.preview.text
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if text not in seen and len(text) <= _HIDDEN_ARG and "\n" not in text:
            yield name, text


def _preview(request: Request) -> Iterator[Text]:
    preview = request.preview
    if request.kind == "ask":
        yield from (Text(visible(line)) for line in questions(request))
        return
    if preview is None:
        yield from (Text(line) for line in visible(pretty(request.input)).split("\n"))
        return
    lines = visible(preview.text).rstrip("\n").split("\n")
    match preview.kind:
        case "diff":
            inside = False
            for line in lines:
                inside = inside or line.startswith("@@")
                yield Text(line, style=_diff_style(line) if inside else "bold")
        case "command":
            for i, line in enumerate(lines):
                yield Text.assemble(("$ " if i == 0 else "  ", "dim"), (line, "bold"))
        case _:
            yield from (Text(line) for line in lines)


def _diff_style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")


def _bounded(lines: list[Text], width: int) -> tuple[list[Text], int]:
    """The lines that fit into the bound, each wrapped at `width`, and how many do not."""
    rows = 0
    for i, line in enumerate(lines):
        rows += max(1, -(-cell_len(line.plain) // max(width, 1)))
        if rows > _ROWS and i > 0:
            return lines[:i], len(lines) - i
    return lines, 0

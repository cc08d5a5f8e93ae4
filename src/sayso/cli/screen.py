"""What a person sees of a reply while it runs: words as they come, one line per tool call, a spinner.

Owns the look of events. Everything that came from a model or a tool passes `visible`. Asks nothing.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from sayso.cli.flow import Flow
from sayso.event import (
    AgentEvent,
    HintBlockEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    ReplyEndEvent,
    ReplyStartEvent,
    RequireExternalExecutionEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from sayso.message import ReplyFinishedReason, ToolCallBlock, ToolResultState
from sayso.visible import visible

__all__ = ["Screen", "Tally", "brief", "one_line"]

# A result is shown by its first lines; the model gets all of it.
_RESULT_LINES = 6
_RESULT_LINE = 200  # characters of one line
_KEPT = 4000  # characters of a result that are kept for showing
# The argument that says most about a call, by the names that tools use for it.
_TELLING = ("command", "file_path", "path", "pattern", "query", "url", "question", "name")

_ENDS = {
    ToolResultState.SUCCESS: ("✓", "green", ""),
    ToolResultState.ERROR: ("✗", "red", "failed"),
    ToolResultState.DENIED: ("✗", "yellow", "refused"),
    ToolResultState.INTERRUPTED: ("✗", "yellow", "stopped"),
    ToolResultState.RUNNING: ("✓", "green", ""),
}


def one_line(text: str, width: int) -> str:
    """`text`, visible, on one line of at most `width` columns; wide characters count as two."""
    # What is cut off below is never looked at: a column holds at most one character and its combining marks.
    line = visible(" ⏎ ".join(text[: 20 * width + 20].split("\n")).replace("\t", " "))
    return line if cell_len(line) <= width else set_cell_size(line, max(width - 1, 0)).rstrip() + "…"


def brief(tool_input: str, width: int) -> str:
    """The arguments of a call (JSON text, complete or not) on one line: the telling one, or all of them."""
    try:
        args = json.loads(tool_input or "{}")
    except ValueError:
        return one_line(tool_input, width)
    if not isinstance(args, dict):
        return one_line(tool_input, width)
    for name in _TELLING:
        if isinstance(args.get(name), str):
            return one_line(args[name], width)
    if isinstance(args.get("questions"), list):
        asked = [q.get("question", "") for q in args["questions"] if isinstance(q, dict)]
        return one_line(" · ".join(map(str, asked)), width)
    return one_line(", ".join(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in args.items()), width)


@dataclass
class _CallShown:
    """A call as far as it was seen."""

    name: str
    input: str = ""
    output: str = ""
    lines: int = 0
    began: float | None = None
    outside: bool = False


@dataclass
class Tally:
    """What happened so far, for the last line on the screen. Tokens are the provider's count."""

    replies: int = 0
    tools: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    allowed: int = 0
    refused: int = 0
    answered: int = 0


@dataclass
class Screen:
    """Shows the events of replies.

    words: where the reply's own words go. side: where everything else goes; with a terminal it is the same console.
    clock: seconds, monotonic.
    """

    words: Console
    side: Console
    clock: Callable[[], float] = time.monotonic
    tally: Tally = field(default_factory=Tally)
    _calls: dict[str, _CallShown] = field(default_factory=dict)
    _flow: Flow | None = None
    _live: Live | None = None
    _doing: str = ""
    _since: float = 0.0
    _gap: str = ""
    _spent: tuple[int, int] = (0, 0)
    _began: float = 0.0

    # -- the spinner ---------------------------------------------------------------------------------

    def busy(self, doing: str) -> None:
        """Show a spinner with `doing` and the seconds since now, where there is a terminal."""
        self._doing, self._since = doing, self.clock()
        if self._live is None and self.side.is_terminal and self._flow is None:
            self._live = Live(
                console=self.side,
                get_renderable=self._spin,
                transient=True,
                refresh_per_second=10,
                redirect_stdout=False,
            )
            self._live.start()

    def calm(self) -> None:
        """Take the spinner away and finish the line being written; the cursor is at the start of a line."""
        if self._flow is not None:
            self._flow.end()
            self._flow = None
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _spin(self) -> RenderableType:
        now = self.clock()
        width = self.side.width - 14
        running = [c for c in list(self._calls.values()) if c.began is not None and not c.outside]
        if not running:
            return self._spinner(one_line(self._doing, width), now - self._since)
        rows: list[RenderableType] = []
        for call in running:
            what = f"{one_line(call.name, 40)}  {brief(call.input, max(width - len(call.name) - 2, 8))}"
            rows.append(self._spinner(what, now - (call.began or now)))
            if last := call.output.rstrip().rpartition("\n")[2]:
                rows.append(Text("  │ " + one_line(last, width), style="dim", no_wrap=True))
        return Group(*rows)

    def _spinner(self, what: str, seconds: float) -> Spinner:
        text = Text.assemble((what, "dim"), (f"  {seconds:.0f} s" if seconds >= 1 else "", "dim"))
        spinner = Spinner("dots", text, style="cyan")
        spinner.start_time = 0.0
        return spinner

    # -- events --------------------------------------------------------------------------------------

    def event(self, event: AgentEvent) -> None:
        """Show one event."""
        match event:
            case TextBlockDeltaEvent() | ThinkingBlockDeltaEvent():
                if self._flow is not None:
                    self._flow.feed(event.delta)
            case TextBlockStartEvent() | ThinkingBlockStartEvent():
                self._block("" if isinstance(event, TextBlockStartEvent) else "dim italic")
            case TextBlockEndEvent() | ThinkingBlockEndEvent():
                self.calm()
                self.busy("…")
            case ToolCallStartEvent() | ToolCallDeltaEvent() | ToolCallEndEvent():
                self._call(event)
            case (
                ToolResultStartEvent() | ToolResultTextDeltaEvent() | ToolResultDataDeltaEvent() | ToolResultEndEvent()
            ):
                self._result(event)
            case RequireExternalExecutionEvent():
                for block in event.tool_calls:
                    self._shown(block.id, block.name).outside = True
            case HintBlockEvent():
                hint = (
                    event.hint if isinstance(event.hint, str) else " ".join(getattr(b, "text", "") for b in event.hint)
                )
                self.note(one_line(hint, self.side.width - 4))
            case _:
                self._course(event)

    def _course(self, event: AgentEvent) -> None:
        match event:
            case ReplyStartEvent():
                self._began, self._spent, self._gap = self.clock(), (0, 0), ""
                self.busy("…")
            case ModelCallStartEvent():
                self.calm()
                self.busy(event.model_name or "the model")
            case ModelCallEndEvent():
                self._spent = (self._spent[0] + event.input_tokens, self._spent[1] + event.output_tokens)
                self.tally.input_tokens += event.input_tokens
                self.tally.output_tokens += event.output_tokens
            case ReplyEndEvent():
                self.calm()
                self._end(event)
            case _:
                pass

    def _block(self, style: str) -> None:
        self.calm()
        kind = "words" if not style else "thoughts"
        self._part(kind)
        self._flow = Flow(self.side if style else self.words, style)

    def _part(self, kind: str) -> None:
        """An empty line between unlike things."""
        if self._gap and self._gap != kind and self.side.is_terminal:
            self.side.print()
        self._gap = kind

    def know(self, call_id: str, name: str, tool_input: str, *, outside: bool = False) -> None:
        """Learn of a call that was not seen coming: of an earlier process, or edited by a person."""
        call = self._shown(call_id, name)
        call.input, call.outside = tool_input, outside or call.outside

    def recall(self, calls: Iterable[ToolCallBlock]) -> None:
        """Learn of those calls that were not seen coming."""
        for call in calls:
            if call.id not in self._calls:
                self.know(call.id, call.name, call.input)

    def _shown(self, call_id: str, name: str) -> _CallShown:
        return self._calls.setdefault(call_id, _CallShown(name))

    def _call(self, event: ToolCallStartEvent | ToolCallDeltaEvent | ToolCallEndEvent) -> None:
        if isinstance(event, ToolCallStartEvent):
            self.calm()
            self._shown(event.tool_call_id, event.tool_call_name)
            self.busy(f"{event.tool_call_name} …")
        elif isinstance(event, ToolCallDeltaEvent):
            call = self._shown(event.tool_call_id, "")
            call.input += event.delta
            size = f"{len(call.input):,} characters" if len(call.input) > 200 else "…"
            self._doing = f"{call.name} {size}"

    def _result(
        self, event: ToolResultStartEvent | ToolResultTextDeltaEvent | ToolResultDataDeltaEvent | ToolResultEndEvent
    ) -> None:
        call = self._shown(event.tool_call_id, getattr(event, "tool_call_name", ""))
        match event:
            case ToolResultStartEvent():
                call.began = self.clock()
                self.busy(call.name)
            case ToolResultTextDeltaEvent():
                call.lines += event.delta.count("\n")
                call.output = (call.output + event.delta)[:_KEPT] if len(call.output) < _KEPT else call.output
            case ToolResultDataDeltaEvent():
                size = f", {len(event.data) * 3 // 4:,} bytes" if event.data else f" at {event.url}"
                call.output += f"[{event.media_type}{size}]\n"
            case ToolResultEndEvent():
                self.calm()
                self._calls.pop(event.tool_call_id, None)
                self._ended(call, event.state)
                self.busy("…")

    def _ended(self, call: _CallShown, state: ToolResultState) -> None:
        self.tally.tools += state in (ToolResultState.SUCCESS, ToolResultState.ERROR) and not call.outside
        self._part("calls")
        mark, colour, word = _ENDS[state]
        seconds = self.clock() - call.began if call.began is not None and not call.outside else 0.0
        after = "  ".join(x for x in (word, f"{seconds:.1f} s" if seconds >= 0.1 else "") if x)
        name = one_line(call.name, 30)
        room = max(self.side.width - cell_len(name) - len(after) - 7, 10)
        line = Text.assemble(
            (mark, colour),
            " ",
            (name, "bold"),
            "  ",
            brief(call.input, room),
            ("  " + after, colour if word else "dim"),
        )
        self.side.print(line, highlight=False, soft_wrap=True)
        self._output(call)

    def _output(self, call: _CallShown) -> None:
        lines = call.output.rstrip().split("\n") if call.output.strip() else []
        total = max(call.lines + (not call.output.endswith("\n") and bool(call.output)), len(lines))
        width = min(self.side.width - 5, _RESULT_LINE)
        for text in lines[:_RESULT_LINES]:
            self.side.print(Text("  │ " + one_line(text, width), style="dim"), highlight=False, soft_wrap=True)
        if (rest := total - _RESULT_LINES) > 0:
            self.side.print(Text(f"  │ … {rest:,} more line{'s' * (rest != 1)}", style="dim"), highlight=False)

    def _end(self, event: ReplyEndEvent) -> None:
        self._calls.clear()
        self.tally.replies += 1
        match event.finished_reason:
            case ReplyFinishedReason.INTERRUPTED:
                self.note("Stopped. Nothing that was waiting has run.", "yellow")
            case ReplyFinishedReason.EXCEED_MAX_ITERS:
                self.note("Stopped after as many rounds as one reply may take; say “go on” to continue.", "yellow")
            case ReplyFinishedReason.ERROR:
                error = event.error
                self.fault(f"{error.type}: {error.message}" if error else "the reply failed")
            case ReplyFinishedReason.COMPLETED:
                if self.side.is_terminal and any(self._spent):
                    spent = f"{self._spent[0]:,} tokens in, {self._spent[1]:,} out"
                    self.note(f"{self.clock() - self._began:.1f} s · {spent}")

    # -- words of the program --------------------------------------------------------------------------

    def note(self, text: str, style: str = "dim") -> None:
        """A line of the program's own, beside the conversation."""
        self.calm()
        self._part("notes")
        self.side.print(Text(visible(text), style=style), highlight=False)

    def fault(self, text: str) -> None:
        """Something went wrong; says so in red."""
        self.note(text, "red")

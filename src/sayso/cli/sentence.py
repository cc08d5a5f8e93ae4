"""What a fact of the log says, as one sentence for a person; and how a request can be answered from a shell.

Knows the log's language and nothing of stores. What it gives is not filtered: whoever prints it does.
"""

import json
import shlex
from collections.abc import Sequence
from typing import assert_never

from sayso.cli.form import questions_of
from sayso.reply.fact import (
    CallJudged,
    CallSubmitted,
    DoubtRaised,
    DoubtSettled,
    Fact,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    ModeSet,
    OutsideReturned,
    ReplyEnded,
    ReplyStarted,
    RequestExpired,
    RuleAdded,
    RuleRemoved,
    RunnerLost,
    SessionOpened,
    ToolReturned,
    ToolStarted,
)
from sayso.reply.part import Asked, Call, Result, Rule, Said, Text, Thinking
from sayso.request import Request

__all__ = ["questions", "sentence", "ways"]

_LONG = 160  # characters of anything quoted


def sentence(fact: Fact) -> str:  # one arm for each fact of the language
    """One line."""
    match fact:
        case SessionOpened():
            return f"session begun with {fact.agent}, mode {fact.mode}{_notes(fact.about)}"
        case ReplyStarted():
            return "; ".join(_said(p) for p in fact.prompts) or "goes on with what was queued"
        case MessageQueued():
            return f"queued: {_said(fact.message)}"
        case ModelReplied():
            spent = f"  ({fact.usage[0]} tokens in, {fact.usage[1]} out)" if any(fact.usage) else ""
            return f"the model: {_parts(fact)}{spent}"
        case CallJudged():
            return f"{fact.call_id}: {_verdict(fact)}"
        case HumanAnswered():
            return f"{fact.call_id}: {_answered(fact)}"
        case RequestExpired():
            how = f"dismissed{_who(fact.by, fact.via)}" if fact.by else "nobody answered in time"
            return f"{fact.call_id}: {how}"
        case CallSubmitted() | DoubtRaised():
            what = (
                "waits for a result from outside"
                if isinstance(fact, CallSubmitted)
                else "may have run; a person decides"
            )
            return f"{fact.call_id}: {what}{_request(fact.asked)}"
        case OutsideReturned():
            return f"{_result(fact.result)}{_who(fact.by, fact.via)}"
        case ToolStarted():
            return f"{fact.call_id}: started"
        case ToolReturned():
            return _result(fact.result)
        case RunnerLost():
            return f"{', '.join(fact.call_ids)}: in doubt, the process that ran it is gone"
        case DoubtSettled():
            return f"{fact.call_id}: {'may run again' if fact.how == 'again' else 'did happen'}: {_short(fact.why)}"
        case RuleAdded():
            return f"rule added{_who(fact.by, '')}: {_rule(fact.rule)}"
        case RuleRemoved():
            return f"rule taken back{_who(fact.by, '')}: {_rule(fact.rule)}{': ' + fact.why if fact.why else ''}"
        case ModeSet():
            return f"mode {fact.mode}{_who(fact.by, '')}"
        case ReplyEnded():
            return f"the reply ended: {fact.reason}{': ' + _short(fact.why) if fact.why else ''}{_who(fact.by, '')}"
        case _:
            assert_never(fact)


def _verdict(fact: CallJudged) -> str:
    words = {"allow": "allowed", "ask": "asks a person", "deny": "denied", "invalid": "not run", "hold": "held back"}
    asked = _request(fact.asked) if fact.asked is not None else ""
    return f"{words[fact.verdict]}: {_short(fact.reason)}{asked}"


def _answered(fact: HumanAnswered) -> str:
    how = "yes" if fact.yes else "no"
    how += _who(fact.by, fact.via)
    if fact.edited is not None:
        how += f", with other arguments: {_short(fact.edited)}"
    if fact.rules:
        how += f", and from now on {', '.join(_rule(r) for r in fact.rules)}"
    return f"{how}{': ' + _short(fact.reason) if fact.reason else ''}"


def _parts(fact: ModelReplied) -> str:
    out: list[str] = []
    for part in fact.parts:
        if isinstance(part, Call):
            out.append(f"calls {part.tool} as {part.id}: {_short(part.input)}")
        elif isinstance(part, Text):
            out.append(f'"{_short(part.text)}"')
        elif isinstance(part, Thinking):
            out.append("thinks")
        else:
            out.append(type(part).__name__.lower())
    return "; ".join(out) or "nothing"


def _result(result: Result) -> str:
    output = result.output
    text = output if isinstance(output, str) else " ".join(p.text for p in output if isinstance(p, Text))
    return f"{result.call_id}: {result.state}{': ' + _short(text) if text.strip() else ''}"


def _said(said: Said) -> str:
    return f'{said.name}: "{_short(" ".join(p.text for p in said.parts if isinstance(p, Text)))}"'


def _request(asked: Asked) -> str:
    return f" (request {asked.request_id})"


def _rule(rule: Rule) -> str:
    return f"{rule.behavior} {rule.tool}" + (f"({_short(rule.content)})" if rule.content is not None else "")


def _who(by: str, via: str) -> str:
    return (f" by {by}" if by else "") + (f" via {via}" if via else "")


def _notes(about: dict[str, str]) -> str:
    return "".join(f", {name} {value}" for name, value in about.items())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONG else line[: _LONG - 1] + "…"


def questions(request: Request) -> list[str]:
    """The questions of an `ask`, each with its options, as lines."""
    lines: list[str] = []
    for question in questions_of(json.loads(request.input)):
        lines.append(question.text + ("  (one or more)" if question.several else ""))
        lines += [f"  - {c.label}{': ' + c.description if c.description else ''}" for c in question.choices]
    return lines


def ways(request: Request, place: Sequence[str] = ()) -> list[str]:
    """The commands that answer a request, the likeliest first. place: the options that name where it is kept."""
    start = shlex.join(["sayso", "answer", request.id, *place])
    if request.kind == "ask":
        asked = questions_of(json.loads(request.input))
        if len(asked) == 1:
            label = asked[0].choices[0].label if asked[0].choices else "TEXT"
            return [f"{start} --answers {shlex.quote(label)}", f"{start} --no --reason TEXT"]
        return [f"""{start} --answers '[{{"question": ..., "selected": [...]}}, ...]'""", f"{start} --no --reason TEXT"]
    if request.kind == "external":
        return [f"{start} --output TEXT", f"{start} --no --reason TEXT"]
    return [f"{start} --yes", f"{start} --no --reason TEXT", f"{start} --edit JSON"]

"""The log's language: what happened, in the past tense. Frozen, compact, versioned.

The log of a session is a list of these and nothing else; `machine.step` accepts or refuses each. Streaming deltas are
not facts: they go to the watchers. Owns the words; `codec` owns their bytes, `transcript` their translation into the
published language.
"""

from typing import Literal

from msgspec import Struct

from sayso.reply.part import Asked, Part, Result, Rule, Said
from sayso.reply.state import Reply

__all__ = [
    "CallJudged",
    "CallSubmitted",
    "DoubtRaised",
    "DoubtSettled",
    "Fact",
    "HumanAnswered",
    "MessageQueued",
    "ModeSet",
    "ModelReplied",
    "OutsideReturned",
    "ReplyEnded",
    "ReplyStarted",
    "RequestExpired",
    "RuleAdded",
    "RuleRemoved",
    "RunnerLost",
    "SessionOpened",
    "ToolReturned",
    "ToolStarted",
]


class _Fact(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="fact", tag=lambda name: f"{name}/1"):
    """Something that happened, at a time (ISO 8601 with UTC offset). The number in the tag is its version."""

    at: str


class SessionOpened(_Fact, frozen=True):
    """A session began. Where it was brought here from an `AgentState`, it comes with its past and its live reply.

    about: what the program that began it wants to find again, such as the folder it works in.
    """

    session_id: str
    agent: str
    mode: str = "default"
    rules: tuple[Rule, ...] = ()
    directories: tuple[tuple[str, str], ...] = ()
    history: tuple[Said, ...] = ()
    reply: Reply | None = None
    queue: tuple[Said, ...] = ()
    about: dict[str, str] = {}


class ReplyStarted(_Fact, frozen=True):
    """The agent began to answer these messages. trace: its context for OpenTelemetry, as W3C writes it."""

    reply_id: str
    name: str
    prompts: tuple[Said, ...]
    max_iters: int
    from_queue: int = 0
    trace: str = ""


class MessageQueued(_Fact, frozen=True):
    """A message came while answers were owed; it is answered after this reply ends."""

    message: Said


class ModelReplied(_Fact, frozen=True):
    """The model's whole answer of one iteration."""

    reply_id: str
    parts: tuple[Part, ...]
    model: str = ""
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    finish: str | None = None


class CallJudged(_Fact, frozen=True):
    """The engine decided one call.

    verdict: `allow`, `ask`, `deny`; `invalid` (unknown tool, unreadable or unfitting input); `hold` (a question
        already put, of call `holder`, offers a rule that would cover it). reason: the rule or check that decided.
    message: what the model reads where there is a result. input: the input to run where a tool's check changed it.
    """

    call_id: str
    verdict: Literal["allow", "ask", "deny", "invalid", "hold"]
    reason: str = ""
    message: str = ""
    asked: Asked | None = None
    holder: str | None = None
    input: str | None = None


class HumanAnswered(_Fact, frozen=True):
    """A person's word about one call. Evidence, never a verdict.

    digest: of the question they saw. edited: the input they want instead. reason: for the model, when no.
    by, via: who, through which surface.
    """

    call_id: str
    yes: bool
    digest: str
    by: str = ""
    via: str = ""
    edited: str | None = None
    rules: tuple[Rule, ...] = ()
    reason: str | None = None


class RequestExpired(_Fact, frozen=True):
    """Nobody answered in time, or somebody (`by`, `via`) dismissed the question; neither yes nor no."""

    call_id: str
    by: str = ""
    via: str = ""


class CallSubmitted(_Fact, frozen=True):
    """A call of an external tool was handed outside."""

    call_id: str
    asked: Asked


class OutsideReturned(_Fact, frozen=True):
    """The result of a submitted call, or what a person says came of a call in doubt."""

    result: Result
    by: str = ""
    via: str = ""


class ToolStarted(_Fact, frozen=True):
    """A runner is about to run the tool: on disk before it does. digest: of what is run."""

    call_id: str
    runner: str
    digest: str


class ToolReturned(_Fact, frozen=True):
    """The tool came back."""

    result: Result


class RunnerLost(_Fact, frozen=True):
    """The runner of these started calls is gone; nobody knows whether they did it."""

    runner: str
    call_ids: tuple[str, ...]


class DoubtSettled(_Fact, frozen=True):
    """What became of a call in doubt is known without a person.

    how: `again` (it may run again: `why`), `done` (it did happen: `result`).
    """

    call_id: str
    how: Literal["again", "done"]
    why: str
    result: Result | None = None


class DoubtRaised(_Fact, frozen=True):
    """Nothing but a person can say what became of a call."""

    call_id: str
    asked: Asked


class RuleAdded(_Fact, frozen=True):
    """The program added a rule to the session."""

    rule: Rule
    by: str = ""


class RuleRemoved(_Fact, frozen=True):
    """A rule of the session was revoked or expired."""

    rule: Rule
    by: str = ""
    why: str = ""


class ModeSet(_Fact, frozen=True):
    """The session's permission mode was changed."""

    mode: str
    by: str = ""


class ReplyEnded(_Fact, frozen=True):
    """The reply was ended from outside the loop: interrupted, superseded, or the model failed for good."""

    reply_id: str
    reason: Literal["interrupted", "error"]
    by: str = ""
    why: str = ""
    error: tuple[str, str] | None = None


Fact = (
    SessionOpened
    | ReplyStarted
    | MessageQueued
    | ModelReplied
    | CallJudged
    | HumanAnswered
    | RequestExpired
    | CallSubmitted
    | OutsideReturned
    | ToolStarted
    | ToolReturned
    | RunnerLost
    | DoubtSettled
    | DoubtRaised
    | RuleAdded
    | RuleRemoved
    | ModeSet
    | ReplyEnded
)

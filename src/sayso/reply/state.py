"""Where everything stands: the fold of a log, as frozen values. `machine` is the only file that makes new ones."""

from enum import StrEnum

from msgspec import Struct

from sayso.reply.part import Asked, Call, Part, Result, Rule, Said

__all__ = ["Answered", "Approval", "At", "CallAt", "Reply", "Session"]


class At(StrEnum):
    """Where a call stands."""

    PROPOSED = "proposed"
    """The model asked; nobody has judged it yet (or it is to be judged again, with a person's yes)."""
    ASKED = "asked"
    """A person must answer."""
    READY = "ready"
    """Judged `allow`; may start."""
    RUNNING = "running"
    """Started; no result yet."""
    SUBMITTED = "submitted"
    """Handed outside; no result yet."""
    IN_DOUBT = "in doubt"
    """Started, then its runner was lost."""
    DONE = "done"
    """Has a result."""


class Answered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who answered a question, through what, when, and how."""

    by: str
    via: str
    at: str
    how: str


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Evidence that a person said yes to exactly this. It is not a verdict.

    digest: of (call id, tool, definition, input) as approved. definition: of the tool as the person saw it.
    """

    digest: str
    definition: str
    by: str
    via: str
    at: str


class CallAt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call and where it stands.

    batch: calls with the same number go together. held_by: the call whose question may settle this one.
    edited_from: the model's own input, where a person changed it. runner: who started it.
    """

    call: Call
    batch: int
    at: At = At.PROPOSED
    asked: Asked | None = None
    approval: Approval | None = None
    answered: Answered | None = None
    held_by: str | None = None
    edited_from: str | None = None
    runner: str | None = None
    result: Result | None = None


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply. said: its parts so far, without the results of the calls still in `calls`.

    ended: None, `completed`, `interrupted`, `exceed_max_iters` or `error`.
    """

    id: str
    name: str
    at: str
    max_iters: int
    said: tuple[Part, ...] = ()
    calls: tuple[CallAt, ...] = ()
    iters: int = 0
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    ended: str | None = None
    ended_at: str | None = None
    error: tuple[str, str] | None = None
    trace: str = ""


class Session(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything there is to know about one session.

    history: whole messages, oldest first; the reply under way is not in it, the one that ended last is.
    reply: the one under way, or the last one. queue: messages that wait for it to end.
    rules: the session's own, oldest first. directories: (path, source). about: the program's own notes on it.
    """

    id: str = ""
    agent: str = ""
    mode: str = "default"
    rules: tuple[Rule, ...] = ()
    directories: tuple[tuple[str, str], ...] = ()
    history: tuple[Said, ...] = ()
    reply: Reply | None = None
    queue: tuple[Said, ...] = ()
    about: dict[str, str] = {}

"""What facts and states are made of: pieces of messages, rules, and what a person was shown. Frozen and compact."""

from typing import Any, Literal

from msgspec import Struct

__all__ = ["Asked", "Call", "Data", "Hint", "Offer", "Part", "Result", "Rule", "Said", "Shown", "Text", "Thinking"]


# -- what is said --------------------------------------------------------------------------------


class _Part(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag=str.lower):
    """A piece of a message."""


class Text(_Part, frozen=True):
    """Words."""

    id: str
    text: str
    at: str = ""


class Thinking(_Part, frozen=True):
    """Reasoning; `meta` belongs to the provider."""

    id: str
    text: str
    meta: dict[str, Any] | None = None
    at: str = ""


class Data(_Part, frozen=True):
    """An image, a sound, a file: base64 text or a URL."""

    id: str
    media_type: str
    base64: str | None = None
    url: str | None = None
    name: str | None = None
    at: str = ""


class Hint(_Part, frozen=True):
    """What the runtime tells the model."""

    id: str
    text: str
    source: str | None = None
    at: str = ""


class Call(_Part, frozen=True):
    """The model asks for a tool. safe: it may run beside its neighbours, as its tool said when the model asked."""

    id: str
    tool: str
    input: str
    safe: bool = False
    meta: dict[str, Any] | None = None
    at: str = ""


class Result(_Part, frozen=True):
    """What came back for one call, whoever produced it."""

    call_id: str
    tool: str
    state: Literal["success", "error", "denied", "interrupted"]
    output: str | tuple[Text | Data, ...] = ""
    meta: dict[str, Any] | None = None
    at: str = ""


Part = Text | Thinking | Data | Hint | Call | Result


class Said(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One whole message. usage: input, output, cache read, cache written tokens. error: type and message."""

    id: str
    name: str
    role: Literal["user", "assistant", "system"]
    parts: tuple[Part, ...]
    at: str
    ended_at: str | None = None
    ended: str | None = None
    usage: tuple[int, int, int, int] | None = None
    error: tuple[str, str] | None = None
    meta: dict[str, Any] | None = None


# -- rules, and what a person was shown ------------------------------------------------------------


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A permission rule that belongs to the session."""

    tool: str
    content: str | None
    behavior: Literal["allow", "deny", "ask"]
    source: str = "session"
    expires_at: str | None = None


class Offer(Struct, frozen=True, kw_only=True):
    """A rule offered with a question; `matches` says in a sentence what it covers."""

    id: str
    rule: Rule
    matches: str


class Shown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The preview a person saw: a diff, a command, JSON or text."""

    kind: Literal["diff", "command", "json", "text"]
    text: str
    cwd: str | None = None


class Asked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question, as it was put.

    kind: `confirm` (may it run?), `ask` (questions for a person), `external` (a result from outside).
    definition: digest of the tool's definition at that moment. digest: names call, tool, definition and input.
    safety: no allow rule could have silenced it.
    """

    request_id: str
    at: str
    kind: Literal["confirm", "ask", "external"] = "confirm"
    why: str = ""
    definition: str
    digest: str
    offers: tuple[Offer, ...] = ()
    shown: Shown | None = None
    safety: bool = False
    expires_at: str | None = None

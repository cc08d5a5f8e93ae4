"""What clients send, and what they get: the shapes of the HTTP API. The OpenAPI document is made from these."""

import json
from collections.abc import Collection
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sayso.request import Decided, Request

__all__ = [
    "AnswerBody",
    "Begin",
    "History",
    "LogPage",
    "Message",
    "ModeBody",
    "Page",
    "Ref",
    "SessionInfo",
    "Sessions",
    "parsed",
]

_LONGEST = 200_000  # characters of a message
_DEEPEST = 64  # levels of lists and objects; an answer has about five


def parsed(text: bytes | str) -> Any:
    """JSON text as a value. Raises ValueError where it is none, or is none that can be kept and sent on:

    deeper than 64 levels, a number that JSON has not (NaN), half of a surrogate pair.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise ValueError("it is nested too deeply")
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def _inside(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Begin(_Body):
    """Begin a session. agent: whose it becomes; needed where the server has several. message: the first one."""

    agent: str | None = None
    message: str = Field(min_length=1, max_length=_LONGEST)


class Message(_Body):
    """A message to a session."""

    message: str = Field(min_length=1, max_length=_LONGEST)


class ModeBody(_Body):
    """A session's permission mode."""

    mode: Literal["default", "accept_edits", "explore", "bypass", "dont_ask"]


class AnswerBody(_Body):
    """An answer to the request in the path; see `sayso.request.Answer`. Who answers comes from the token."""

    digest: str
    decision: Literal["approve", "reject", "answer", "dismiss"]
    edited_input: str | None = None
    rule_ids: list[str] = Field(default_factory=list, max_length=20)
    reason: str | None = Field(default=None, max_length=_LONGEST)
    answers: list[dict[str, Any]] | None = None
    output: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    failed: bool = False


class Ref(BaseModel):
    """Where the thing is that was made or moved."""

    session_id: str


class SessionInfo(BaseModel):
    """A session in a list. state: `idle`, `parked` or `working`. length: entries of its log."""

    session_id: str
    agent: str
    title: str
    state: str
    length: int
    created_at: str
    updated_at: str


class Sessions(BaseModel):
    """A page of sessions, the one changed last first."""

    sessions: list[SessionInfo]


class Page(BaseModel):
    """A page of open requests, the oldest first."""

    requests: list[Request]


class History(BaseModel):
    """A page of requests that wait no more, the last first."""

    decided: list[Decided]


class LogPage(BaseModel):
    """Entries of a session's log, as they are. hash: hex, the chain that shows whether one was changed."""

    entries: list[dict[str, Any]]

"""Every error Sayso raises, sorted by who must act on it.

    SaysoError
      Refused                 the caller: this cannot happen now; nothing changed
        NotWaiting            nothing is waiting for such an answer (also: already answered, by whom and how)
        UnknownCall           no such call in this reply
        StaleAnswer           the answer was for other arguments, or for another reply
        Parked                a message came while answers are owed
        InvalidAnswer         the answer does not fit what was asked
        InvalidRule           the rule cannot be read, or can never match the tool it names
        WrongMoment           the fact is well formed but cannot follow the log as it stands
      Conflict                another runner moved this session first: read it again
      Outside                 the operator: a model, a store or an optional package failed
        ModelError            the model provider failed; `kind` says how
        StoreError            the store cannot be read or written
          StoreGone           it cannot be reached at this moment, and may come back
          LockLost            this process's proof of life in the store is gone: it may start nothing
          NewerLog            the log was written by a later version of Sayso
          BrokenLog           an entry was changed, removed, inserted or torn
        MissingExtra          an optional package is not installed; the message names the extra

A failing tool is not an error here: it is a result in state `error`, because the model must see it.
"""

from typing import Literal

__all__ = [
    "BrokenLog",
    "Conflict",
    "InvalidAnswer",
    "InvalidRule",
    "LockLost",
    "MissingExtra",
    "ModelError",
    "ModelErrorKind",
    "NewerLog",
    "NotWaiting",
    "Outside",
    "Parked",
    "Refused",
    "SaysoError",
    "StaleAnswer",
    "StoreError",
    "StoreGone",
    "UnknownCall",
    "WrongMoment",
]

ModelErrorKind = Literal[
    "rate_limited", "overloaded", "server", "network", "timeout", "broken_stream",
    "authentication", "not_found", "invalid_request", "context_length", "content_filter", "unknown",
]  # fmt: skip

# Trying again can help with these; the others need a person.
TRANSIENT: frozenset[str] = frozenset(
    {"rate_limited", "overloaded", "server", "network", "timeout", "broken_stream", "unknown"}
)


class SaysoError(Exception):
    """Base of everything Sayso raises on purpose."""


class Refused(SaysoError):
    """The caller asked for something that cannot happen now. Nothing changed."""


class NotWaiting(Refused):
    """Nothing is waiting for such an answer; if it was answered already, the message says by whom and how.

    how, by, via, at: the same for a program, empty where nothing is known of the request: `approved`, `refused`,
        `answered`, `dismissed`, `expired` or `withdrawn`; who; through which surface; ISO 8601 UTC.
    """

    def __init__(self, message: str, *, how: str = "", by: str = "", via: str = "", at: str = "") -> None:
        super().__init__(message)
        self.how, self.by, self.via, self.at = how, by, via, at


class UnknownCall(Refused):
    """The answer names a call that this reply does not have."""


class StaleAnswer(Refused):
    """The answer was given for other arguments, or for another reply."""


class Parked(Refused):
    """A message came while the session waits for answers."""


class InvalidAnswer(Refused):
    """The answer does not fit what was asked."""


class InvalidRule(Refused):
    """The rule cannot be read, or can never match the tool it names."""


class WrongMoment(Refused):
    """The fact is well formed but cannot follow the log as it stands."""


class Conflict(SaysoError):
    """Another runner moved this session first. Nothing was written; read the session again."""


class Outside(SaysoError):
    """Something outside Sayso failed: a model, a store, a missing package."""


class ModelError(Outside):
    """The model provider failed.

    kind: what went wrong, see `ModelErrorKind`.
    status: the HTTP status, if there was one.
    retry_after: seconds the provider asked us to wait, if it did.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ModelErrorKind = "unknown",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ModelErrorKind = kind
        self.status = status
        self.retry_after = retry_after

    @property
    def transient(self) -> bool:
        """Whether trying again can help."""
        return self.kind in TRANSIENT


class StoreError(Outside):
    """The store cannot be read or written."""


class StoreGone(StoreError):
    """The store cannot be reached at this moment, and may come back. What was being written may be there or not."""


class LockLost(StoreError):
    """This process's proof of life in the store is gone, so it may start nothing under it. Nothing was written."""


class NewerLog(StoreError):
    """The log was written by a later version of Sayso; upgrade to read it. It was not touched."""


class BrokenLog(StoreError):
    """An entry of the log was changed, removed, inserted or torn."""


class MissingExtra(Outside):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'sayso[{extra}]'")
        self.extra = extra

"""Errors on the wire: `application/problem+json` (RFC 9457) with a stable `code`; and back, for the client. Pure."""

from typing import Any

from sayso.errors import (
    BrokenLog,
    Conflict,
    InvalidAnswer,
    InvalidRule,
    MissingExtra,
    ModelError,
    NewerLog,
    NotWaiting,
    Outside,
    Parked,
    Refused,
    SaysoError,
    StaleAnswer,
    StoreError,
    UnknownCall,
    WrongMoment,
)

__all__ = ["Problem", "error_of", "problem"]

_STATUS: dict[type[SaysoError], int] = {
    NotWaiting: 409,
    StaleAnswer: 409,
    Parked: 409,
    WrongMoment: 409,
    Conflict: 409,
    UnknownCall: 404,
    InvalidAnswer: 422,
    InvalidRule: 422,
    Refused: 422,
    NewerLog: 503,
    BrokenLog: 503,
    StoreError: 503,
    ModelError: 503,
    MissingExtra: 503,
    Outside: 503,
}
_BY_CODE: dict[str, type[SaysoError]] = {kind.__name__: kind for kind in _STATUS}


class Problem(Exception):
    """What is wrong with a request to the server. status: of HTTP. code: stable, for programs. detail: for people."""

    def __init__(self, status: int, code: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.more = status, code, detail, more

    def body(self) -> dict[str, Any]:
        """What the client reads."""
        said = {"type": f"urn:sayso:{self.code}", "code": self.code, "status": self.status, "detail": self.detail}
        return {**said, **self.more}


def problem(error: SaysoError) -> Problem:
    """An error of Sayso's as a problem. A request that is closed already says by whom, how and when."""
    kind = next(k for k in type(error).__mro__ if k in _STATUS)
    more: dict[str, Any] = {}
    if isinstance(error, NotWaiting) and error.how:
        more = {"how": error.how, "by": error.by, "via": error.via, "at": error.at}
    status = 404 if isinstance(error, NotWaiting) and not error.how and "there is no request" in str(error) else 0
    return Problem(status or _STATUS[kind], kind.__name__, str(error), **more)


def error_of(status: int, body: Any) -> SaysoError:
    """The error that an answer stands for."""
    code = body.get("code") if isinstance(body, dict) else None
    detail = str(body.get("detail")) if isinstance(body, dict) else f"the server answered {status}"
    kind = _BY_CODE.get(str(code))
    if kind is NotWaiting and isinstance(body, dict):
        return NotWaiting(detail, **{k: str(body.get(k, "")) for k in ("how", "by", "via", "at")})
    if kind is not None:
        return kind(detail)
    return Refused(detail) if 400 <= status < 500 else Outside(detail)

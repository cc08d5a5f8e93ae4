"""Facts to bytes and back. Version 1 is the first; `upgrades` turn older facts into today's when they are read."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from sayso.errors import BrokenLog, NewerLog
from sayso.reply.fact import Fact
from sayso.reply.state import Session

__all__ = ["UPGRADES", "decode", "decode_session", "encode", "encode_session", "written"]

# From (fact name, version) to a function from that fact's JSON object to the next version's. Empty while every
# fact is in its first version; an entry is never removed, since logs live longer than releases.
UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}

_encoder = msgspec.json.Encoder()


@cache
def _decoder() -> "msgspec.json.Decoder[Fact]":
    return msgspec.json.Decoder(Fact)


@cache
def _session_decoder() -> "msgspec.json.Decoder[Session]":
    return msgspec.json.Decoder(Session)


@cache
def _versions() -> dict[str, int]:
    tags = [str(kind.__struct_config__.tag) for kind in Fact.__args__]
    return {name: int(number) for name, _, number in (tag.partition("/") for tag in tags)}


def encode(fact: Fact) -> bytes:
    """One fact as a JSON object. Raises UnicodeEncodeError for what `written` would make whole."""
    return _encoder.encode(fact)


def written(fact: Fact) -> tuple[Fact, bytes]:
    """The fact as it can be written, and its bytes.

    A cut escape in a model's or a tool's JSON is half a surrogate pair, which has no bytes in UTF-8: halves are joined
    where both are there, and else become U+FFFD. What is judged, shown and run is the fact that is given back.
    """
    try:
        return fact, _encoder.encode(fact)
    except UnicodeEncodeError:
        fact = msgspec.convert(_whole(msgspec.to_builtins(fact)), type(fact))
        return fact, _encoder.encode(fact)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(k): _whole(v) for k, v in value.items()}
    return [_whole(v) for v in value] if isinstance(value, list | tuple) else value


def decode(data: bytes) -> Fact:
    """One fact, upgraded to today's version.

    Raises NewerLog if a later version of Sayso wrote it, BrokenLog if it is not a fact.
    """
    try:
        return _decoder().decode(data)
    except msgspec.MsgspecError as exc:
        return _old_or_broken(data, exc)


def _old_or_broken(data: bytes, problem: Exception) -> Fact:
    try:
        raw = msgspec.json.decode(data)
        tag = str(raw["fact"])
    except (msgspec.MsgspecError, KeyError, TypeError) as exc:
        raise BrokenLog(f"an entry of the log is not a fact: {problem}") from exc
    name, _, number = tag.partition("/")
    known = _versions().get(name)
    if known is None or not number.isdecimal() or int(number) > known:
        raise NewerLog(f"the log holds {tag!r}, which this version of Sayso does not know; upgrade Sayso to read it")
    upgraded = False
    while (upgrade := UPGRADES.get(str(raw["fact"]))) is not None:
        raw, upgraded = upgrade(raw), True
    if not upgraded:
        raise BrokenLog(f"an entry of the log cannot be read as {tag!r}: {problem}") from problem
    fact: Fact = msgspec.convert(raw, Fact)
    return fact


def encode_session(session: Session) -> bytes:
    """A fold as a JSON object, for snapshots and `AgentState`."""
    return _encoder.encode(session)


def decode_session(data: bytes) -> Session:
    """The fold that `encode_session` wrote. Raises BrokenLog if it is not one."""
    try:
        return _session_decoder().decode(data)
    except msgspec.MsgspecError as exc:
        raise BrokenLog(f"the saved state of a session cannot be read: {exc}") from exc

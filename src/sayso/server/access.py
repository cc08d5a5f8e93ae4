"""Who is asking: tokens, people, roles, and the cookie of a browser. Knows no route.

A person is known by a token and by nothing in a body. Tokens are kept as SHA-256; a browser exchanges its token once
for a cookie that no script can read and no other site can send.
"""

import hashlib
import hmac
import re
import secrets
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["COOKIE", "Access", "Person", "Role"]

Role = Literal["viewer", "approver", "admin"]
"""viewer: sees. approver: also answers and talks. admin: also changes modes."""

COOKIE = "sayso"
_RANK: dict[str, int] = {"viewer": 0, "approver": 1, "admin": 2}
_LIFE = 12 * 3600  # seconds that a browser stays signed in; a working day
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may use the server. name: what the log says of who answered."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether they may do what `role` may do."""
        return _RANK[self.role] >= _RANK[role]


class Access:
    """The people of a server. people: hex SHA-256 of a token -> the person who holds it."""

    def __init__(self, people: Mapping[str, Person]) -> None:
        if not people:
            raise ValueError("a server needs at least one person who may use it")
        self._people = dict(people)

    @classmethod
    def single(cls, token: str, name: str = "admin") -> "Access":
        """One person who may do everything. Raises ValueError for a token that could be guessed."""
        if len(token) < 16:
            raise ValueError("the token is too short to be a secret: use at least 16 characters")
        return cls({_digest(token): Person(name, "admin")})

    @classmethod
    def from_file(cls, path: Path) -> "Access":
        """The people of a TOML file: `[[user]]` tables with `name`, `role` and `token_sha256`.

        Raises ValueError naming what is wrong in it; a file that is not understood lets nobody in.
        """
        try:
            data = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as exc:
            raise ValueError(f"{path} cannot be read: {exc}") from exc
        if set(data) != {"user"} or not isinstance(data["user"], list):
            raise ValueError(f"{path} must hold [[user]] tables and nothing else")
        people: dict[str, Person] = {}
        for n, user in enumerate(data["user"], 1):
            digest, person = _user(path, n, user)
            if digest in people or person.name in {p.name for p in people.values()}:
                raise ValueError(f"{path}: user {n} has the name or the token of another")
            people[digest] = person
        return cls(people)

    def of_token(self, token: str) -> Person | None:
        """The person who holds `token`."""
        given = _digest(token)
        found = None
        for digest, person in self._people.items():  # all of them, so that time tells nothing
            if hmac.compare_digest(digest, given):
                found = person
        return found

    # -- browsers --------------------------------------------------------------------------------------

    def cookie_for(self, token: str) -> str | None:
        """A cookie for the holder of `token`, None for anybody else. Good for a working day, across restarts."""
        if self.of_token(token) is None:
            return None
        digest = _digest(token)
        until = str(int(time.time()) + _LIFE)
        nonce = secrets.token_hex(8)
        return f"{until}.{nonce}.{_seal(digest, until, nonce)}"

    def of_cookie(self, cookie: str) -> Person | None:
        """The person whose browser sends `cookie`."""
        until, _, rest = cookie.partition(".")
        nonce, _, seal = rest.partition(".")
        if not until.isdecimal() or len(until) > 12 or int(until) < time.time():
            return None
        found = None
        for digest, person in self._people.items():
            if hmac.compare_digest(_seal(digest, until, nonce).encode(), seal.encode("utf-8", "replace")):
                found = person
        return found


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _seal(digest: str, until: str, nonce: str) -> str:
    """Only who knows the token's digest can make it; a new token ends what the old one opened."""
    return hmac.new(digest.encode(), f"{until}.{nonce}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _user(path: Path, n: int, user: Any) -> tuple[str, Person]:
    fields: Sequence[str] = ("name", "role", "token_sha256")
    if not isinstance(user, dict) or set(user) != set(fields) or not all(isinstance(user[f], str) for f in fields):
        raise ValueError(f"{path}: user {n} needs exactly {', '.join(fields)}, each a text")
    if user["role"] not in _RANK:
        raise ValueError(f"{path}: user {n}: role {user['role']!r} is none of {', '.join(_RANK)}")
    if not user["name"].strip() or not user["name"].isprintable():
        raise ValueError(f"{path}: user {n} needs a printable name")
    if not _HEX.fullmatch(user["token_sha256"].lower()):
        raise ValueError(f"{path}: user {n}: token_sha256 is no SHA-256 in hex (printf %s TOKEN | sha256sum)")
    return user["token_sha256"].lower(), Person(user["name"], user["role"])

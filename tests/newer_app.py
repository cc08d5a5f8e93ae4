"""The fleet's agent as a later version of Sayso would run it: one kind of fact is written in a second version."""

import os
from collections.abc import Sequence
from typing import Any

from sayso.host import Host
from sayso.store import Entry, PostgresStore
from soak.fleet_app import build

__all__ = ["NewerStore", "build"]

_OLD, _NEW = b'"CallJudged/1"', b'"CallJudged/2"'


class NewerStore(PostgresStore):
    """Writes the second version, and reads both."""

    async def append(self, session_id: str, facts: Sequence[bytes], **more: Any) -> tuple[Entry, ...]:
        return await super().append(session_id, [fact.replace(_OLD, _NEW) for fact in facts], **more)

    async def read(self, session_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        entries = await super().read(session_id, after=after, limit=limit)
        return [entry._replace(fact=entry.fact.replace(_NEW, _OLD)) for entry in entries]


if "FLEET_DSN" in os.environ:
    host = Host(NewerStore(os.environ["FLEET_DSN"]), {"payer": build})

"""Who drives a session when this process does not: the protocol that queues and workflow engines fit behind.

A message says only "drive session S". It may come twice, late or to a process that has nothing to do: the truth is the
log, and only its fence gives the right to act.
"""

from typing import Protocol

__all__ = ["Dispatch", "Nobody"]


class Dispatch(Protocol):
    """Sees to it that sessions are driven, in whatever process."""

    async def drive(self, session_id: str, agent: str) -> None:
        """Have some process that has this agent drive the session. Raises StoreError where it cannot be asked for."""
        ...


class Nobody:
    """Leaves the session for whoever looks next."""

    async def drive(self, session_id: str, agent: str) -> None:
        """Nothing."""

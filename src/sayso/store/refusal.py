"""What every store refuses, in the same words whichever adapter it is. It knows no adapter."""

from collections.abc import Iterable, Mapping

from sayso.errors import Conflict, LockLost, Refused, StoreError
from sayso.store.base import Index

__all__ = ["closed", "conflict", "lock_lost", "no_such_page", "no_such_snapshot", "refuse_strangers"]


def conflict(session_id: str, *, length: int, at: int) -> Conflict:
    """The log has another length than the writer believed."""
    return Conflict(
        f"session {session_id!r} has {length} entries, not {at}: another runner moved it first; read it again"
    )


def lock_lost(runner_id: str) -> LockLost:
    """A runner wants to start something after its lock was lost."""
    return LockLost(
        f"runner {runner_id!r} has lost its lock, so others may take it for dead: nothing was started; "
        "what it was running is in doubt"
    )


def closed() -> StoreError:
    """The store object was closed."""
    return StoreError("this store was closed; open it again")


def no_such_page(what: str, after: str) -> Refused:
    """A page is asked for that follows nothing."""
    return Refused(f"there is no {what} {after!r} for a page to follow; list from the start, without `after`")


def no_such_snapshot(session_id: str, length: int) -> Refused:
    """A snapshot claims more than the log holds."""
    return Refused(f"session {session_id!r} does not have {length} entries, so a snapshot of them cannot be kept")


def refuse_strangers(session_id: str, index: Index, owners: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
    """Raise `Refused` where a request of the index is, or ever was, another session's, or is named twice.

    owners: request_id -> session_id, of at least the requests that the index names and the store has seen.
    """
    if not index.waiting:
        return
    known = dict(owners)
    named = set()
    for request in index.waiting:
        owner = known.get(request.request_id, request.session_id)
        if owner != session_id:
            raise Refused(f"request {request.request_id!r} is of session {owner!r} and cannot wait in {session_id!r}")
        if request.request_id in named:
            raise Refused(f"request {request.request_id!r} is named twice in the index of session {session_id!r}")
        named.add(request.request_id)

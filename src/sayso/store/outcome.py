"""How requests ended, as every store keeps it. It knows no adapter."""

from collections.abc import Collection

from sayso.store.base import Index, Outcome

__all__ = ["outcomes_of"]


def outcomes_of(index: Index, closed: Collection[str]) -> list[Outcome]:
    """The outcome of each of these requests: what the index says of it, else that it was withdrawn."""
    said = {outcome.request_id: outcome for outcome in index.outcomes}
    return [said.get(request_id) or Outcome(request_id, "withdrawn") for request_id in closed]

"""Folds that this process has at hand, so that going on with a session reads only what is new.

A log only grows: a fold of its first n entries stays true, and whoever holds it reads from n on. Bounded: what falls
out is read again from the store.
"""

from collections import OrderedDict
from weakref import WeakKeyDictionary

from sayso.message import Msg
from sayso.reply.part import Said
from sayso.reply.state import Session
from sayso.reply.transcript import message_of
from sayso.store.base import Store

__all__ = ["Fold", "folds_of"]

# Sessions whose fold is kept. At a few hundred kB for a long conversation this is some ten MB at the most.
_KEPT = 64


class Fold:
    """The fold of the first `length` entries of a session, and its whole messages in the published language.

    snapshot_at: how long the log was at the last snapshot known.
    """

    def __init__(self) -> None:
        self.session = Session()
        self.length = 0
        self.snapshot_at = 0
        self._past: list[Msg] = []
        self._last: Said | None = None

    def past(self, history: tuple[Said, ...]) -> list[Msg]:
        """Whole messages in the published language; only what is new is translated. Not to be changed."""
        n = len(self._past)
        if n > len(history) or (n and history[n - 1] is not self._last):
            self._past, n = [], 0
        if n < len(history):
            self._past = [*self._past, *(message_of(s) for s in history[n:])]
            self._last = history[-1]
        return self._past


class _Folds:
    """The most recently used folds of one store."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Fold] = OrderedDict()

    def of(self, session_id: str) -> Fold:
        """The fold of a session; an empty one where none is at hand."""
        fold = self._kept.pop(session_id, None) or Fold()
        self._kept[session_id] = fold
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return fold


_of_store: "WeakKeyDictionary[Store, _Folds]" = WeakKeyDictionary()


def folds_of(store: Store) -> _Folds:
    """The folds at hand of one store."""
    folds = _of_store.get(store)
    if folds is None:
        folds = _of_store[store] = _Folds()
    return folds

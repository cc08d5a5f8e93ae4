"""This process's proof of life in a store, and which calls it is running at this moment."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from weakref import WeakKeyDictionary

from sayso.store.base import Runner, Store

__all__ = ["ProcessRunner", "runner_of"]


class ProcessRunner:
    """The one runner that this process has in a store."""

    def __init__(self, store: Store, proof: Runner, held: AbstractAsyncContextManager[Runner]) -> None:
        self._store = store
        self._proof = proof
        self._held = held  # letting go of it would let go of the lock
        self._running: set[tuple[str, str]] = set()

    @property
    def id(self) -> str:
        """The runner's id, as `ToolStarted` names it."""
        return self._proof.id

    @property
    def alive(self) -> bool:
        """False once the proof is lost: nothing more may be started."""
        return self._proof.alive

    async def abandon(self) -> None:
        """Let go of the lock: what was started under this id and has no result is in doubt for whoever looks next."""
        await self._held.__aexit__(None, None, None)

    def begin(self, session_id: str, call_ids: Sequence[str]) -> None:
        """From now on these calls are run by this process."""
        self._running |= {(session_id, c) for c in call_ids}

    def end(self, session_id: str, call_ids: Sequence[str]) -> None:
        """They are not any more."""
        self._running -= {(session_id, c) for c in call_ids}

    async def still_runs(self, runner_id: str, session_id: str, call_id: str) -> bool:
        """Whether a started call is still being run by the runner that started it."""
        if runner_id == self._proof.id:
            return (session_id, call_id) in self._running
        return await self._store.is_alive(runner_id)


_runners: "WeakKeyDictionary[Store, ProcessRunner]" = WeakKeyDictionary()


async def runner_of(store: Store) -> ProcessRunner:
    """This process's runner in a store: taken once, held until the store is closed or the process ends."""
    runner = _runners.get(store)
    if runner is None or not runner.alive:
        held = store.runner()
        runner = _runners[store] = ProcessRunner(store, await held.__aenter__(), held)
    return runner

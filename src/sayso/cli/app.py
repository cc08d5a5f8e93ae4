"""The host that a command serves or works for: the chat's agent, or a program's own. Owns how it is found."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.cli.choice import NAME, chosen_model, notes_builder
from sayso.cli.home import default_store
from sayso.host import Host
from sayso.store import open_store
from sayso.visible import visible

if TYPE_CHECKING:
    from sayso.store.postgres import PostgresStore
    from sayso.worker import Queue

__all__ = ["host_of", "in_postgres", "queue_of", "trouble"]


def host_of(options: argparse.Namespace, *, begins: bool) -> Host:
    """The host to serve. Raises ValueError where there is none by that name.

    begins: it begins sessions, so a model must be known (else NoModel); those that others began name theirs.
    """
    if options.app:
        return _named(options.app)
    notes = {"cwd": str(Path(options.cwd).resolve())}
    if begins or options.model:
        notes["model"] = chosen_model(options.model, os.environ)
    store = open_store(options.store or default_store())
    build = notes_builder(notes, os.environ)
    return Host(store, {NAME: build}, on_trouble=trouble)


def in_postgres(host: Host) -> "PostgresStore | None":
    """The host's store, if it is one that workers can share."""
    try:
        from sayso.store.postgres import PostgresStore
    except ImportError:
        return None
    return host.store if isinstance(host.store, PostgresStore) else None


@contextlib.asynccontextmanager
async def queue_of(host: Host, drive: bool) -> "AsyncIterator[Queue | None]":
    """Inside, what comes in to a host over Postgres is driven by workers, unless it is to be driven here."""
    store = None if drive else in_postgres(host)
    if store is None:
        yield None
        return
    from sayso.worker import fronting

    async with fronting(host, store) as queue:
        yield queue


def trouble(session_id: str, problem: BaseException) -> None:
    """Say on standard error what went wrong with a session, or with none."""
    about = f"session {session_id}: {type(problem).__name__}: " if session_id else ""
    print(visible(f"sayso: {about}{problem}"), file=sys.stderr, flush=True)


def _named(app: str) -> Host:
    """The host that `module:attribute` names. Raises ValueError where there is none."""
    module, _, attribute = app.partition(":")
    if not attribute:
        raise ValueError(f"{app}: say module:attribute, where attribute is a sayso.host.Host")
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as exc:
        raise ValueError(f"{app} cannot be loaded: {exc}") from exc
    if not isinstance(found, Host):
        raise ValueError(f"{app} is a {type(found).__name__}; it must be a sayso.host.Host")
    return found

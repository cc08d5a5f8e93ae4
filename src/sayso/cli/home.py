"""Where Sayso keeps what is a person's own. Knows no session and no store."""

import argparse
import os
from pathlib import Path

__all__ = ["default_store", "named_store", "place_of", "state_home"]


def state_home() -> Path:
    """The folder of what Sayso keeps for a person: `$XDG_STATE_HOME/sayso`, private. Made if need be."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    home = (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "sayso"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


def default_store() -> str:
    """The store of the sessions of `sayso chat`: `$SAYSO_STORE`, else `sessions.db` among what Sayso keeps."""
    return os.environ.get("SAYSO_STORE") or str(state_home() / "sessions.db")


def named_store(named: str | None) -> str:
    """The store to look into. Raises ValueError where a file is named that is not there: looking makes none."""
    if not named:
        return default_store()
    scheme, url, rest = named.partition("://")
    path = rest.removeprefix("/") if url else named
    if (not url or scheme == "sqlite") and not os.path.exists(path):
        raise ValueError(f"--store {named}: there is no such file; a chat with this --store would begin it")
    return named


def place_of(options: argparse.Namespace) -> list[str]:
    """The options by which a command that is printed reaches the same sessions as this one."""
    if getattr(options, "server", None):
        return ["--server", options.server]
    return ["--store", options.store] if options.store else []

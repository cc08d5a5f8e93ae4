"""Where Sayso keeps what is a person's own. Knows no session and no store."""

import os
from pathlib import Path

__all__ = ["default_store", "state_home"]


def state_home() -> Path:
    """The folder of what Sayso keeps for a person: `$XDG_STATE_HOME/sayso`, private. Made if need be."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    home = (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "sayso"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


def default_store() -> str:
    """The store of the sessions of `sayso chat`: `$SAYSO_STORE`, else `sessions.db` among what Sayso keeps."""
    return os.environ.get("SAYSO_STORE") or str(state_home() / "sessions.db")

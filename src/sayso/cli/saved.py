"""A conversation in a file: its `AgentState` as JSON, private to its owner, replaced whole, held by one process.

Owns where such files are and that two processes do not go on from one of them at once. Knows no agent.
"""

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from sayso.errors import Conflict, StoreError
from sayso.state import AgentState

__all__ = ["StateFile", "state_home"]


def state_home() -> Path:
    """The folder of what Sayso keeps for a person: `$XDG_STATE_HOME/sayso`, private. Made if need be."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    home = (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "sayso"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


class StateFile:
    """The file `path`, held until `close` or the end of the process.

    Raises Conflict where another process holds it, StoreError where it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        locks = state_home() / "locks"
        locks.mkdir(mode=0o700, exist_ok=True)
        name = hashlib.sha256(os.fsencode(os.path.realpath(self.path))).hexdigest()[:32]
        # Beside the file would litter; the file itself is replaced by every write, and a lock does not follow.
        self._lock = os.open(locks / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise Conflict(f"{self.path} is open in another sayso; end that one first") from None

    @classmethod
    def of_session(cls, session_id: str) -> "StateFile":
        """Where a session is kept for which no file was named."""
        folder = state_home() / "sessions"
        folder.mkdir(mode=0o700, exist_ok=True)
        return cls(folder / f"{hashlib.sha256(session_id.encode()).hexdigest()[:16]}.json")

    def read(self) -> AgentState | None:
        """The state in the file, or None where there is no file yet."""
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise StoreError(f"{self.path} cannot be read: {exc.strerror}") from exc
        try:
            return AgentState.model_validate_json(text)
        except ValidationError as exc:
            first = exc.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the top"
            raise StoreError(f"{self.path} holds no saved conversation: {first['msg']} (at {where})") from None

    def write(self, state: AgentState) -> None:
        """Replace the file's content, wholly or not at all."""
        try:
            fd, draft = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with os.fdopen(fd, "w", encoding="utf-8") as file:
                    file.write(state.model_dump_json())
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(draft, self.path)
            except BaseException:
                os.unlink(draft)
                raise
        except OSError as exc:
            raise StoreError(f"{self.path} cannot be written: {exc.strerror}") from exc

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._lock)

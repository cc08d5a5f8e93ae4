"""The reading of one call in progress: the units found so far, the limits, and where the shell may stand.

Owns what all parts of the reader share. Knows no syntax and no command.
"""

import time
from dataclasses import dataclass, field, replace

from sayso.permission.shell.variable import Variables
from sayso.permission.unit import CommandUnit, OpaqueUnit, Unit, Word

__all__ = ["MAX_DEPTH", "MOST_BYTES", "NOWHERE", "Cwds", "Flow", "Limit", "Reading", "Scope", "merge"]

MAX_UNITS = 600
MAX_DEPTH = 24
MAX_NODES = 6000
MOST_CWDS = 4
MOST_BYTES = 32_000
"""Without blanks and the bodies of here-documents: what the parser can take in, even if it is nonsense."""
SECONDS = 0.02
"""Of this thread's time, for parsing: a busy machine changes no verdict."""

Cwds = tuple[str | None, ...]
"""The directories the shell may be in; None among them: any. Empty: this place is not reached."""

NOWHERE: Cwds = (None,)


def merge(*ways: Cwds) -> Cwds:
    """Where the shell may be after any of these."""
    places = tuple(dict.fromkeys(place for way in ways for place in way))
    return places if len(places) <= MOST_CWDS else NOWHERE


@dataclass(frozen=True, slots=True)
class Flow:
    """Where the shell may be after a command that succeeded, and after one that failed."""

    success: Cwds
    failure: Cwds

    @property
    def either(self) -> Cwds:
        """Whatever its exit status."""
        return self.success if self.success == self.failure else merge(self.success, self.failure)


@dataclass(frozen=True, slots=True)
class Scope:
    """How the commands that are read came to run.

    wrapped, behind, open_argv: as in CommandUnit. shadow: another unit carries the cover. remote: on another machine or
    in another file system, so that files are not these.
    """

    wrapped: tuple[str, ...] = ()
    behind: tuple[Word, ...] = ()
    open_argv: bool = False
    shadow: bool = False
    remote: bool = False


class Limit(Exception):
    """The text is too large or too deep to be read to its end. Never leaves this package."""


@dataclass(slots=True)
class Reading:
    """What was found. home: the home directory, or None where unknown. workspace: the working directories."""

    home: str | None = None
    workspace: tuple[str, ...] = ()
    variables: Variables = field(default_factory=Variables)
    units: list[Unit] = field(default_factory=list)
    opaque: dict[str, OpaqueUnit] = field(default_factory=dict)
    depth: int = 0
    nodes: int = 0
    deadline: float = field(default_factory=lambda: time.thread_time() + SECONDS)

    def note(self, why: str, source: str = "") -> None:
        """The call asks, for this reason."""
        self.opaque.setdefault(why, OpaqueUnit(why=why, source=source[:200]))

    def command(self, unit: CommandUnit, cwds: Cwds) -> None:
        """Add one command, once for each directory it may run in."""
        for cwd in cwds or NOWHERE:
            self.add(unit if unit.cwd == cwd else replace(unit, cwd=cwd))

    def add(self, unit: Unit) -> None:
        """Add one unit. Raises Limit."""
        self.units.append(unit)
        if len(self.units) > MAX_UNITS:
            raise Limit(f"the command has more than {MAX_UNITS} parts")

    def deeper(self) -> None:
        """One level of nesting more; the caller takes it back. Raises Limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Limit(f"the command nests deeper than {MAX_DEPTH} levels")

    def spend(self, nodes: int) -> None:
        """Account for work. Raises Limit."""
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise Limit("the command is too long to be judged")

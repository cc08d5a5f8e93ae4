"""From the text of a Bash command to the units that the engine judges.

Owns the way in, and that a text beyond the limits asks. Knows no rule and no verdict.
"""

from collections.abc import Collection, Sequence

from sayso.permission.shell.gate import MAX_BYTES, forbidden
from sayso.permission.shell.reading import Limit, Reading, Scope
from sayso.permission.shell.variable import Variables
from sayso.permission.shell.walk import read_text
from sayso.permission.unit import OpaqueUnit, Unit

__all__ = ["shell_units"]


def shell_units(
    command: str,
    *,
    cwd: str | None,
    home: str | None = None,
    workspace: Sequence[str] = (),
    exported: Collection[str] | None = None,
) -> tuple[Unit, ...]:
    """What running this text would do: simple commands and redirections, in their order, then what is not understood.

    cwd: the directory it is run in, absolute and canonical, or None where unknown. home: what `~` and `$HOME` stand
    for. workspace: the working directories; a `cd` that stays inside them is followed. exported: the names in the
    environment that it is run with, or None where unknown: setting another one reaches no program.

    Runs nothing and raises nothing for any text; takes less than 50 ms, since a text that is too large or too deep
    becomes an OpaqueUnit.
    """
    if len(command) > MAX_BYTES or len(command.encode(errors="replace")) > MAX_BYTES:
        return (OpaqueUnit(why=f"the command is longer than {MAX_BYTES} bytes", source=command[:200]),)
    reading = Reading(home, tuple(workspace), Variables(exported))
    if (why := forbidden(command)) is not None:
        reading.note(why)
    try:
        read_text(command.encode(errors="replace"), reading, Scope(), (cwd,))
    except Limit as limit:
        reading.note(str(limit), command)
    for why in reading.variables.disappointed():
        reading.note(why)
    return (*reading.units, *reading.opaque.values())

"""How a reply reads as one message: its words, its calls as they ran, their results."""

from typing import Literal

from sayso.reply.part import Call, Hint, Part, Result, Said
from sayso.reply.state import CallAt, Reply

__all__ = ["closed", "said_of", "spoken"]


def closed(c: CallAt, state: Literal["error", "denied", "interrupted"], text: str, at: str) -> Result:
    """The result of a call that did not run to its end."""
    return Result(call_id=c.call.id, tool=c.call.tool, state=state, output=text, at=at)


def spoken(reply: Reply) -> tuple[Part, ...]:
    """The parts of a reply so far, with the results of its last round."""
    return (*_as_run(reply), *_results(reply.calls))


def said_of(reply: Reply) -> Said:
    """The whole message of a reply, as it stands."""
    return Said(
        id=reply.id,
        name=reply.name,
        role="assistant",
        parts=spoken(reply),
        at=reply.at,
        ended_at=reply.ended_at,
        ended=reply.ended,
        usage=reply.usage,
        error=reply.error,
    )


def _as_run(reply: Reply) -> tuple[Part, ...]:
    """What was said, each call of the last round with the input it has now (a person may have edited it)."""
    now = {c.call.id: c.call for c in reply.calls}
    return tuple(now.get(p.id, p) if isinstance(p, Call) else p for p in reply.said)


def _results(calls: tuple[CallAt, ...]) -> tuple[Part, ...]:
    """The results of a round, and a word to the model where a person changed what it asked for."""
    out: list[Part] = [c.result for c in calls if c.result is not None]
    for c in calls:
        if c.edited_from is not None and c.result is not None:
            text = (
                f"A person changed the input of {c.call.tool} (call {c.call.id}) before it ran. "
                f"The input shown is the one that was used; you had written: {c.edited_from}"
            )
            out.append(Hint(id=f"{c.call.id}.edited", text=text, source="person"))
    return tuple(out)

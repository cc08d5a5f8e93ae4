"""What the machine wants done: orders to the runtime, derived from the state and never stored."""

from dataclasses import dataclass

from sayso.reply.part import Call, Said
from sayso.reply.state import Approval

__all__ = ["Await", "CallModel", "Effect", "JudgeCall", "RunTool", "SettleDoubt", "StartQueued"]


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model, for the `iteration`-th time in this reply."""

    iteration: int


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """Decide whether the call may run. `approval` is a person's yes, if there was one: evidence."""

    call: Call
    approval: Approval | None


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run the tool, or hand the call outside if its tool is external."""

    call: Call


@dataclass(frozen=True, slots=True)
class SettleDoubt:
    """Find out whether the call, whose runner was lost, did happen."""

    call: Call


@dataclass(frozen=True, slots=True)
class StartQueued:
    """Answer the messages that came while answers were owed."""

    messages: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Only the outside can move this call on."""

    call_id: str


Effect = CallModel | JudgeCall | RunTool | SettleDoubt | StartQueued | Await

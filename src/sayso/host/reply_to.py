"""An answer to a request becomes the event that the agent takes. Pure.

Every surface answers through here, so that none can break the rules: the answer names the digest it saw, a rule is
chosen by the id of an offer, and an empty answer is not an answer.
"""

from typing import Any

from sayso.errors import InvalidAnswer, StaleAnswer
from sayso.event import ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent
from sayso.message import ToolCallBlock, ToolResultBlock, ToolResultState
from sayso.permission.rule import PermissionRule
from sayso.request import Answer, Request
from sayso.tool.ask_user import AskUserMetadata, AskUserParams, answers_text

__all__ = ["as_event"]

_FITS = {"confirm": ("approve", "reject"), "ask": ("answer", "reject"), "external": ("answer", "reject")}


def as_event(request: Request, answer: Answer) -> UserConfirmResultEvent | ExternalExecutionResultEvent | None:
    """The event, None where the question is dismissed.

    Raises StaleAnswer for another digest, InvalidAnswer for an answer that does not fit.
    """
    if answer.digest != request.digest:
        raise StaleAnswer(f"request {request.id!r} has changed since it was shown; look at it again")
    if answer.decision != "dismiss" and answer.decision not in _FITS[request.kind]:
        fits = " or ".join(_FITS[request.kind])
        raise InvalidAnswer(f"request {request.id!r} is of kind {request.kind!r}: answer it with {fits}, or dismiss it")
    _only_what_fits(request, answer)
    if answer.decision == "dismiss":
        return None
    if request.kind == "confirm":
        return _confirmation(request, answer)
    state = ToolResultState.SUCCESS
    metadata: dict[str, Any] = answer.metadata
    if answer.decision == "reject":
        output = "The person declined to answer." if request.kind == "ask" else "It was declined."
        output = f"{output} Reason: {answer.reason}" if answer.reason else output
        state, metadata = ToolResultState.DENIED, {}
    elif request.kind == "ask":
        output, metadata = _answers(request, answer)
    elif answer.output is None or not answer.output.strip():
        raise InvalidAnswer(f"request {request.id!r} waits for a result: `output` is empty")
    else:
        output = answer.output
        state = ToolResultState.ERROR if answer.failed else state
    block = ToolResultBlock(id=request.call_id, name=request.tool, output=output, state=state, metadata=metadata)
    return ExternalExecutionResultEvent(reply_id=request.reply_id, execution_results=[block])


def _only_what_fits(request: Request, answer: Answer) -> None:
    """An answer that carries what its decision has no use for was meant for something else."""
    approves = request.kind == "confirm" and answer.decision == "approve"
    if (answer.edited_input is not None or answer.rule_ids) and not approves:
        raise InvalidAnswer("edited_input and rule_ids go with an approval of a confirmation only")
    if answer.answers is not None and not (request.kind == "ask" and answer.decision == "answer"):
        raise InvalidAnswer(f"`answers` answers questions; request {request.id!r} asks none")
    if answer.output is not None and not (request.kind == "external" and answer.decision == "answer"):
        raise InvalidAnswer(f"`output` is the result of an external tool; request {request.id!r} waits for none")


def _confirmation(request: Request, answer: Answer) -> UserConfirmResultEvent:
    approved = answer.decision == "approve"
    text = answer.edited_input if answer.edited_input is not None else request.input
    block = ToolCallBlock(id=request.call_id, name=request.tool, input=text, metadata={"digest": request.digest})
    result = ConfirmResult(
        confirmed=approved, tool_call=block, rules=_rules(request, answer) or None, reason=answer.reason
    )
    return UserConfirmResultEvent(reply_id=request.reply_id, confirm_results=[result])


def _rules(request: Request, answer: Answer) -> list[PermissionRule]:
    offered = {o.id: o.rule for o in request.suggested_rules}
    for rule_id in answer.rule_ids:
        if rule_id not in offered:
            ids = ", ".join(offered) or "none"
            raise InvalidAnswer(f"request {request.id!r} offers no rule {rule_id!r}; it offers: {ids}")
    return [offered[rule_id] for rule_id in answer.rule_ids]


def _answers(request: Request, answer: Answer) -> tuple[str, dict[str, Any]]:
    if not answer.answers:
        raise InvalidAnswer(f"request {request.id!r} asks questions: `answers` is empty")
    try:
        metadata = AskUserMetadata.model_validate({"answers": answer.answers})
    except ValueError as exc:
        raise InvalidAnswer(f"the answers to request {request.id!r} cannot be read: {exc}") from exc
    params = AskUserParams.model_validate_json(request.input)
    return answers_text(params, metadata), metadata.model_dump()

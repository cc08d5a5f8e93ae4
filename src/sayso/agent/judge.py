"""Judging one call: unknown tool, unreadable input, then the permission engine; and the question where it asks.

A person's yes is evidence: it counts only for exactly the call, and the tool, that the person saw. Knows the engine
and the toolkit; no store, no model.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from sayso.ids import new_id, now
from sayso.permission import PermissionEngine
from sayso.permission.context import PermissionContext
from sayso.permission.decision import PermissionDecision
from sayso.permission.explain import describe_rule
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.reply.digest import digest_of, question_digest
from sayso.reply.effect import JudgeCall
from sayso.reply.fact import CallJudged
from sayso.reply.part import Asked, Call, Offer, Rule, Shown
from sayso.reply.state import Approval, At, CallAt, Session
from sayso.reply.transcript import as_rule, permission_rule
from sayso.state import permission_context
from sayso.tool.base import ToolBase
from sayso.tool.toolkit import InvalidInput, Toolkit, definition_digest
from sayso.visible import visible

__all__ = ["Judge"]

_PREVIEW_LIMIT = 20_000  # characters of a preview that are kept with the question

Policy = PermissionContext | Callable[[], PermissionContext] | None


class Judge:
    """Decides calls for one agent.

    policy: rules in force besides the session's own (user and project files), read anew at every judgement if it is
    a function. expires_after: seconds after which a question counts as unanswered; None waits for ever.
    """

    def __init__(self, toolkit: Toolkit, policy: Policy, expires_after: float | None) -> None:
        self.toolkit = toolkit
        self._policy = policy
        self._expires_after = expires_after
        self._engine: tuple[Session, PermissionContext | None, PermissionEngine] | None = None

    async def __call__(self, session: Session, effect: JudgeCall) -> CallJudged:
        """What the engine says of one call. Never raises for what a model, a rule or a tool's check did wrong."""
        call = effect.call
        tool = self.toolkit.get(call.tool)
        if tool is None:
            names = ", ".join(self.toolkit.names) or "none"
            return _invalid(call, f"There is no tool {visible(call.tool)!r}. Tools: {names}.", "unknown tool")
        try:
            tool_input = self.toolkit.parse(tool, call.input)
        except InvalidInput as exc:
            return _invalid(call, str(exc), "invalid input")
        definition = definition_digest(tool)
        evidence, doubt = _evidence(effect.approval, call, definition)
        if not evidence and (held := await self._held(session, tool, tool_input, call)) is not None:
            return held
        decision = await self.engine(session).check_permission(tool, tool_input, confirmed=evidence)
        changed = _changed_input(call, tool_input, decision)
        if changed is not None:
            call = replace(call, input=changed)
            if evidence and decision.behavior is PermissionBehavior.ALLOW:
                doubt = "the tool's own check changed the input after it was approved"
                decision = PermissionDecision(behavior=PermissionBehavior.ASK, message=f"It asks again: {doubt}.")
        reason = decision.decision_reason or decision.message
        match decision.behavior:
            case PermissionBehavior.ALLOW:
                if evidence and effect.approval is not None and effect.approval.by:
                    reason = f"approved by {effect.approval.by}"
                return CallJudged(at=now(), call_id=call.id, verdict="allow", reason=reason, input=changed)
            case PermissionBehavior.DENY:
                message = f"Denied: {decision.message or reason}"
                return CallJudged(at=now(), call_id=call.id, verdict="deny", reason=reason, message=message)
            case PermissionBehavior.ASK:
                why = decision.message or reason
                if doubt:
                    why = f"It asks again, because {doubt}. {why}"
                asked = await self.question(call, tool, tool_input, definition, decision, why)
                return CallJudged(
                    at=asked.at, call_id=call.id, verdict="ask", reason=reason, asked=asked, input=changed
                )

    def _in_force(self) -> PermissionContext | None:
        return self._policy() if callable(self._policy) else self._policy

    def engine(self, session: Session) -> PermissionEngine:
        """The engine under the session's rules and the policy of this moment."""
        policy = self._in_force()
        time = now()
        session = replace(session, rules=live) if (live := _living(session, time)) is not None else session
        cached = self._engine
        if cached is not None:
            of, under, engine = cached
            same = (
                (of.rules is session.rules or of.rules == session.rules)
                and of.mode == session.mode
                and of.directories is session.directories
            )
            if same and under is policy:
                return engine
        engine = PermissionEngine(permission_context(session), policy=policy)
        self._engine = (session, policy, engine)
        return engine

    async def question(
        self,
        call: Call,
        tool: ToolBase,
        tool_input: dict[str, Any],
        definition: str,
        decision: PermissionDecision,
        why: str,
    ) -> Asked:
        """The question as a person will see it."""
        offers = tuple(
            Offer(id=f"rule-{n}", rule=as_rule(r, source="session"), matches=describe_rule(r))
            for n, r in enumerate(decision.suggested_rules or (), 1)
        )
        return Asked(
            request_id=new_id(),
            at=now(),
            why=why,
            definition=definition,
            digest=question_digest(call, definition),
            offers=offers,
            shown=await _shown(tool, tool_input),
            safety=decision.bypass_immune,
            expires_at=self.expiry(),
        )

    def expiry(self) -> str | None:
        """When a question put now counts as unanswered."""
        if self._expires_after is None:
            return None
        return (datetime.now(UTC) + timedelta(seconds=self._expires_after)).isoformat(timespec="milliseconds")

    async def _held(
        self, session: Session, tool: ToolBase, tool_input: dict[str, Any], call: Call
    ) -> CallJudged | None:
        """Held back, if the question of an earlier call of the batch offers a rule that would let this one pass."""
        if session.reply is None:
            return None
        mine = next((c for c in session.reply.calls if c.call.id == call.id), None)
        if mine is None or mine.approval is not None:
            return None
        offering = {
            c.call.id: _offered(c)
            for c in session.reply.calls[: session.reply.calls.index(mine)]
            if c.batch == mine.batch and c.at is At.ASKED and c.call.tool == call.tool
        }
        every = {(r.tool_name, r.rule_content): r for rules in offering.values() for r in rules}
        # All at once first: twenty questions of one message would otherwise cost two hundred judgements.
        if not every or not await self._passes_by(session, tool, tool_input, tuple(every.values())):
            return None
        for holder, rules in offering.items():
            if len(offering) == 1 or await self._passes_by(session, tool, tool_input, rules):
                reason = "a rule offered with an earlier question would cover it"
                return CallJudged(at=now(), call_id=call.id, verdict="hold", reason=reason, holder=holder)
        return None

    async def _passes_by(
        self, session: Session, tool: ToolBase, tool_input: dict[str, Any], rules: Sequence[PermissionRule]
    ) -> bool:
        """Whether these rules, and nothing that is there already, would let the call pass."""
        judged = await self.engine(session).judge(tool, tool_input, extra=rules)
        if judged.behavior is not PermissionBehavior.ALLOW or judged.updated_input not in (None, tool_input):
            return False
        return any(verdict.rule is rule for verdict in judged.verdicts for rule in rules)


def _living(session: Session, time: str) -> tuple[Rule, ...] | None:
    """The session's rules without those whose time is over; None where that is all of them."""
    if all(r.expires_at is None for r in session.rules):
        return None
    at = datetime.fromisoformat(time)
    return tuple(r for r in session.rules if r.expires_at is None or datetime.fromisoformat(r.expires_at) > at)


def _offered(c: CallAt) -> list[PermissionRule]:
    if c.asked is None or c.asked.safety:
        return []
    return [permission_rule(o.rule) for o in c.asked.offers]


def _invalid(call: Call, message: str, reason: str) -> CallJudged:
    return CallJudged(at=now(), call_id=call.id, verdict="invalid", reason=reason, message=message)


def _evidence(approval: Approval | None, call: Call, definition: str) -> tuple[bool, str]:
    """Whether a yes covers this call, and if there is one that does not, why."""
    if approval is None:
        return False, ""
    if approval.digest != digest_of(call):
        return False, "the call is not the one that was approved"
    if approval.definition != definition:
        return False, f"the tool {call.tool!r} was changed after it was approved"
    return True, ""


def _changed_input(call: Call, tool_input: dict[str, Any], decision: PermissionDecision) -> str | None:
    if decision.updated_input is None or decision.updated_input == tool_input:
        return None
    text = json.dumps(decision.updated_input, ensure_ascii=False)
    return None if text == call.input else text


async def _shown(tool: ToolBase, tool_input: dict[str, Any]) -> Shown | None:
    """The tool's preview. One that fails is said to have failed: the question is put all the same."""
    try:
        preview = await tool.preview(tool_input)
    except Exception as exc:
        return Shown(kind="text", text=f"No preview: {type(exc).__name__}: {exc}"[:_PREVIEW_LIMIT])
    if preview is None:
        return None
    text = preview.text
    if len(text) > _PREVIEW_LIMIT:
        text = f"{text[:_PREVIEW_LIMIT]}\n... {len(text) - _PREVIEW_LIMIT} more characters are not shown"
    return Shown(kind=preview.kind, text=text, cwd=preview.cwd)

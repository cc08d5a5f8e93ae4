"""May this call run? The verdict of a call is the strictest of its units'.

Owns the judgement of a whole call: units, a person's yes, the mode that never asks, and that nothing raises. The order
inside one unit is judge.py's; how rules are found is index.py's. Knows no tool by name.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.permission.context import PermissionContext, PermissionMode
from sayso.permission.decision import PermissionDecision
from sayso.permission.index import RuleIndex, Tables
from sayso.permission.judge import Judge
from sayso.permission.path import home_directory, inside
from sayso.permission.rule import PermissionBehavior, PermissionRule
from sayso.permission.setting import JudgedTool, Setting, UnitVerdict, cite, overrides
from sayso.permission.unit import OpaqueUnit, Unit
from sayso.permission.validation import check_rule

__all__ = ["Judgement", "PermissionEngine", "merged"]

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
# A tool's own check may look something up; one that takes longer than a person would wait counts as failed.
CHECK_SECONDS = 5.0
# More parts than anybody would read; judging that many takes about 20 ms.
MOST_UNITS = 128


@dataclass(frozen=True, slots=True)
class Judgement:
    """A call, judged: a verdict for every unit, and the one that decides, if it is a unit's.

    failed: it could not be judged, so a deny rule may hold that nobody saw.
    """

    behavior: PermissionBehavior
    reason: str
    verdicts: tuple[UnitVerdict, ...] = ()
    deciding: UnitVerdict | None = None
    safety: bool = False
    updated_input: dict[str, Any] | None = None
    failed: bool = False


class PermissionEngine:
    """Decides calls under a context, which it does not own: changes to it count from the next call on.

    policy: rules in force besides the context's: those of user and project files. A deny in either wins.
    home: the home directory; None is the process's.
    """

    def __init__(
        self, context: PermissionContext, *, policy: PermissionContext | None = None, home: str | None = None
    ) -> None:
        self.context = context
        self.policy = policy
        self._home = home
        self._index = RuleIndex()

    # -- rules -----------------------------------------------------------------------------------

    def check_rule(self, rule: PermissionRule, tool: JudgedTool | None = None) -> None:
        """Raises InvalidRule, with the reason, if the rule cannot be read or can never match its tool.

        With `tool`, argument patterns are checked against its schema.
        """
        check_rule(rule, tool)

    def add_rule(self, rule: PermissionRule, tool: JudgedTool | None = None) -> None:
        """Add a rule to the context. Raises InvalidRule as `check_rule` does, and then nothing changed."""
        self.check_rule(rule, tool)
        self.context.add_rule(rule)

    # -- decisions -------------------------------------------------------------------------------

    async def check_permission(
        self,
        tool: JudgedTool,
        tool_input: dict[str, Any],
        *,
        confirmed: bool = False,
        policy: PermissionContext | None = None,
    ) -> PermissionDecision:
        """Decide one call. Never raises for what a model, a rule or a tool's own check did wrong.

        confirmed: a person's yes covers exactly this call. It settles every ask, never a deny; where the check itself
        failed nobody knows whether a deny rule holds, so then the yes settles nothing and the call is denied.
        policy: instead of the engine's own.
        """
        judgement = await self.judge(tool, tool_input, policy=policy)
        behavior, reason = self.settle(judgement, confirmed=confirmed)
        suggested = None
        if behavior is ASK and not judgement.safety and not judgement.failed:
            suggested = self._suggestions(tool, tool_input, judgement, policy)
        return PermissionDecision(
            behavior=behavior,
            message=_message(tool.name, behavior, reason),
            decision_reason=reason,
            updated_input=judgement.updated_input,
            suggested_rules=suggested,
            bypass_immune=judgement.safety and behavior is ASK,
        )

    def settle(self, judgement: Judgement, *, confirmed: bool = False) -> tuple[PermissionBehavior, str]:
        """What becomes of a judgement after a person's yes, or in the mode that never asks; and why."""
        behavior, reason = judgement.behavior, judgement.reason
        if behavior is not ASK:
            return behavior, reason
        if confirmed and judgement.failed:
            return DENY, f"{reason}, so a yes cannot be honoured: a deny rule may hold"
        if confirmed:
            return ALLOW, f"a person said yes ({reason})"
        if self.context.mode is PermissionMode.DONT_ASK:
            return DENY, f"mode dont_ask: {reason}"
        return behavior, reason

    async def judge(
        self,
        tool: JudgedTool,
        tool_input: dict[str, Any],
        *,
        policy: PermissionContext | None = None,
        extra: Sequence[PermissionRule] = (),
    ) -> Judgement:
        """The verdicts, before a person's yes and before `dont_ask`, as if the allow rules `extra` were there too."""
        try:
            return await self._judge(tool, tool_input, policy or self.policy, extra)
        except Exception as error:
            return _failed(error)

    async def _judge(
        self,
        tool: JudgedTool,
        tool_input: dict[str, Any],
        policy: PermissionContext | None,
        extra: Sequence[PermissionRule],
    ) -> Judgement:
        tables = self._index.now(self._contexts(policy), extra)
        if (rule := tables.table(DENY, tool.name).every) is not None:
            return Judgement(DENY, cite(rule))
        under = self.context if policy is None else merged(self.context, policy)
        opinion = None
        if overrides(tool, "check_permissions"):
            async with asyncio.timeout(CHECK_SECONDS):
                opinion = await tool.check_permissions(tool_input, under)
        updated = None if opinion is None else opinion.updated_input
        if opinion is not None and opinion.behavior is DENY:
            return Judgement(DENY, _opinion(opinion), updated_input=updated)
        units = tool.units(tool_input if updated is None else updated, under)
        judgement = self._strictest(tool, units, tables, policy, opinion)
        return judgement if updated is None else replace(judgement, updated_input=updated)

    def judge_call(self, tool: JudgedTool, tool_input: dict[str, Any]) -> Judgement:
        """As `judge`, for a tool without a check of its own, where nothing waits."""
        try:
            tables = self._index.now(self._contexts(self.policy))
            if (rule := tables.table(DENY, tool.name).every) is not None:
                return Judgement(DENY, cite(rule))
            under = self.context if self.policy is None else merged(self.context, self.policy)
            return self._strictest(tool, tool.units(tool_input, under), tables, self.policy, None)
        except Exception as error:
            return _failed(error)

    def judge_units(
        self,
        tool: JudgedTool,
        units: Sequence[Unit],
        *,
        policy: PermissionContext | None = None,
        extra: Sequence[PermissionRule] = (),
    ) -> Judgement:
        """Judge units as what a call of `tool` would do, as if the allow rules `extra` were there too."""
        policy = policy or self.policy
        return self._strictest(tool, units, self._index.now(self._contexts(policy), extra), policy, None)

    def _contexts(self, policy: PermissionContext | None) -> tuple[PermissionContext, ...]:
        return (self.context,) if policy is None else (self.context, policy)

    def _strictest(
        self,
        tool: JudgedTool,
        units: Sequence[Unit],
        tables: Tables,
        policy: PermissionContext | None,
        opinion: PermissionDecision | None,
    ) -> Judgement:
        """The verdict of the call: of its units, of an ask rule for the whole tool, of the tool's own safety ask."""
        judge = self._judge_of(tool, tables, policy, opinion)
        verdicts = [judge.judge(unit) for unit in units[:MOST_UNITS]]
        if len(units) > MOST_UNITS:
            verdicts.append(judge.judge(OpaqueUnit(why=f"the call has more than {MOST_UNITS} parts")))
        deciding = max(verdicts, key=_strictness, default=None)
        behavior = ALLOW if deciding is None else deciding.behavior
        reason = "there is nothing to run" if deciding is None else deciding.reason
        safety = deciding is not None and deciding.safety
        immune = opinion is not None and opinion.behavior is ASK and opinion.bypass_immune
        if opinion is not None and immune and behavior is not DENY and self.context.mode is not PermissionMode.BYPASS:
            behavior, reason, safety = ASK, _opinion(opinion), True
        if behavior is ALLOW and (rule := tables.table(ASK, tool.name).every) is not None:
            behavior, reason, deciding = ASK, cite(rule), None
        return Judgement(behavior, reason, tuple(verdicts), deciding, safety)

    def _judge_of(
        self, tool: JudgedTool, tables: Tables, policy: PermissionContext | None, opinion: PermissionDecision | None
    ) -> Judge:
        base = os.fspath(getattr(tool, "cwd", None) or os.getcwd())
        home = self._home or home_directory()
        added = {**self.context.working_directories, **({} if policy is None else policy.working_directories)}
        here = os.getcwd()
        return Judge(
            Setting(
                tables=tables,
                tool=tool,
                mode=self.context.mode,
                base=base,
                home=home,
                # A service runs in `/`, a login shell's parent in /home: that says nothing of what may be edited.
                directories=list(added) if here != home and inside(home, here) else [here, *added],
                opinion=opinion,
            )
        )

    def _suggestions(
        self, tool: JudgedTool, tool_input: dict[str, Any], judgement: Judgement, policy: PermissionContext | None
    ) -> list[PermissionRule]:
        from sayso.permission.suggest import suggestions

        try:
            return suggestions(self, tool, tool_input, judgement, policy)
        except Exception:
            return []


def merged(context: PermissionContext, policy: PermissionContext) -> PermissionContext:
    """All rules and working directories in force, as a tool is shown them; the mode is the session's."""
    tables: dict[PermissionBehavior, dict[str, list[PermissionRule]]] = {}
    for behavior in PermissionBehavior:
        own, other = context.rules(behavior), policy.rules(behavior)
        tables[behavior] = {**own, **other}
        for name in own.keys() & other.keys():
            tables[behavior][name] = [*own[name], *other[name]]
    return PermissionContext.model_construct(
        mode=context.mode,
        working_directories={**policy.working_directories, **context.working_directories},
        allow_rules=tables[ALLOW],
        deny_rules=tables[DENY],
        ask_rules=tables[ASK],
    )


def _failed(error: Exception) -> Judgement:
    # The type only: the text of an error may repeat an argument, and an argument may be a secret.
    why = "took too long" if isinstance(error, TimeoutError) else f"failed ({type(error).__name__})"
    return Judgement(ASK, f"the check of this call {why}", failed=True)


def _strictness(verdict: UnitVerdict) -> int:
    return 3 if verdict.behavior is DENY else 0 if verdict.behavior is ALLOW else 1 + verdict.safety


def _opinion(opinion: PermissionDecision) -> str:
    said = opinion.decision_reason or opinion.message
    return f"the tool's own check: {said}" if said else "the tool's own check"


def _message(tool: str, behavior: PermissionBehavior, reason: str) -> str:
    done = {ALLOW: "may run", ASK: "needs a person's yes", DENY: "may not run"}[behavior]
    return f"{tool} {done}: {reason}."

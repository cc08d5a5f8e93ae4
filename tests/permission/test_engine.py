"""The order in which a call is judged, the modes, a person's yes, and that nothing escapes."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from judging import Files, Pay, World, allow, ask, deny
from sayso.errors import InvalidRule
from sayso.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from sayso.permission import engine as engine_module
from sayso.permission.unit import CallUnit, OpaqueUnit, Unit
from sayso.tool.base import ToolBase

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
PAYMENT: dict[str, Any] = {"to": "bob", "amount": 1}


class Opinionated(Pay):
    """A tool whose own check says what it was made with."""

    def __init__(self, opinion: PermissionDecision | None) -> None:
        self.opinion = opinion

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision | None:
        return self.opinion


class Unreadable(Pay):
    """A tool whose calls cannot be taken apart."""

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        raise ValueError(f"the secret is {tool_input}")


class Understood(Pay):
    """A tool made of the units it was given."""

    def __init__(self, *units: Unit) -> None:
        self.parts = units

    def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
        return self.parts


def judged(world: World, tool: ToolBase, **more: Any) -> PermissionDecision:
    return world.decide(tool, PAYMENT, **more)


# -- order --------------------------------------------------------------------------------------------


def test_a_call_that_no_rule_covers_asks(world: World) -> None:
    assert world.pay(**PAYMENT) == "ask"


def test_an_allow_rule_covers_a_call(world: World) -> None:
    assert world.under(allow("Pay")).pay(**PAYMENT) == "allow"


def test_an_ask_rule_beats_an_allow_rule(world: World) -> None:
    assert world.under(allow("Pay"), ask("Pay", '{"to": "bob"}')).pay(**PAYMENT) == "ask"


def test_a_deny_rule_beats_everything(world: World) -> None:
    assert world.under(allow("Pay"), ask("Pay"), deny("Pay", '{"to": "bob"}')).pay(**PAYMENT) == "deny"


def test_a_rule_for_a_whole_tool_beats_what_is_proven_to_read(world: World) -> None:
    assert world.under(deny("Read")).read("README.md") == "deny"
    assert world.under(ask("Read")).read("README.md") == "ask"


def test_an_ask_rule_for_a_whole_tool_holds_for_a_call_that_does_nothing(world: World) -> None:
    assert judged(world.under(), Understood()).behavior is ALLOW
    assert judged(world.under(ask("Pay")), Understood()).behavior is ASK


def test_a_safety_ask_is_stronger_than_an_allow_rule_and_says_so(world: World) -> None:
    decision = world.under(allow("Write")).decide(Files("Write", str(world.work)), {"file_path": ".git/config"})
    assert (decision.behavior, decision.bypass_immune) == (ASK, True)
    assert decision.suggested_rules is None


def test_an_allow_rule_is_stronger_than_the_tools_wish_to_ask(world: World) -> None:
    wish = Opinionated(PermissionDecision(behavior=ASK, message="rather ask"))
    assert judged(world.under(), wish).behavior is ASK
    assert judged(world.under(allow("Pay")), wish).behavior is ALLOW


def test_a_tools_own_allow_beats_no_rule(world: World) -> None:
    eager = Opinionated(PermissionDecision(behavior=ALLOW))
    assert judged(world.under(), eager).behavior is ALLOW
    assert judged(world.under(ask("Pay", '{"to": "bob"}')), eager).behavior is ASK
    assert judged(world.under(deny("Pay", '{"to": "bob"}')), eager).behavior is DENY


def test_a_tools_own_deny_is_a_deny_whatever_the_rules_and_the_mode(world: World) -> None:
    never = Opinionated(PermissionDecision(behavior=DENY, message="frozen account"))
    assert judged(world.under(allow("Pay"), mode="bypass"), never, confirmed=True).behavior is DENY


def test_a_tools_own_safety_ask_is_stronger_than_an_allow_rule(world: World) -> None:
    careful = Opinionated(PermissionDecision(behavior=ASK, message="large sum", bypass_immune=True))
    decision = judged(world.under(allow("Pay")), careful)
    assert (decision.behavior, decision.bypass_immune) == (ASK, True)
    assert judged(world.under(mode="bypass"), careful).behavior is ALLOW


def test_an_input_that_the_tools_check_changed_is_what_is_judged(world: World) -> None:
    changed = Opinionated(PermissionDecision(behavior=ALLOW, updated_input={"to": "eve", "amount": 1}))
    decision = judged(world.under(deny("Pay", '{"to": "eve"}')), changed)
    assert decision.behavior is DENY
    assert judged(world.under(), changed).updated_input == {"to": "eve", "amount": 1}


def test_the_verdict_of_a_call_is_the_strictest_of_its_units(world: World) -> None:
    world.under(allow("Pay", '{"to": "bob"}'), deny("Pay", '{"to": "eve"}'))
    good, bad = CallUnit(tool_input=PAYMENT), CallUnit(tool_input={"to": "eve", "amount": 1})
    unknown = OpaqueUnit(why="never seen")
    assert judged(world, Understood(good)).behavior is ALLOW
    assert judged(world, Understood(good, unknown)).behavior is ASK
    assert judged(world, Understood(good, unknown, bad)).behavior is DENY


def test_what_is_not_understood_asks_whatever_the_allow_rules_say(world: World) -> None:
    assert judged(world.under(allow("Pay")), Understood(OpaqueUnit(why="odd"))).behavior is ASK


def test_a_call_of_more_parts_than_anybody_reads_asks(world: World) -> None:
    parts = [CallUnit(tool_input=PAYMENT)] * 600
    assert judged(world.under(allow("Pay")), Understood(*parts)).behavior is ASK


# -- claims of a program ------------------------------------------------------------------------------


def test_a_tool_that_is_declared_to_only_read_runs(world: World) -> None:
    reader = Pay()
    reader.is_read_only = True
    assert judged(world.under(), reader).behavior is ALLOW
    assert judged(world.under(mode="explore"), reader).behavior is ALLOW
    assert judged(world.under(deny("Pay")), reader).behavior is DENY


def test_a_tool_that_runs_outside_is_handed_over_unless_something_forbids_it(world: World) -> None:
    outside = Pay()
    outside.is_external_tool = True
    assert judged(world.under(), outside).behavior is ALLOW
    assert judged(world.under(mode="dont_ask"), outside).behavior is ALLOW
    assert judged(world.under(ask("Pay")), outside).behavior is ASK
    assert judged(world.under(mode="explore"), outside).behavior is DENY


def test_the_hook_of_a_tool_says_what_its_rules_cover(world: World) -> None:
    class Mailer(Pay):
        def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool | None:
            return None if rule_content and rule_content.startswith("{") else tool_input["to"] == rule_content

    world.context.allow_rules["Pay"] = [allow("Pay", "alice"), allow("Pay", '{"amount": 1}')]
    assert world.decide(Mailer(), {"to": "alice", "amount": 9}).behavior is ALLOW
    assert world.decide(Mailer(), {"to": "bob", "amount": 1}).behavior is ALLOW
    assert world.decide(Mailer(), {"to": "bob", "amount": 9}).behavior is ASK


# -- modes --------------------------------------------------------------------------------------------


def test_explore_denies_what_is_not_proven_to_read_whatever_the_allow_rules_say(world: World) -> None:
    world.under(allow("Write"), allow("Pay"), ask("Write", "src/**"), mode="explore")
    assert world.read("README.md") == "allow"
    assert world.write("build/x") == "deny"
    assert world.write("src/x") == "deny"
    assert world.pay(**PAYMENT) == "deny"
    assert judged(world, Understood(OpaqueUnit(why="odd"))).behavior is DENY


def test_bypass_allows_what_nothing_forbids(world: World) -> None:
    world.under(deny("Write", "src/**"), ask("Write", "build/**"), mode="bypass")
    assert world.write(f"{world.root}/outside/x") == "allow"
    assert world.write(".git/config") == "allow"
    assert world.write("src/x") == "deny"
    assert world.write("build/x") == "ask"
    assert world.pay(**PAYMENT) == "allow"


def test_bypass_asks_about_what_it_does_not_understand_only_where_a_rule_might_forbid_it(world: World) -> None:
    odd = Understood(OpaqueUnit(why="odd"))
    assert judged(world.under(mode="bypass"), odd).behavior is ALLOW
    assert judged(world.under(deny("Pay", '{"to": "eve"}'), mode="bypass"), odd).behavior is ASK


def test_accept_edits_allows_edits_inside_the_working_directories_only(world: World) -> None:
    world.under(mode="accept_edits", directories=[world.root / "outside"])
    assert world.write("src/new.py") == "allow"
    assert world.write(str(world.root / "outside/new.txt")) == "allow"
    assert world.write(str(world.root / "elsewhere.txt")) == "ask"
    assert world.write(".env") == "ask"
    assert world.pay(**PAYMENT) == "ask"


def test_dont_ask_turns_every_ask_into_a_deny(world: World) -> None:
    world.under(ask("Read", "README.md"), mode="dont_ask")
    assert world.pay(**PAYMENT) == "deny"
    assert world.write(".git/config") == "deny"
    assert world.read("README.md") == "deny"
    assert world.read("src/main.py") == "allow"


# -- a person's yes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["default", "accept_edits", "bypass", "dont_ask"])
def test_a_yes_settles_every_ask(world: World, mode: str) -> None:
    world.under(ask("Pay"), mode=mode)
    assert world.pay(confirmed=True, **PAYMENT) == "allow"
    assert world.write(".git/config", confirmed=True) == "allow"


def test_a_yes_never_settles_a_deny(world: World) -> None:
    assert world.under(deny("Pay", '{"to": "bob"}')).pay(confirmed=True, **PAYMENT) == "deny"
    assert world.under(mode="explore").pay(confirmed=True, **PAYMENT) == "deny"


def test_a_yes_settles_a_deny_rule_that_only_may_apply(world: World) -> None:
    world.under(deny("Pay", '{"memo": "secret"}'))
    assert world.pay(**PAYMENT) == "ask"
    assert world.pay(confirmed=True, **PAYMENT) == "allow"


def test_a_yes_to_a_call_that_could_not_be_judged_is_not_enough(world: World) -> None:
    assert judged(world.under(), Unreadable(), confirmed=True).behavior is DENY


# -- nothing escapes ----------------------------------------------------------------------------------


def test_an_exception_asks_and_repeats_no_argument(world: World) -> None:
    decision = world.decide(Unreadable(), {"to": "hunter2"})
    assert decision.behavior is ASK
    assert decision.decision_reason == "the check of this call failed (ValueError)"
    assert "hunter2" not in decision.model_dump_json()
    assert judged(world.under(mode="dont_ask"), Unreadable()).behavior is DENY


def test_a_check_that_never_ends_asks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forever(Pay):
        async def check_permissions(self, tool_input: dict[str, Any], context: Any) -> PermissionDecision | None:
            await asyncio.Event().wait()
            return None

    monkeypatch.setattr(engine_module, "CHECK_SECONDS", 0.01)
    decision = judged(world.under(allow("Pay")), Forever())
    assert (decision.behavior, decision.decision_reason) == (ASK, "the check of this call took too long")


def test_every_decision_names_the_rule_or_check_that_made_it(world: World) -> None:
    world.under(deny("Pay", '{"to": "eve"}'), allow("Pay", '{"to": "bob"}'))
    assert judged(world, Pay()).decision_reason == 'allow rule Pay({"to": "bob"}) from test'
    assert world.decide(Pay(), {"to": "eve", "amount": 1}).decision_reason == 'deny rule Pay({"to": "eve"}) from test'
    assert world.decide(Pay(), {"to": "joe", "amount": 1}).decision_reason == "no rule covers this call of Pay"


# -- rules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [allow("Write", ""), allow("Write", "!x"), deny("Read", "a/../b"), allow("Pay", '{"amont": 1}'), allow("", "x")],
)
def test_a_rule_that_can_never_match_is_refused_and_nothing_changes(world: World, rule: PermissionRule) -> None:
    engine = world.engine
    with pytest.raises(InvalidRule):
        engine.add_rule(rule, Pay())
    assert world.context == PermissionContext()


def test_the_context_may_be_changed_in_any_way_between_two_calls(world: World) -> None:
    async def scenario() -> list[PermissionBehavior]:
        engine, said = world.engine, []

        async def note() -> None:
            said.append((await engine.check_permission(Pay(), PAYMENT)).behavior)

        await note()
        world.context.allow_rules["Pay"] = [allow("Pay")]
        await note()
        world.context.deny_rules.setdefault("Pay", []).append(deny("Pay", '{"to": "eve"}'))
        await note()
        world.context.deny_rules["Pay"][0] = deny("Pay", '{"to": "bob"}')
        await note()
        world.context.deny_rules["Pay"].clear()
        await note()
        world.context.allow_rules = {}
        await note()
        world.context.mode = PermissionMode.BYPASS
        await note()
        return said

    assert asyncio.run(scenario()) == [ASK, ALLOW, ALLOW, DENY, ALLOW, ASK, ALLOW]


def test_a_deny_in_the_policy_wins_over_the_session(world: World) -> None:
    world.under(allow("Pay"))
    world.policy = PermissionContext(deny_rules={"Pay": [deny("Pay", '{"to": "bob"}')]})
    assert world.pay(**PAYMENT) == "deny"
    assert world.pay(to="alice", amount=1) == "allow"


def test_the_policy_of_one_call_takes_the_place_of_the_engines(world: World) -> None:
    policy = PermissionContext(allow_rules={"Pay": [allow("Pay")]})
    decision = asyncio.run(world.engine.check_permission(Pay(), PAYMENT, policy=policy))
    assert decision.behavior is ALLOW
    assert world.pay(**PAYMENT) == "ask"


def test_a_tool_is_shown_all_rules_in_force(world: World) -> None:
    shown: list[PermissionContext] = []

    class Curious(Pay):
        def units(self, tool_input: dict[str, Any], context: PermissionContext) -> Sequence[Unit]:
            shown.append(context)
            return super().units(tool_input, context)

    engine = PermissionEngine(
        PermissionContext(deny_rules={"Read": [deny("Read", "a")]}),
        policy=PermissionContext(deny_rules={"Read": [deny("Read", "b")]}),
    )
    asyncio.run(engine.check_permission(Curious(), PAYMENT))
    assert [rule.rule_content for rule in shown[0].deny_rules["Read"]] == ["a", "b"]


def test_a_rule_that_a_program_took_out_of_the_list_can_be_added_again() -> None:
    context = PermissionContext()
    rule = PermissionRule(tool_name="Bash", rule_content="rm:*", behavior=PermissionBehavior.DENY)
    context.add_rule(rule)
    context.add_rule(rule)
    assert context.deny_rules["Bash"] == [rule]
    context.deny_rules["Bash"].clear()
    context.add_rule(rule)
    assert context.deny_rules["Bash"] == [rule]

"""The reply machine, as a specification."""

import itertools
from typing import Any

import pytest
from msgspec.structs import replace

from sayso.errors import NotWaiting, Refused, StaleAnswer, UnknownCall, WrongMoment
from sayso.reply.digest import digest_of, question_digest
from sayso.reply.effect import Await, CallModel, JudgeCall, RunTool, SettleDoubt, StartQueued
from sayso.reply.fact import (
    CallJudged,
    CallSubmitted,
    DoubtRaised,
    DoubtSettled,
    Fact,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    OutsideReturned,
    ReplyEnded,
    ReplyStarted,
    RequestExpired,
    RunnerLost,
    SessionOpened,
    ToolReturned,
    ToolStarted,
)
from sayso.reply.machine import CALL_TABLE, is_parked, replay, step, wants
from sayso.reply.part import Asked, Call, Hint, Result, Rule, Said, Text
from sayso.reply.state import At, Session

T = "2026-12-01T00:00:00.000+00:00"
HELLO = Said(id="m1", name="user", role="user", parts=(Text(id="t1", text="go"),), at=T)
OPEN: list[Fact] = [
    SessionOpened(at=T, session_id="s", agent="a"),
    ReplyStarted(at=T, reply_id="r", name="a", prompts=(HELLO,), max_iters=3),
]


def call(call_id: str, *, safe: bool = False) -> Call:
    return Call(id=call_id, tool="pay", input='{"to":"ann"}', safe=safe)


def model_asks(*calls: Call) -> ModelReplied:
    return ModelReplied(at=T, reply_id="r", parts=calls)


def asked(call_id: str, *, definition: str = "d") -> Asked:
    return Asked(
        request_id=f"q-{call_id}", at=T, definition=definition, digest=question_digest(call(call_id), definition)
    )


def judged(call_id: str, verdict: Any, **more: Any) -> CallJudged:
    if verdict == "ask":
        more["asked"] = asked(call_id)
    return CallJudged(at=T, call_id=call_id, verdict=verdict, **more)


def answered(call_id: str, yes: bool, **more: Any) -> HumanAnswered:
    more.setdefault("digest", asked(call_id).digest)
    return HumanAnswered(at=T, call_id=call_id, yes=yes, by="ann", via="terminal", **more)


def started(call_id: str) -> ToolStarted:
    return ToolStarted(at=T, call_id=call_id, runner="me", digest=digest_of(call(call_id)))


def result(call_id: str) -> Result:
    return Result(call_id=call_id, tool="pay", state="success", output="paid", at=T)


def at_of(session: Session, call_id: str) -> At:
    assert session.reply is not None
    return next(c.at for c in session.reply.calls if c.call.id == call_id)


def test_a_fresh_reply_wants_the_model() -> None:
    assert wants(replay(OPEN)) == (CallModel(1),)


def test_a_proposed_call_wants_a_judgement_before_anything_else() -> None:
    assert wants(replay([*OPEN, model_asks(call("a"))])) == (JudgeCall(call("a"), None),)


def test_a_reply_is_parked_when_only_the_outside_can_move_it() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask")])
    assert is_parked(session) and wants(session) == (Await("a"),)


def test_a_yes_is_evidence_and_is_judged_again() -> None:
    (effect,) = wants(replay([*OPEN, model_asks(call("a")), judged("a", "ask"), answered("a", True)]))
    assert isinstance(effect, JudgeCall) and effect.approval is not None and effect.approval.by == "ann"


def test_a_no_is_a_denied_result_with_the_reason() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask"), answered("a", False, reason="too much")])
    assert session.reply is not None
    got = session.reply.calls[0].result
    assert got is not None and got.state == "denied" and "too much" in str(got.output)
    assert wants(session) == (CallModel(2),)


def test_an_answer_to_another_question_is_stale() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask")])
    with pytest.raises(StaleAnswer):
        step(session, answered("a", True, digest="of something else"))


def test_a_second_answer_is_told_who_answered_first() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask"), answered("a", True)])
    with pytest.raises(NotWaiting, match="already approved by ann via terminal"):
        step(session, answered("a", True))


def test_an_edited_call_is_what_is_judged_and_the_history_says_so() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask"), answered("a", True, edited='{"to":"bob"}')])
    (effect,) = wants(session)
    assert isinstance(effect, JudgeCall) and effect.call.input == '{"to":"bob"}'
    assert effect.approval is not None and effect.approval.digest == digest_of(effect.call)
    go = ToolStarted(at=T, call_id="a", runner="me", digest=digest_of(effect.call))
    session = replay([judged("a", "allow"), go, ToolReturned(at=T, result=result("a"))], session)
    done = step(session, ModelReplied(at=T, reply_id="r", parts=(Text(id="t", text="done"),)))
    said = done.history[-1].parts
    assert [type(p) for p in said] == [Call, Result, Hint, Text]
    assert isinstance(said[0], Call) and said[0].input == '{"to":"bob"}'
    assert isinstance(said[2], Hint) and '{"to":"ann"}' in said[2].text


def test_a_tool_cannot_start_with_another_input_than_was_judged() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "allow")])
    with pytest.raises(WrongMoment, match="another input"):
        step(session, ToolStarted(at=T, call_id="a", runner="me", digest="0"))


def test_unsafe_calls_go_one_by_one_and_the_first_pause_holds_back_the_rest() -> None:
    session = replay([*OPEN, model_asks(call("a"), call("b")), judged("a", "ask")])
    assert wants(session) == (Await("a"),)


def test_neighbouring_safe_calls_are_one_batch() -> None:
    session = replay([*OPEN, model_asks(call("a", safe=True), call("b", safe=True), call("c"))])
    assert [e.call.id for e in wants(session) if isinstance(e, JudgeCall)] == ["a", "b"]


def test_in_a_batch_what_may_run_runs_while_the_rest_waits() -> None:
    a, b = call("a", safe=True), call("b", safe=True)
    session = replay([*OPEN, model_asks(a, b), judged("a", "ask"), judged("b", "allow")])
    assert wants(session) == (Await("a"), RunTool(b)) and not is_parked(session)


def test_a_call_held_by_a_neighbours_question_is_judged_again_after_the_answer() -> None:
    a, b = call("a", safe=True), call("b", safe=True)
    held = replay([*OPEN, model_asks(a, b), judged("a", "ask"), judged("b", "hold", holder="a")])
    assert wants(held) == (Await("a"),) and at_of(held, "b") is At.PROPOSED
    assert wants(step(held, answered("a", False))) == (JudgeCall(b, None),)


def test_a_started_call_whose_runner_is_lost_is_settled_before_a_person_is_asked() -> None:
    lost = replay([*OPEN, model_asks(call("a")), judged("a", "allow"), started("a")])
    lost = step(lost, RunnerLost(at=T, runner="me", call_ids=("a",)))
    assert wants(lost) == (SettleDoubt(call("a")),)
    assert is_parked(step(lost, DoubtRaised(at=T, call_id="a", asked=asked("a"))))
    again = step(lost, DoubtSettled(at=T, call_id="a", how="again", why="idempotent"))
    assert wants(again) == (JudgeCall(call("a"), None),)


def test_a_no_to_a_call_in_doubt_is_recorded_as_interrupted_not_denied() -> None:
    doubt = replay([*OPEN, model_asks(call("a")), judged("a", "allow"), started("a")])
    doubt = replay(
        [RunnerLost(at=T, runner="me", call_ids=("a",)), DoubtRaised(at=T, call_id="a", asked=asked("a"))], doubt
    )
    session = step(doubt, answered("a", False))
    assert session.reply is not None
    got = session.reply.calls[0].result
    assert got is not None and got.state == "interrupted" and "may have run" in str(got.output)


def test_nobody_answered_is_neither_yes_nor_no() -> None:
    parked = replay([*OPEN, model_asks(call("a")), judged("a", "ask")])
    session = step(parked, RequestExpired(at=T, call_id="a"))
    assert session.reply is not None
    got = session.reply.calls[0].result
    assert got is not None and got.state == "interrupted" and "Nobody answered" in str(got.output)


def test_an_external_result_is_of_the_tool_that_was_asked() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "allow")])
    session = step(session, CallSubmitted(at=T, call_id="a", asked=asked("a")))
    lie = Result(call_id="a", tool="another", state="success", output="x", at=T)
    session = step(session, OutsideReturned(at=T, result=lie))
    assert session.reply is not None
    got = session.reply.calls[0].result
    assert got is not None and got.tool == "pay"


def test_an_interrupt_gives_every_open_call_a_result_and_says_what_may_have_completed() -> None:
    a, b = call("a", safe=True), call("b", safe=True)
    session = replay([*OPEN, model_asks(a, b), judged("a", "ask"), judged("b", "allow"), started("b")])
    session = step(session, ReplyEnded(at=T, reply_id="r", reason="interrupted"))
    results = [p for p in session.history[-1].parts if isinstance(p, Result)]
    assert [r.state for r in results] == ["interrupted", "interrupted"] and wants(session) == ()
    assert "may have completed" in str(results[1].output) and "before" in str(results[0].output)


def test_the_reply_ends_when_its_iterations_are_spent() -> None:
    session = replay(OPEN)
    for n in range(3):
        session = replay([model_asks(call(f"c{n}")), judged(f"c{n}", "deny")], session)
    assert session.reply is not None and session.reply.ended == "exceed_max_iters" and wants(session) == ()


def test_a_pause_does_not_move_the_iteration_count() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask"), answered("a", True), judged("a", "ask")])
    assert session.reply is not None and session.reply.iters == 1


def test_a_queued_message_is_answered_after_the_reply_ends() -> None:
    session = replay([*OPEN, model_asks(call("a")), judged("a", "ask"), MessageQueued(at=T, message=HELLO)])
    assert is_parked(session)
    ended = step(session, ReplyEnded(at=T, reply_id="r", reason="interrupted"))
    assert wants(ended) == (StartQueued((HELLO,)),)


def test_accepted_rules_join_the_session_once_and_only_for_the_tool_that_asked() -> None:
    parked = replay([*OPEN, model_asks(call("a")), judged("a", "ask")])
    rule = Rule(tool="pay", content=None, behavior="allow")
    assert step(parked, answered("a", True, rules=(rule, rule))).rules == (rule,)
    with pytest.raises(WrongMoment):
        step(parked, answered("a", True, rules=(Rule(tool="Bash", content=None, behavior="allow"),)))


VERBS: dict[str, Fact] = {
    "allow": judged("a", "allow"),
    "ask": judged("a", "ask"),
    "deny": judged("a", "deny"),
    "invalid": judged("a", "invalid"),
    "hold": judged("a", "hold", holder="b"),
    "yes": answered("a", True),
    "no": answered("a", False),
    "expire": RequestExpired(at=T, call_id="a"),
    "start": started("a"),
    "submit": CallSubmitted(at=T, call_id="a", asked=asked("a")),
    "result": OutsideReturned(at=T, result=result("a")),
    "return": ToolReturned(at=T, result=result("a")),
    "lose": RunnerLost(at=T, runner="me", call_ids=("a",)),
    "doubt": DoubtRaised(at=T, call_id="a", asked=asked("a")),
    "again": DoubtSettled(at=T, call_id="a", how="again", why="w"),
    "settle": DoubtSettled(at=T, call_id="a", how="done", why="w", result=result("a")),
}


@pytest.mark.parametrize(("at", "verb"), list(itertools.product(At, VERBS)))
def test_every_pair_of_place_and_fact_is_in_the_table_or_refused(at: At, verb: str) -> None:
    base = replay([*OPEN, model_asks(call("a"), call("b"))])
    assert base.reply is not None
    placed = replace(base.reply.calls[0], at=at, asked=asked("a"), runner="me")
    neighbour = replace(base.reply.calls[1], at=At.ASKED, batch=0)
    session = replace(base, reply=replace(base.reply, calls=(placed, neighbour)))
    if (at, verb) in CALL_TABLE:
        assert at_of(step(session, VERBS[verb]), "a") is CALL_TABLE[at, verb]
    else:
        with pytest.raises(Refused):
            step(session, VERBS[verb])


def test_the_facts_tried_above_are_all_the_verbs_of_the_table() -> None:
    assert {verb for _, verb in CALL_TABLE} == set(VERBS)


def test_ready_and_running_have_one_door_each() -> None:
    doors = {to: [edge for edge, where in CALL_TABLE.items() if where is to] for to in (At.READY, At.RUNNING)}
    assert doors == {At.READY: [(At.PROPOSED, "allow")], At.RUNNING: [(At.READY, "start")]}


def test_done_is_the_end() -> None:
    assert not [edge for edge in CALL_TABLE if edge[0] is At.DONE]


def test_a_fact_about_a_call_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownCall):
        step(replay([*OPEN, model_asks(call("a"))]), judged("zz", "allow"))


def test_a_model_that_uses_one_call_id_twice_is_refused() -> None:
    with pytest.raises(WrongMoment, match="twice"):
        step(replay(OPEN), model_asks(call("a"), call("a")))


def test_a_model_answer_of_another_reply_is_refused() -> None:
    with pytest.raises(WrongMoment):
        step(replay(OPEN), ModelReplied(at=T, reply_id="other", parts=()))

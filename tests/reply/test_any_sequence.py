"""Throw every fact at the machine in any order: what must hold, holds anyway."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from sayso.errors import Refused
from sayso.reply.codec import decode, decode_session, encode, encode_session
from sayso.reply.digest import digest_of, question_digest
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
from sayso.reply.machine import replay, step, wants
from sayso.reply.part import Asked, Call, Part, Result, Said, Text
from sayso.reply.state import At, Session
from sayso.reply.transcript import as_said, message_of, messages_of

T = "2026-12-01T00:00:00.000+00:00"
IDS = st.sampled_from(["a", "b", "c", "zz"])


class AnySequence(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[Fact] = [SessionOpened(at=T, session_id="s", agent="a")]
        self.session = replay(self.log)
        self.n = 0
        self.offer(ReplyStarted(at=T, reply_id="r0", name="a", prompts=(), max_iters=3))

    def offer(self, fact: Fact) -> None:
        before = self.session
        try:
            after = step(before, fact)
        except Refused:
            assert self.session == before
            return
        if isinstance(fact, ToolStarted):
            self.was_allowed_for_this_input(before, fact)
        self.log.append(decode(encode(fact)))
        self.session = after

    def was_allowed_for_this_input(self, before: Session, fact: ToolStarted) -> None:
        assert before.reply is not None
        of_call = [f for f in self.log if getattr(f, "call_id", None) == fact.call_id]
        last = of_call[-1]
        assert isinstance(last, CallJudged) and last.verdict == "allow"
        call = next(c.call for c in before.reply.calls if c.call.id == fact.call_id)
        assert fact.digest == digest_of(call)

    def call_of(self, call_id: str) -> Call:
        calls = self.session.reply.calls if self.session.reply else ()
        return next((c.call for c in calls if c.call.id.startswith(call_id)), Call(id=call_id, tool="t", input="{}"))

    def asked(self, call_id: str) -> Asked:
        call = self.call_of(call_id)
        return Asked(request_id=f"q{call.id}", at=T, definition="d", digest=question_digest(call, "d"))

    @rule(n=st.integers(0, 3), safe=st.booleans())
    def model(self, n: int, safe: bool) -> None:
        self.n += 1
        reply = self.session.reply
        parts: tuple[Part, ...] = tuple(
            Call(id=f"{i}{self.n}", tool="t", input="{}", safe=safe) for i in ("a", "b", "c")[:n]
        )
        said = Text(id=f"t{self.n}", text="hm")
        self.offer(ModelReplied(at=T, reply_id=reply.id if reply else "", parts=(said, *parts)))

    @rule(i=IDS, verdict=st.sampled_from(["allow", "ask", "deny", "invalid", "hold"]), holder=IDS)
    def judge(self, i: str, verdict: str, holder: str) -> None:
        call_id = self.call_of(i).id
        asked = self.asked(i) if verdict == "ask" else None
        held = self.call_of(holder).id if verdict == "hold" else None
        self.offer(CallJudged(at=T, call_id=call_id, verdict=verdict, asked=asked, holder=held))  # type: ignore[arg-type]

    @rule(i=IDS, yes=st.booleans(), edit=st.sampled_from([None, '{"x":1}']), stale=st.booleans())
    def answer(self, i: str, yes: bool, edit: str | None, stale: bool) -> None:
        digest = "stale" if stale else self.asked(i).digest
        self.offer(HumanAnswered(at=T, call_id=self.call_of(i).id, yes=yes, digest=digest, by="ann", edited=edit))

    @rule(i=IDS)
    def start(self, i: str) -> None:
        call = self.call_of(i)
        self.offer(ToolStarted(at=T, call_id=call.id, runner="me", digest=digest_of(call)))

    @rule(i=IDS)
    def submit(self, i: str) -> None:
        self.offer(CallSubmitted(at=T, call_id=self.call_of(i).id, asked=self.asked(i)))

    @rule(i=IDS, outside=st.booleans())
    def come_back(self, i: str, outside: bool) -> None:
        result = Result(call_id=self.call_of(i).id, tool="t", state="success", output="42", at=T)
        self.offer(OutsideReturned(at=T, result=result) if outside else ToolReturned(at=T, result=result))

    @rule(i=IDS)
    def lose(self, i: str) -> None:
        self.offer(RunnerLost(at=T, runner="me", call_ids=(self.call_of(i).id,)))

    @rule(i=IDS, how=st.sampled_from(["raise", "again", "done"]))
    def doubt(self, i: str, how: str) -> None:
        call_id = self.call_of(i).id
        result = Result(call_id=call_id, tool="t", state="success", output="42", at=T)
        if how == "raise":
            self.offer(DoubtRaised(at=T, call_id=call_id, asked=self.asked(i)))
        elif how == "again":
            self.offer(DoubtSettled(at=T, call_id=call_id, how="again", why="w"))
        else:
            self.offer(DoubtSettled(at=T, call_id=call_id, how="done", why="w", result=result))

    @rule(i=IDS)
    def expire(self, i: str) -> None:
        self.offer(RequestExpired(at=T, call_id=self.call_of(i).id))

    @rule()
    def queue(self) -> None:
        said = Said(id=f"m{self.n}", name="user", role="user", parts=(Text(id="t", text="and"),), at=T)
        self.offer(MessageQueued(at=T, message=said))

    @precondition(lambda self: len(self.log) > 8)
    @rule(reason=st.sampled_from(["interrupted", "error"]))
    def end(self, reason: str) -> None:
        reply = self.session.reply
        self.offer(ReplyEnded(at=T, reply_id=reply.id if reply else "", reason=reason))  # type: ignore[arg-type]

    @precondition(lambda self: self.session.reply is not None and self.session.reply.ended is not None)
    @rule()
    def next_reply(self) -> None:
        self.n += 1
        waiting = len(self.session.queue)
        self.offer(ReplyStarted(at=T, reply_id=f"r{self.n}", name="a", prompts=(), max_iters=3, from_queue=waiting))

    @invariant()
    def the_log_is_the_state(self) -> None:
        assert replay(self.log) == self.session
        assert decode_session(encode_session(self.session)) == self.session

    @invariant()
    def a_live_reply_wants_something_or_waits_for_a_running_tool(self) -> None:
        reply = self.session.reply
        if reply is not None and reply.ended is None:
            assert wants(self.session) or any(c.at is At.RUNNING for c in reply.calls)

    @invariant()
    def every_call_has_at_most_one_result_and_none_is_missing_once_the_reply_ended(self) -> None:
        for said in self.session.history:
            calls = [p.id for p in said.parts if isinstance(p, Call)]
            results = [p.call_id for p in said.parts if isinstance(p, Result)]
            assert sorted(calls) == sorted(results)

    @invariant()
    def messages_say_what_the_session_says(self) -> None:
        messages_of(self.session)
        for said in self.session.history:
            again = as_said(message_of(said))
            assert message_of(again).model_dump() == message_of(said).model_dump()


def test_any_sequence_of_facts() -> None:
    run_state_machine_as_test(AnySequence, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))

"""A request: one question that a reply waits on. Derived from the log, never kept twice; what every surface shows."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sayso.permission.rule import PermissionRule

__all__ = ["Answer", "Decided", "OfferedRule", "Preview", "Request"]


class Preview(BaseModel):
    """What would happen, for the person who decides.

    kind: `diff` (unified diff), `command` (text, with its cwd), `json` (the arguments), `text`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: Literal["diff", "command", "json", "text"]
    text: str
    cwd: str | None = None


class OfferedRule(BaseModel):
    """A rule that may be accepted with the answer. A surface names it by `id`, never by its text.

    matches: one sentence that says exactly which calls it covers.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    rule: PermissionRule
    matches: str


class Request(BaseModel):
    """One question.

    id: stable for the life of the request. call_id: the tool call it is about.
    kind: `confirm` (yes, no or an edited input), `ask` (questions of AskUser), `external` (a result from outside).
    path: names of the agents from the outermost to the one that asks; one name where nothing is nested.
    input: the call's arguments as JSON text, exactly what an approval covers.
    why: one sentence, naming the rule or check that makes it ask.
    in_doubt: the call was started before and its runner was lost, so it may have run already.
    response_schema: JSON schema of what an answer may carry.
    digest: names (call, tool, definition, input); an answer must name it: nobody approves what they did not see.
    created_at, expires_at: ISO 8601 with UTC offset; None never expires.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    session_id: str
    reply_id: str
    call_id: str
    path: list[str]
    kind: Literal["confirm", "ask", "external"]
    tool: str
    input: str
    why: str = ""
    in_doubt: bool = False
    safety: bool = False
    preview: Preview | None = None
    suggested_rules: list[OfferedRule] = Field(default_factory=list)
    response_schema: dict[str, Any] = Field(default_factory=dict)
    created_at: str
    expires_at: str | None = None
    digest: str


class Decided(BaseModel):
    """A request that waits no more, and how it ended.

    how: `approved`, `refused`, `answered`, `dismissed` (somebody chose not to answer), `expired` (nobody answered) or
        `withdrawn` (the reply was stopped). by, via: who, through which surface. at: ISO 8601 UTC.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    request: Request
    how: str
    by: str
    via: str
    at: str


class Answer(BaseModel):
    """One person's answer to a request.

    request_id, digest: the request, and what of it they saw. decision: `approve` or `reject` a confirmation,
    `answer` the questions of an `ask` or give an external result, `dismiss` without answering.
    edited_input: the arguments they want instead, as JSON text. rule_ids: ids of offered rules they accept.
    reason: for the model, when rejected. answers: of an `ask`: question, selected, other.
    output, metadata, failed: of an external result.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    request_id: str
    digest: str
    decision: Literal["approve", "reject", "answer", "dismiss"]
    edited_input: str | None = None
    rule_ids: list[str] = Field(default_factory=list)
    reason: str | None = None
    answers: list[dict[str, Any]] | None = None
    output: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    failed: bool = False

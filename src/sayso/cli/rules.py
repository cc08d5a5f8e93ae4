"""`sayso rules` and `sayso permission`: which rules are in force, what they covered, and why a command asks.

Owns how these read. The rules of files are listed, never edited here; those of a session are revoked through its log.
"""

import argparse
import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sayso.agent import Agent
from sayso.cli import Exit
from sayso.cli.driver import whoami
from sayso.cli.home import named_store
from sayso.errors import SaysoError, UnknownCall
from sayso.message import ToolCallBlock
from sayso.permission import PermissionBehavior, PermissionContext, PermissionEngine, PermissionRule
from sayso.permission.explain import describe_rule, explain
from sayso.permission.rulefile import load_files, load_policy, read_rule, rule_text, trust
from sayso.store import open_store
from sayso.tool import Toolkit
from sayso.visible import visible

__all__ = ["run"]

_SPAN = re.compile(r"(\d+)([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def run(options: argparse.Namespace) -> int:
    """Carry out one of the commands; gives the exit code."""
    try:
        if options.command == "permission":
            return _explain_command(options)
        if options.session is not None:
            return asyncio.run(_of_session(options))
        return _of_files(options)
    except ValueError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.USAGE
    except SaysoError as exc:
        print(visible(f"sayso: {exc}"), file=sys.stderr)
        return Exit.ERROR


def _say(text: str = "") -> None:
    print(visible(text))


# -- why a command asks --------------------------------------------------------------------------------


def _explain_command(options: argparse.Namespace) -> int:
    from sayso.permission.context import PermissionMode

    cwd = str(Path(options.cwd).resolve())
    context = PermissionContext(mode=PermissionMode(options.mode or "default"))
    for behavior, texts in (("allow", options.rule), ("deny", options.deny), ("ask", options.ask)):
        for text in texts or ():
            whole = text if re.match(r"\w+\(", text) or text in ("Bash", "Read", "Write", "Edit") else f"Bash({text})"
            context.add_rule(read_rule(whole, PermissionBehavior(behavior), "command line"))
    policy = None if options.no_files else load_policy(cwd)
    explanation = explain(options.text, context=context, cwd=cwd, policy=policy)
    _say(str(explanation))
    return Exit.DONE


# -- the rules of files --------------------------------------------------------------------------------


def _of_files(options: argparse.Namespace) -> int:
    cwd = str(Path(options.cwd).resolve())
    if options.action == "trust":
        path = Path(cwd, options.rule or ".sayso/rules.toml").resolve()
        file = next((f for f in load_files(cwd) if Path(f.path) == path), None)
        if file is None:
            raise ValueError(f"{path} is no rule file in force in {cwd}; sayso rules list shows those that are")
        trust(file)
        _say(f"{path}: its {len(file.left_out)} allow rules count from now on, until it changes.")
        return Exit.DONE
    if options.action != "list":
        raise ValueError(f"rules {options.action} is for a session's rules: give --session ID (sayso sessions)")
    files = load_files(cwd)
    for file in files:
        note = "" if file.kind == "user" or file.trusted else "  (not trusted: sayso rules trust FILE)"
        _say(f"{file.path}  {file.kind}{note}")
        for rule in file.rules:
            _say(f"  {rule.behavior.value:5}  {rule_text(rule)}  {describe_rule(rule)}")
        for rule in file.left_out:
            _say(f"  (not counted) allow  {rule_text(rule)}")
    if not files:
        _say("There are no rule files here; docs/rules.md says where they go and how they read.")
    return Exit.DONE


# -- the rules of a session ----------------------------------------------------------------------------


class _Silent:
    """A model that is never asked: listing and revoking rules needs none."""

    model_name = "none"

    def respond(self, messages: Any, tools: Any) -> AsyncIterator[Any]:
        raise RuntimeError("the rules of a session are changed without asking a model")


async def _of_session(options: argparse.Namespace) -> int:
    store = open_store(named_store(options.store))
    try:
        if await store.session(options.session) is None:
            raise UnknownCall(f"there is no session {options.session!r}; list them with: sayso sessions")
        agent = Agent("rules", "", _Silent(), store=store, session_id=options.session)
        await agent.load()
        rules = _flat(agent.state.permission_context)
        if options.action == "list":
            return _list(rules)
        rule = _chosen(rules, options.rule)
        if options.action == "explain":
            return await _explain_rule(agent, rule)
        if options.action == "revoke":
            await agent.remove_rule(rule, by=whoami())
            _say(f"Revoked: {describe_rule(rule)}")
            return Exit.DONE
        until = _until(options.after)
        # The new one first: whatever happens in between, nothing is in force that was not, and nothing less.
        await agent.add_rule(rule.model_copy(update={"expires_at": until}), by=whoami())
        if rule.expires_at != until:
            await agent.remove_rule(rule, by=whoami())
        _say(f"Until {until}: {describe_rule(rule)}")
        return Exit.DONE
    finally:
        await store.close()


def _flat(context: PermissionContext) -> list[PermissionRule]:
    return [r for behavior in PermissionBehavior for rules in context.rules(behavior).values() for r in rules]


def _list(rules: list[PermissionRule]) -> int:
    for n, rule in enumerate(rules, 1):
        until = f"  until {rule.expires_at}" if rule.expires_at else ""
        _say(f"{n:3}  {rule.behavior.value:5}  {rule_text(rule)}{until}  {describe_rule(rule)}")
    if not rules:
        _say("The session has no rules of its own.")
    return Exit.DONE


def _chosen(rules: list[PermissionRule], number: str | None) -> PermissionRule:
    if number is None or not number.isdecimal() or not 1 <= int(number) <= len(rules):
        raise ValueError(f"which rule? Give its number, 1 to {len(rules)} (sayso rules list --session ID)")
    return rules[int(number) - 1]


async def _explain_rule(agent: Agent, rule: PermissionRule) -> int:
    """Which past calls of the session the rule covers."""
    from sayso.cli.choice import toolkit_for

    _say(describe_rule(rule))
    toolkit: Toolkit = toolkit_for(Path(agent.state.about.get("cwd", os.getcwd())))
    tool = toolkit.get(rule.tool_name)
    if tool is None:
        _say(f"{rule.tool_name} is not a tool of the chat: which calls it covers cannot be told here.")
        return Exit.DONE
    context = PermissionContext()
    context.add_rule(rule)
    count = 0
    for message in agent.state.context:
        for call in message.get_content_blocks(ToolCallBlock):
            if call.name != rule.tool_name:
                continue
            judged = await PermissionEngine(context).judge(tool, toolkit.parse(tool, call.input))
            if any(v.rule == rule for v in judged.verdicts):
                count += 1
                _say(f"  {call.created_at}  {call.input}")
    _say(f"It covers {count} past calls of this session." if count else "It covers no past call of this session.")
    return Exit.DONE


def _until(span: str | None) -> str:
    """A span such as 30m, 8h or 7d from now, as a time."""
    found = _SPAN.fullmatch(span or "")
    if found is None:
        raise ValueError("rules expire N --after SPAN: a span is a number and m, h or d, such as 8h")
    try:
        later = datetime.now(UTC) + timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError as exc:
        raise ValueError(f"--after {span}: that is longer than time goes; give a span such as 8h or 7d") from exc
    return later.isoformat(timespec="seconds")

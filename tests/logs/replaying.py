"""Frozen logs read back, and what of their fold a later version must agree on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sayso.message import TextBlock, ToolCallBlock, ToolResultBlock
from sayso.reply.codec import decode
from sayso.reply.machine import replay
from sayso.reply.question import requests_of
from sayso.reply.state import Session
from sayso.state import state_of
from sayso.store import Entry


def frozen(path: Path) -> list[Entry]:
    """The entries of a frozen log."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Entry("s", e["seq"], e["at"], e["fact"].encode(), bytes.fromhex(e["hash"])) for e in lines]


def summary(entries: Sequence[Entry]) -> dict[str, Any]:
    """What the fold says: who said what, what became of each call, which rules hold, what waits."""
    session = replay((decode(e.fact) for e in entries), Session())
    state = state_of(session)
    context = state.permission_context
    return {
        "mode": context.mode.value,
        "rules": sorted(f"{tool} {r.rule_content}" for tool, rules in context.allow_rules.items() for r in rules),
        "messages": [
            {
                "role": m.role,
                "finished": str(m.finished_reason or ""),
                "texts": [b.text for b in m.content if isinstance(b, TextBlock)],
                "calls": [(b.id, b.name, b.input, b.state.value) for b in m.content if isinstance(b, ToolCallBlock)],
                "results": [(b.id, b.state.value, b.text()) for b in m.content if isinstance(b, ToolResultBlock)],
            }
            for m in state.context
        ],
        "waiting": [r.call_id for r in requests_of(session, lambda tool: None)],
    }

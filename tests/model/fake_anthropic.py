"""What a server says that speaks Anthropic's Messages API, streamed.

Format: https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

import json
from collections.abc import Sequence
from typing import Any

from model.wire import Reply

__all__ = ["answer", "call", "error", "event", "redacted", "say", "start", "stop", "think"]

Event = dict[str, Any]


def event(value: Event) -> bytes:
    """One server-sent event; its name is its type."""
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def start() -> bytes:
    """The opening of a message."""
    usage = {
        "input_tokens": 20,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 7,
        "output_tokens": 1,
    }
    message: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake-claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return event({"type": "message_start", "message": message})


def stop(reason: str) -> list[bytes]:
    """The two last events of a message."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 30}}),
        event({"type": "message_stop"}),
    ]


def say(index: int, *pieces: str) -> list[bytes]:
    """A block of words."""
    return _block(index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces])


def think(index: int, *pieces: str, signature: str) -> list[bytes]:
    """A block of reasoning; the signature comes last."""
    deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces]
    deltas.append({"type": "signature_delta", "signature": signature})
    return _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def redacted(index: int, data: str) -> list[bytes]:
    """A block of reasoning that only the provider can read."""
    return _block(index, {"type": "redacted_thinking", "data": data}, [])


def call(index: int, call_id: str, name: str, *fragments: str) -> list[bytes]:
    """A tool call."""
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return _block(index, block, [{"type": "input_json_delta", "partial_json": f} for f in fragments])


def answer(*blocks: Sequence[bytes], reason: str = "end_turn") -> Reply:
    """A whole answer."""
    ping = event({"type": "ping"})
    return Reply([start(), ping, *(c for b in blocks for c in b), *stop(reason)])


def error(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error before the stream opens."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return Reply([json.dumps(body).encode()], status=status, headers=named, content_type="application/json")


def _block(index: int, block: Event, deltas: Sequence[Event]) -> list[bytes]:
    return [
        event({"type": "content_block_start", "index": index, "content_block": block}),
        *(event({"type": "content_block_delta", "index": index, "delta": d}) for d in deltas),
        event({"type": "content_block_stop", "index": index}),
    ]

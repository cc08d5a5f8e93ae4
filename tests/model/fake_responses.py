"""What a server says that speaks OpenAI's Responses API, streamed.

Format: https://platform.openai.com/docs/api-reference/responses-streaming
"""

import json
from collections.abc import Sequence
from typing import Any

from model.wire import Reply

__all__ = ["answer", "call", "event", "reason", "say"]

Item = dict[str, Any]


def event(value: Item) -> bytes:
    """One server-sent event; its name is its type."""
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def reason(item_id: str, summary: str, encrypted: str) -> tuple[Item, list[Item]]:
    """A reasoning item: a summary for people, and the encrypted reasoning itself."""
    item = {"id": item_id, "type": "reasoning", "summary": [{"type": "summary_text", "text": summary}]}
    part = {"item_id": item_id, "summary_index": 0}
    events = [
        {"type": "response.reasoning_summary_part.added", "part": {"type": "summary_text", "text": ""}, **part},
        {"type": "response.reasoning_summary_text.delta", "delta": summary, **part},
    ]
    return {**item, "encrypted_content": encrypted, "status": "completed"}, events


def say(item_id: str, *pieces: str) -> tuple[Item, list[Item]]:
    """A message item."""
    text = {"type": "output_text", "text": "".join(pieces), "annotations": []}
    item = {"id": item_id, "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    part = {"item_id": item_id, "content_index": 0}
    added = {"type": "response.content_part.added", "part": {**text, "text": ""}, **part}
    return item, [added, *({"type": "response.output_text.delta", "delta": p, "logprobs": [], **part} for p in pieces)]


def call(item_id: str, call_id: str, name: str, *fragments: str) -> tuple[Item, list[Item]]:
    """A function call item."""
    item = {"id": item_id, "type": "function_call", "call_id": call_id, "name": name, "status": "completed"}
    deltas = [{"type": "response.function_call_arguments.delta", "item_id": item_id, "delta": f} for f in fragments]
    return {**item, "arguments": "".join(fragments)}, deltas


def answer(*items: tuple[Item, Sequence[Item]], end: str | None = "completed") -> Reply:
    """A whole answer; without its last event where `end` is None."""
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1764550000,
        "model": "gpt-5-fake",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
    }
    events: list[Item] = [{"type": "response.created", "response": response}]
    for index, (item, inner) in enumerate(items):
        begun = {**item, "status": "in_progress"}
        begun.update({k: v for k, v in (("arguments", ""), ("content", []), ("summary", [])) if k in item})
        begun.pop("encrypted_content", None)
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        events += [{**e, "output_index": index} for e in inner]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    if end is not None:
        usage = {
            "input_tokens": 120,
            "input_tokens_details": {"cached_tokens": 100},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 10},
            "total_tokens": 150,
        }
        output = [item for item, _ in items]
        ended = {**response, "status": end, "output": output, "usage": usage}
        if end == "incomplete":
            ended["incomplete_details"] = {"reason": "max_output_tokens"}
        events.append({"type": f"response.{end}", "response": ended})
    return Reply([event({**e, "sequence_number": n}) for n, e in enumerate(events)])

"""A server that speaks OpenAI's Chat Completions API, streamed, and says what a script tells it to.

As a program it serves a script until it is killed, for trying things out without a key:

    cd tests; python -m model.fake_openai --port 8123 --script turns.json
    OPENAI_BASE_URL=http://127.0.0.1:8123/v1 sayso chat -m openai:fake

The script is a JSON list of turns: {"thinking": "...", "text": "...", "calls": [{"name": "...", "arguments": {...}}]}.
Format: https://platform.openai.com/docs/api-reference/chat-streaming
"""

import argparse
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.wire import Reply, WireServer

__all__ = ["DONE", "answer", "call", "chunk", "data", "error", "say", "scripted", "serve", "think"]

DONE = b"data: [DONE]\n\n"
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 100},
}

Delta = dict[str, Any]


def say(*pieces: str) -> list[Delta]:
    """Words."""
    return [{"content": p} for p in pieces]


def think(*pieces: str) -> list[Delta]:
    """Reasoning, in the field that DeepSeek, DashScope and vLLM use."""
    return [{"reasoning_content": p} for p in pieces]


def call(index: int, call_id: str, name: str, *fragments: str, **extra: Any) -> list[Delta]:
    """A tool call and the fragments of its arguments, each a delta: take them apart to interleave calls."""
    first = {
        "index": index,
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": ""},
        **extra,
    }
    rest = [{"index": index, "function": {"arguments": f}} for f in fragments]
    return [{"tool_calls": [c]} for c in (first, *rest)]


def data(value: object) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Delta | None, finish: str | None = None, **top: Any) -> bytes:
    """One `chat.completion.chunk`; no choice at all where delta is None."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
    return data(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1764550000,
            "model": "fake-1",
            "choices": choices,
            **top,
        }
    )


def answer(*deltas: Sequence[Delta], finish: str | None = None, usage: Mapping[str, Any] = USAGE) -> Reply:
    """A whole answer."""
    flat = [d for ds in deltas for d in ds]
    if finish is None:
        finish = "tool_calls" if any("tool_calls" in d for d in flat) else "stop"
    chunks = [chunk({"role": "assistant", "content": ""}), *(chunk(d) for d in flat), chunk({}, finish)]
    return Reply([*chunks, chunk(None, usage=usage), DONE])


def error(status: int, message: str, code: str | None = None, kind: str = "x", **headers: str) -> Reply:
    """An error before the stream opens."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return Reply([json.dumps(body).encode()], status=status, headers=named, content_type="application/json")


def scripted(turns: Iterable[Mapping[str, Any]], size: int = 8) -> list[Reply]:
    """The replies of a script; each text in pieces of `size` characters."""
    replies = []
    for number, turn in enumerate(turns):
        deltas = [think(*_pieces(turn.get("thinking", ""), size)), say(*_pieces(turn.get("text", ""), size))]
        for index, asked in enumerate(turn.get("calls", ())):
            arguments = asked.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            deltas.append(call(index, f"call_{number}_{index}", asked["name"], *_pieces(text, size)))
        replies.append(answer(*deltas))
    return replies


def serve(replies: Iterable[Reply], port: int = 0) -> WireServer:
    """A server; its API is at `.address` + "/v1"."""
    return WireServer(replies, port)


def _pieces(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def main() -> None:
    """Serve a script; after its last turn, say so."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that follows a script")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True)
    options = parser.parse_args()
    turns = json.loads(options.script.read_text(encoding="utf-8"))
    with serve([*scripted(turns), answer(say("The script has no more turns."))], options.port) as server:
        print(f"{server.address}/v1", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()

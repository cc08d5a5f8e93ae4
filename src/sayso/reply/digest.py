"""What an approval names: a digest of exactly one call."""

from hashlib import sha256

from sayso.reply.part import Call

__all__ = ["digest_of", "question_digest"]


def digest_of(call: Call) -> str:
    """Hex sha256 over call id, tool and exact input text, each with its length: what a yes covers, what is run."""
    return _digest(call.id, call.tool, call.input)


def question_digest(call: Call, definition: str) -> str:
    """As `digest_of`, and the tool's definition: what a person saw when they were asked."""
    return _digest(call.id, call.tool, call.input, definition)


def _digest(*fields: str) -> str:
    h = sha256()
    for field in fields:
        data = field.encode("utf-8", "surrogatepass")
        h.update(b"%d:" % len(data))
        h.update(data)
    return h.hexdigest()

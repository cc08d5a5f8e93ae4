"""What went wrong with a model, in one vocabulary, and how long to wait before trying again.

Owns the translation of any exception into a `ModelError`. Reads exceptions by their shape: it imports no provider
library, and knows no model. Pure: no clock, no randomness of its own.
"""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.errors import ModelError, ModelErrorKind

__all__ = ["Retry", "classify"]

_LONGEST: Final = 500  # characters of a provider's own words that an error may carry

# Keys that a provider may echo: bearer tokens, `sk-...` (OpenAI, Anthropic, DeepSeek), `AIza...` (Google),
# and whatever follows a name such as `api_key=`.
_SECRETS = re.compile(
    r"(?i)(bearer\s+)[\w.~+/=-]{6,}"
    r"|(\b(?:x-)?api[_-]?key[\"']?\s*[:=]\s*[\"']?)[^\s\"',;}]{6,}"
    r"|\b(?:[sp]k|key|gsk|xai)-[\w*.-]{6,}"
    r"|\bAIza[\w*-]{6,}"
)

# The categories of pydantic-ai, which has read the provider's own codes; the first match in a class's MRO wins, so
# a narrower category beats the one it extends. An exhausted quota is not a rate limit: waiting does not help.
_CATEGORIES: Mapping[str, ModelErrorKind] = {
    "ModelQuotaExceededError": "invalid_request",
    "ModelRateLimitError": "rate_limited",
    "ModelUnavailableError": "overloaded",
    "ModelServerError": "server",
    "ModelTimeoutError": "timeout",
    "ModelRequestTimeout": "timeout",
    "ModelContextWindowExceededError": "context_length",
    "ModelAuthenticationError": "authentication",
    "ModelNotFoundError": "not_found",
    "ModelRequestRejectedError": "invalid_request",
    "ContentFilterError": "content_filter",
    "UserError": "invalid_request",
}

# The HTTP statuses that no category above covers.
_STATUSES: Mapping[int, ModelErrorKind] = {
    408: "timeout",
    409: "server",
    413: "context_length",
    504: "timeout",
}

# Words of providers that report an input too long as a plain 400: Anthropic, llama.cpp, vLLM, DashScope.
_TOO_LONG = re.compile(
    r"(?i)prompt is too long|context (?:length|window|size)|maximum context|exceed_context_size"
    r"|range of input length|too many tokens"
)
_FILTERED = re.compile(r"(?i)content[_ ](?:filter|policy)|data_inspection_failed|inappropriate content")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long to try again.

    attempts: calls in all, the first included. budget: seconds that waiting may take in all.
    first, factor, most: seconds before the second call, its growth, its ceiling.
    """

    attempts: int = 4
    budget: float = 60.0
    first: float = 0.5
    factor: float = 2.0
    most: float = 20.0

    def delay(self, attempt: int, error: ModelError, *, random: float = 0.5) -> float | None:
        """Seconds to wait after the failure of call number `attempt` (from 1), or None to give up.

        random: from 0 to 1; spreads the wait over the upper half of its range, so that clients that failed together
        do not come back together. What the provider asked for (`retry_after`) is the least, if it fits the budget.
        """
        if attempt >= self.attempts or not error.transient:
            return None
        wait = min(self.most, self.first * self.factor ** (attempt - 1)) * (0.5 + random / 2)
        if error.retry_after is not None:
            wait = max(wait, error.retry_after)
        return wait if wait <= self.budget else None


def classify(exc: BaseException) -> ModelError:
    """Any exception as a `ModelError`; one that is already a `ModelError` comes back as it is.

    The message is at most some hundred characters of the provider's own words, without keys.
    """
    if isinstance(exc, ModelError):
        return exc
    names = [c.__name__ for c in type(exc).__mro__]
    status = getattr(exc, "status_code", None)
    status = status if isinstance(status, int) else None
    words = _words(exc)
    return ModelError(
        _told(names[0], status, words),
        kind=_kind(exc, names, status, words),
        status=status,
        retry_after=_retry_after(exc),
    )


def _kind(exc: BaseException, names: list[str], status: int | None, words: str) -> ModelErrorKind:
    if status is not None and status in _STATUSES:
        return _STATUSES[status]
    kind = next((_CATEGORIES[n] for n in names if n in _CATEGORIES), None)
    codes = f"{getattr(exc, 'provider_error_code', '')} {getattr(exc, 'provider_error_type', '')}"
    if kind == "invalid_request" and (_FILTERED.search(codes) or _FILTERED.search(words)):
        return "content_filter"
    if kind in ("invalid_request", "server") and _TOO_LONG.search(words):
        return "context_length"
    if kind is not None:
        return kind
    if "ModelConnectionError" in names:
        return "broken_stream" if getattr(exc, "phase", None) == "read" else "network"
    if names[0] == "ModelAPIError":
        # It has no category: the provider's stream stopped short, or held something that is not of its format.
        return "unknown" if getattr(exc, "body", None) else "broken_stream"
    if "UnexpectedModelBehavior" in names:
        return "broken_stream"
    if status is not None:
        return "invalid_request" if status < 500 else "server"
    return _of_transport(exc, names)


def _of_transport(exc: BaseException, names: list[str]) -> ModelErrorKind:
    if isinstance(exc, TimeoutError) or "TimeoutException" in names:
        return "timeout"
    if "RemoteProtocolError" in names or "ReadError" in names or isinstance(exc, EOFError):
        return "broken_stream"
    if isinstance(exc, ConnectionError | ssl.SSLError) or "TransportError" in names or "gaierror" in names:
        return "network"
    return "unknown"


def _words(exc: BaseException) -> str:
    """The provider's own words, wherever its body keeps them."""
    body: Any = getattr(exc, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            inner = inner.get("message") or inner.get("detail")
        if isinstance(inner, str) and inner:
            return inner
    elif isinstance(body, str) and body.strip():
        return body
    return str(exc)


def _told(name: str, status: int | None, words: str) -> str:
    words = _SECRETS.sub(lambda m: f"{m[1] or m[2] or ''}[secret]", words)
    words = " ".join("".join(c if c.isprintable() else " " for c in words[: 4 * _LONGEST]).split())
    if len(words) > _LONGEST:
        words = words[: _LONGEST - 1] + "…"
    if status is None:
        return words or name
    return f"HTTP {status}: {words}" if words else f"HTTP {status}"


def _retry_after(exc: BaseException) -> float | None:
    seconds = getattr(exc, "retry_after", None)
    if isinstance(seconds, int | float) and 0 <= seconds < float("inf"):
        return float(seconds)
    return None

"""Any exception as a `ModelError`, and how long to wait after it."""

import socket
import ssl

import pytest

from sayso.errors import ModelError, ModelErrorKind
from sayso.model import Retry, classify


@pytest.mark.parametrize(
    ("exc", "kind"),
    [
        (ConnectionRefusedError("no"), "network"),
        (ConnectionResetError("no"), "network"),
        (socket.gaierror(-2, "name not known"), "network"),
        (ssl.SSLError("bad certificate"), "network"),
        (TimeoutError(), "timeout"),
        (EOFError(), "broken_stream"),
        (ValueError("what"), "unknown"),
        (KeyboardInterrupt(), "unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_plain_exception_is_classified(exc: BaseException, kind: ModelErrorKind) -> None:
    assert classify(exc).kind == kind


def test_an_error_that_is_classified_already_stays_itself() -> None:
    error = ModelError("x", kind="overloaded")
    assert classify(error) is error


def test_an_exception_without_words_is_told_by_its_name() -> None:
    assert str(classify(TimeoutError())) == "TimeoutError"


@pytest.mark.parametrize(
    "words",
    [
        "Incorrect API key provided: sk-proj-abcdefgh1234",
        "Authorization: Bearer abcdefgh1234",
        "headers: {'x-api-key': 'abcdefgh1234'}",
        "GET /v1?api_key=abcdefgh1234",
        "key AIzaabcdefgh1234 is not valid",
        "gsk-abcdefgh1234 expired",
    ],
)
def test_keys_are_taken_out_of_messages(words: str) -> None:
    told = str(classify(RuntimeError(words)))
    assert "abcdefgh" not in told
    assert "[secret]" in told


def test_a_message_is_one_short_line_without_control_characters() -> None:
    told = str(classify(RuntimeError("a\x1b[31m\nb\u202e" + "c" * 5000)))
    assert told.startswith("a [31m b c")
    assert len(told) == 500
    assert told.isprintable()


def test_waits_grow_to_a_ceiling() -> None:
    error = ModelError("x", kind="server")
    retry = Retry(attempts=9, first=0.5, factor=2, most=3)
    assert [retry.delay(n, error, random=1.0) for n in range(1, 6)] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_waits_spread_over_their_upper_half() -> None:
    error = ModelError("x", kind="server")
    assert [Retry(first=4.0).delay(1, error, random=r) for r in (0.0, 0.5, 1.0)] == [2.0, 3.0, 4.0]


def test_the_last_attempt_is_not_followed_by_a_wait() -> None:
    error = ModelError("x", kind="server")
    assert Retry(attempts=2).delay(1, error) is not None
    assert Retry(attempts=2).delay(2, error) is None


@pytest.mark.parametrize("kind", ["authentication", "not_found", "invalid_request", "context_length", "content_filter"])
def test_what_waiting_does_not_help_is_not_tried_again(kind: ModelErrorKind) -> None:
    assert Retry().delay(1, ModelError("x", kind=kind)) is None


def test_what_the_provider_asks_for_is_the_least_if_the_budget_allows_it() -> None:
    retry = Retry(first=0.5, most=20, budget=60)
    waits = [retry.delay(1, ModelError("x", kind="rate_limited", retry_after=s), random=1.0) for s in (0.1, 30, 61)]
    assert waits == [0.5, 30, None]

"""Logs of earlier versions replay to what they meant then."""

import json
from pathlib import Path

import pytest

from logs.replaying import frozen, summary
from sayso.errors import NewerLog
from sayso.reply.codec import decode
from sayso.store.chain import verify

LOGS = sorted(Path(__file__).parent.glob("v*/*.jsonl"))


@pytest.mark.parametrize("path", LOGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_frozen_log_replays_to_what_it_meant(path: Path) -> None:
    entries = frozen(path)
    assert verify(entries) is None
    expected = json.loads(path.with_suffix(".fold.json").read_text("utf-8"))
    assert json.loads(json.dumps(summary(entries))) == expected


def test_every_fact_of_the_language_is_in_a_frozen_log() -> None:
    from sayso.reply import fact

    seen = {type(decode(e.fact)).__name__ for path in LOGS for e in frozen(path)}
    missing = {name for name in fact.__all__ if name != "Fact"} - seen
    assert not missing


def test_a_log_of_a_later_version_is_refused() -> None:
    fact = json.loads(frozen(LOGS[0])[0].fact)
    name, _, version = fact["fact"].partition("/")
    fact["fact"] = f"{name}/{int(version) + 1}"
    with pytest.raises(NewerLog):
        decode(json.dumps(fact).encode())

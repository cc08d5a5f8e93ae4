"""What waits, what was decided, by whom, how fast, and which rules spare questions: counted from the store.

Looks at a bounded number of the latest decisions and sessions, so that it costs the same in a large store.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median

from sayso.host import Host
from sayso.reply.codec import decode
from sayso.reply.fact import CallJudged
from sayso.request import Decided, Request
from sayso.server.plot import bars, stacked, tile
from sayso.store.base import Store
from sayso.visible import visible

__all__ = ["overview"]

_DECISIONS = 1000
_SESSIONS = 100  # whose logs are read for the rules that decided alone
_ENTRIES = 400  # of each of them
_DAYS = 14
_BINS = (("under 10 s", 10), ("under 1 min", 60), ("under 10 min", 600), ("under 1 h", 3600), ("under 1 day", 86400))


async def overview(host: Host) -> str:
    """The page's inside as HTML."""
    waiting, decided, alone = await asyncio.gather(
        host.pending(limit=200), host.history(limit=_DECISIONS), _decided_alone(host.store)
    )
    now = datetime.now(UTC)
    by_people = [d for d in decided if d.how in ("approved", "refused", "answered")]
    seconds = [(_time(d.at) - _time(d.request.created_at)).total_seconds() for d in by_people]
    tiles = [
        tile(f"{len(waiting)}{'+' if len(waiting) == 200 else ''}", "waiting"),
        tile(_span(_oldest(waiting, now)), "the oldest waits"),
        tile(_span(median(seconds)) if seconds else "–", "median time to decide"),
        tile(f"{len(by_people):,}", f"decided by people (of the last {len(decided):,})"),
    ]
    plots = [
        bars("Waiting, by age", _ages(waiting, now), none="Nothing waits."),
        stacked("Decisions a day", ("yes", "no", "nobody"), _days(decided, now)),
        bars("Time to decide", _histogram(seconds)),
        bars("Answers by person", Counter(visible(d.by) or "somebody" for d in by_people).most_common(10)),
        bars("Rules that decided alone", alone.most_common(10), none="No rule has allowed a call yet."),
        bars("Rules that would have spared questions", _sparing(decided), none="No rule was offered yet."),
    ]
    return f'<div class="tiles">{"".join(tiles)}</div><div class="plots">{"".join(plots)}</div>'


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _oldest(waiting: Sequence[Request], now: datetime) -> float:
    return max(((now - _time(r.created_at)).total_seconds() for r in waiting), default=0.0)


def _span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _ages(waiting: Sequence[Request], now: datetime) -> list[tuple[str, float]]:
    return _histogram([(now - _time(r.created_at)).total_seconds() for r in waiting])


def _histogram(seconds: Sequence[float]) -> list[tuple[str, float]]:
    if not seconds:
        return []
    counts = Counter(next((name for name, most in _BINS if s < most), "a day and more") for s in seconds)
    return [(name, counts[name]) for name in [*(name for name, _ in _BINS), "a day and more"]]


def _days(decided: Sequence[Decided], now: datetime) -> list[tuple[str, tuple[int, int, int]]]:
    counts: dict[str, list[int]] = {}
    for n in range(_DAYS - 1, -1, -1):
        counts[(now - timedelta(days=n)).date().isoformat()] = [0, 0, 0]
    for each in decided:
        day = counts.get(_time(each.at).date().isoformat())
        if day is not None:
            day[{"approved": 0, "answered": 0, "refused": 1}.get(each.how, 2)] += 1
    return [(day[5:], (yes, no, nobody)) for day, (yes, no, nobody) in counts.items()]


def _sparing(decided: Sequence[Decided]) -> list[tuple[str, float]]:
    """The narrowest rule offered with each question that was approved: how often it would have been of use again."""
    counts: Counter[str] = Counter()
    for each in decided:
        if each.how == "approved" and each.request.suggested_rules:
            rule = each.request.suggested_rules[0].rule
            counts[visible(f"{rule.tool_name}({rule.rule_content})" if rule.rule_content else rule.tool_name)] += 1
    return [(name, count - 1) for name, count in counts.most_common(10) if count > 1]


async def _decided_alone(store: Store) -> "Counter[str]":
    """How often each allow rule let a call run without a question, in the latest sessions."""
    counts: Counter[str] = Counter()
    for row in await store.sessions(limit=_SESSIONS):
        for entry in await store.read(row.session_id, after=max(0, row.length - _ENTRIES), limit=_ENTRIES):
            fact = decode(entry.fact)
            if isinstance(fact, CallJudged) and fact.verdict == "allow" and fact.reason.startswith("allow rule "):
                counts[visible(fact.reason.removeprefix("allow rule "))] += 1
    return counts

"""Which step somebody asks for: by its number, by a time, or by a tag.

A time means the last step at or before it, by the steps' instants (`dbsp.running.clock.instant`).
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime

from dbsp.circuits.errors import NotKept, did_you_mean
from dbsp.running.clock import in_zone, spelled
from dbsp.state.store import Store

AsOf = int | str | datetime

_BEFORE = datetime.min.replace(tzinfo=UTC)


def step_of(store: Store, asked: AsOf, timezone: str) -> int:
    """The number of a kept step. timezone: of times without one. Raises NotKept: what is kept."""
    if isinstance(asked, str):
        asked = _read(store, asked.strip())
    if isinstance(asked, datetime):
        zoned = in_zone(asked, timezone)
        assert zoned is not None
        return _last_at(store, zoned)
    if isinstance(asked, bool) or not isinstance(asked, int):
        raise NotKept(f"{store.root}: {asked!r} is no step, time or tag; {store.said_kept()}")
    return store.commit_of(asked).step


def _read(store: Store, text: str) -> int | datetime:
    if text.isdecimal() and text.isascii():
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        tags = store.tags.all()
        if text in tags:
            return tags[text].step
        hint = did_you_mean(text, list(tags))
        raise NotKept(
            f"{store.root}: '{text}' is no step, no time such as '2024-01-31 12:00:00', and no tag of what "
            f"is kept; {store.said_kept()}{hint}"
        ) from None


def _last_at(store: Store, time: datetime) -> int:
    """The last step at or before a time. Cost: O(log n) records, of n steps that are kept."""
    last = store.last
    if last is None:
        raise NotKept(f"{store.root}: there is no step yet")

    def instant(step: int) -> datetime:
        commit = store.commit_of(step)
        # what is of another clock than now came before it
        return commit.instant if commit.instant is not None and commit.driven == last.driven else _BEFORE

    steps = store.steps
    found = bisect_right(steps, time, key=instant)
    if found and instant(steps[found - 1]) != _BEFORE:
        return steps[found - 1]
    timed = bisect_right(steps, _BEFORE, key=instant)
    first = steps[timed] if timed < len(steps) else None
    began = f"; step {first} was made at {spelled(instant(first))} UTC" if first is not None else ""
    kept = f"{store.said_kept()} ({store.keep})"
    raise NotKept(f"{store.root}: no step is kept as of {spelled(time)} UTC{began}, and {kept}")

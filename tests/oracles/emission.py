"""Emission by the book: which keys fire at the end of a step, one key and one instant after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Program

Key = tuple[Any, ...]
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Clause:
    """TRIGGER or EMIT, as SQL and as what it means. Times in minutes.

    rated: EMIT with an update rate alone, whose delay is since the first record that waits.
    """

    counting: int | None = None
    delay: int | None = None
    waterline: bool = False
    emit: tuple[int, int, int] | None = None
    every: int | None = None
    rows: int | None = None
    late: bool = False
    flag: bool = False
    rated: bool = False

    @property
    def sql(self) -> str:
        if self.rated:
            rate = f"{self.counting} ROWS" if self.delay is None else f"INTERVAL {self.delay} MINUTES"
            return f"EMIT (UPDATE RATE {rate})"
        if self.emit is None:
            members = []
            if self.counting is not None:
                members.append(f"COUNTING {self.counting}")
            if self.delay is not None:
                members.append(f"AFTER DELAY INTERVAL '{self.delay}' MINUTE")
            if self.waterline:
                members.append("ON WATERMARK")
            return f"TRIGGER {', '.join(members)}"
        first, complete, last = (f"INTERVAL '{offset}' MINUTE" for offset in self.emit)
        rate = f"{self.rows} ROWS" if self.every is None else f"INTERVAL {self.every} MINUTES"
        late = "ON" if self.late else "OFF"
        options = [
            f"FIRST RESULT OFFSET {first}",
            f"COMPLETE RESULT OFFSET {complete}",
            f"UPDATE RATE {rate}",
            f"LATE UPDATES {late}",
            f"LAST RESULT OFFSET {last}",
        ]
        return f"EMIT ({', '.join(options)}{', RESULT STATE FLAG' if self.flag else ''})"


def draw_clause(choices: Choices, timed: bool = True) -> str:
    """A trigger that any view may have. timed: it may watch the clock."""
    members = [f"COUNTING {choices.integer(1, 4)}"]
    if timed and chance(choices, 2):
        delay = f"AFTER DELAY INTERVAL {choices.integer(0, 3)} MINUTES"
        members = choices.choice([[delay], [*members, delay], [delay, *members]])
    return f"TRIGGER {', '.join(members)}"


def triggered(choices: Choices, program: Program) -> Program:
    """The program with a trigger on some of the outputs that may have one, on one at least."""
    outputs = [view for view in program.views if not (view.local or view.recursive)]
    if not outputs:
        return program
    one = choices.choice(outputs)
    views = tuple(
        replace(view, emission=draw_clause(choices))
        if view is one or (view in outputs and chance(choices, 2))
        else view
        for view in program.views
    )
    return replace(program, views=views)


@dataclass
class Waiting:
    count: int = 0
    pending: bool = False
    deadline: datetime | None = None


@dataclass
class Model:
    """What a view with a clause emits, step by step.

    rows: by key, in the view. The key's first column is its window's end, None where rows have no time, so
    that nothing is due before the input ends; () is that of what has no GROUP BY, whose row is there before
    any record.
    """

    clause: Clause
    keys: dict[Key, Waiting] = field(default_factory=dict)
    emitted: dict[Key, Any] = field(default_factory=dict)
    largest: datetime | None = None

    def step(
        self,
        records: Mapping[Key, int],
        rows: Mapping[Key, Any],
        clock: datetime,
        bound: datetime | None,
        largest: datetime | None,
        ending: bool = False,
    ) -> Counter[Any]:
        """records: per key, that reached it. bound: no window that ends by then will change any more.

        largest: event time so far, of this step too.
        """
        before, self.largest = self.largest, largest
        changes: Counter[Any] = Counter()
        known = {**{key: self.keys[key] for key in self.keys}, **{k: Waiting() for k in records}}
        for key in known:
            waiting = self.keys.setdefault(key, Waiting(pending=key == () and not records.get(key)))
            state = self._fires(key, waiting, records.get(key, 0), clock, bound, before, ending)
            if state is None:
                continue
            if ending and key in self.emitted and self._is_over(key):
                continue  # what was final stays
            current = rows.get(key)
            if current is not None and self.clause.flag:
                current = (*current, state)
            old = self.emitted.get(key)
            if old is not None:
                changes[(*key, *old)] -= 1
            if current is not None:
                changes[(*key, *current)] += 1
                self.emitted[key] = current
            else:
                self.emitted.pop(key, None)
                waiting.count = 0
        return Counter({row: weight for row, weight in changes.items() if weight})

    def _is_over(self, key: Key) -> bool:
        """Whether the time of its last result has come."""
        if self.clause.emit is None or self.largest is None or key[0] is None:
            return False
        return bool(self.largest >= key[0] + self.clause.emit[2] * MINUTE)

    def _fires(
        self,
        key: Key,
        waiting: Waiting,
        records: int,
        clock: datetime,
        bound: datetime | None,
        before: datetime | None,
        ending: bool,
    ) -> str | None:
        clause = self.clause
        overdue = waiting.pending and (waiting.deadline is None or waiting.deadline <= clock)
        if records:
            if clause.delay is not None and not (clause.rated and waiting.pending):
                waiting.deadline = clock + clause.delay * MINUTE
            waiting.pending = True
            waiting.count += records
        state, fires = "", ending and waiting.pending
        every = clause.counting
        if clause.emit is not None:
            state, came, counts = self._scheduled(key, records, before, ending)
            fires |= came
            every = clause.rows if counts else None
        counted = bool(records) and every is not None and waiting.count >= every
        if clause.delay is not None:
            fires |= overdue or (waiting.pending and clause.delay == 0 and records > 0)
        if clause.waterline and bound is not None and key[0] is not None:
            fires |= waiting.pending and key[0] <= bound
        if not fires and not counted:
            return None
        waiting.count = waiting.count % every if counted and every is not None else 0
        waiting.pending, waiting.deadline = False, None
        return state

    def _scheduled(
        self, key: Key, records: int, before: datetime | None, ending: bool
    ) -> tuple[str, bool, bool]:
        """(state of the result, whether an instant came, whether rows count)."""
        assert self.clause.emit is not None
        if key[0] is None:
            return "final" if ending else "early", ending, False
        first, complete, last = (key[0] + offset * MINUTE for offset in self.clause.emit)
        now = self.largest
        instants = [complete, last]
        at = first
        while at < complete:
            instants.append(at)
            if self.clause.every is None:
                break
            at += self.clause.every * MINUTE
        came = now is not None and any((before is None or before < i) and i <= now for i in instants)
        if self.clause.late and records and before is not None and complete <= before < last:
            came = True
        if ending or (now is not None and now >= last):
            return "final", came or ending, False
        early = now is None or now < complete
        return "early" if early else "complete", came, now is not None and first <= now < complete

"""What a reading of the clock will do: the moment at which it passes a row, goes back, or first differs.

Readings are computed a minute apart for two days, all at once; and between two minutes by halves, since none
changes its way more than once a minute. One of a clock that ticks more often is computed once a tick.
Nothing is said of what lies beyond, so that is a moment too.
Cost: the evaluation of 2,880 clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array, is_true
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.timeline import earliest, passed
from dbsp.circuits.traces.trace import Integral

_MINUTE = 60_000_000
_MINUTES = 2 * 24 * 60
# further ahead than any clock will get: 4,500 years, in microseconds
_FAR = 1 << 57

Reading = Callable[[int], pa.Scalar | None]


def halved(happened: Callable[[int], bool], before: int, last: int) -> int | None:
    """The first moment after `before`, up to `last`, at which something has happened that stays."""
    least, most = before, min(before + 1, last)
    while not happened(most):
        if most >= last:
            return None
        least, most = most, min(before + 2 * (most - before), last)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if happened(middle) else (middle, most)
    return most


def first_passed(
    timeline: Integral, read: Reading, at_once: bool, now: int, last: int | None = None
) -> int | None:
    """The first clock after `now`, up to `last`, at which a row is passed; readings don't fall until then.

    Cost: a search a slot and run.
    """
    instant = earliest(timeline.layout, timeline.before, read(now), at_once)
    if instant is None:
        return None
    only = pa.array([instant], instant.type)
    happened = lambda clock: bool(passed(only, read(clock), at_once)[0])  # noqa: E731
    return halved(happened, now, now + _FAR if last is None else last)


def at_clock(clock: int) -> Waterlines:
    """What is known when the step clock is there."""
    return {CLOCK.name: pa.scalar(clock, CLOCK.type)}


def first_drop(expression: Expression, now: int) -> int:
    """The first clock after `now` whose reading is below one before it; two days from now, if none is."""
    clocks, values = _ahead(expression, now)
    falls = np.flatnonzero(is_true(pc.less(values[1:], values[:-1])))
    if not len(falls):
        return int(clocks[-1])
    before = int(falls[0])
    highest = values[before]
    found = halved(
        lambda clock: bool(pc.less(_read(expression, clock), highest).as_py()),
        int(clocks[before]),
        int(clocks[before + 1]),
    )
    assert found is not None
    return found


def first_change(expressions: Sequence[Expression], now: int) -> int:
    """The first clock after `now` with another reading; two days from now, if there is none."""
    return min(_first_change(expression, now) for expression in expressions)


def _first_change(expression: Expression, now: int) -> int:
    clocks, values = _ahead(expression, now)
    same = equal_rows([values], np.arange(len(values)), [values], np.zeros(len(values), np.int64))
    if same.all():
        return int(clocks[-1])
    after = int(np.flatnonzero(~same)[0])
    found = halved(
        lambda clock: not _read(expression, clock).equals(values[0]),
        int(clocks[after - 1]),
        int(clocks[after]),
    )
    assert found is not None
    return found


def _ahead(expression: Expression, now: int) -> tuple[np.ndarray, pa.Array]:
    """(now and the beginnings of the minutes after it, or of the ticks; the readings)."""
    pace = min([_MINUTE, *_ticks(expression)])
    moments = (now // pace + 1 + np.arange(_MINUTES, dtype=np.int64)) * pace
    clocks = np.concatenate([np.array([now], np.int64), moments])
    return clocks, evaluate(expression, _rows(clocks))


def _ticks(expression: Expression) -> Iterator[int]:
    """In microseconds, of the clocks that it reads."""
    if isinstance(expression, Call):
        every = expression.option("every") if expression.function == "clock_tick" else None
        if isinstance(every, int):
            yield every
        for argument in expression.arguments:
            yield from _ticks(argument)


def _read(expression: Expression, clock: int) -> pa.Scalar:
    return evaluate(expression, _rows(np.array([clock], np.int64)))[0]


def _rows(clocks: np.ndarray) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([int64_array(clocks).view(CLOCK.type)], names=[CLOCK.name])

"""Timelines: which rows of a trace in the order of time come due as a threshold rises.

    due(before, W, W') = { x ∈ before : x.instant passed by W' and not by W }        W <= W'

A row is *passed* where its instant is below the threshold, or equal to it if `at_once`. So a row comes due in
exactly one step, however far the threshold jumps.  Cost: a search a slot and run, then the rows that come due
(and those that share the code of an order with one, see `order_steps`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.columns.order_codes import order_steps
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.traces.layout import SLOTS, Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.zset import ZSet

_SLOTS = np.arange(SLOTS, dtype=np.uint64) << np.uint64(56)


def passed(instants: pa.Array, threshold: pa.Scalar | None, at_once: bool) -> np.ndarray:
    """bool[n]; nothing is while the threshold is unset, and a NULL never is."""
    if threshold is None:
        return np.zeros(len(instants), dtype=np.bool_)
    compare = pc.less_equal if at_once else pc.less
    return is_true(compare(instants, threshold))


def due(
    layout: Layout,
    before: Iterable[SortedRun],
    earlier: pa.Scalar | None,
    now: pa.Scalar | None,
    at_once: bool,
) -> Iterator[ZSet]:
    """The rows that `now` passes and `earlier` did not."""
    if now is None:
        return
    assert layout.timeline and layout.order is not None
    to = _SLOTS | order_steps(pa.array([now], now.type))
    since = _SLOTS if earlier is None else _SLOTS | order_steps(pa.array([earlier], earlier.type))
    for run in before:
        _, there = expand_ranges(*run.ranges(since, to))
        if len(there):
            found = run.take(there)
            instants = found.rows.column(layout.order)
            yield found.zset.take(
                np.flatnonzero(passed(instants, now, at_once) & ~passed(instants, earlier, at_once))
            )


def earliest(
    layout: Layout, trace: Iterable[SortedRun], now: pa.Scalar | None, at_once: bool
) -> pa.Scalar | None:
    """The least instant that `now` doesn't pass; None: there is no such row."""
    assert layout.timeline and layout.order is not None
    code = np.zeros(1, np.uint64) if now is None else order_steps(pa.array([now], now.type))
    found = []
    for run in trace:
        # all rows of that code, and in each slot the first beyond it
        start, stop = run.ranges(_SLOTS | code, _SLOTS | code)
        there = np.unique(np.concatenate([expand_ranges(start, stop)[1], stop[stop < len(run)]]))
        instants = run.take(there).rows.column(layout.order)
        found.append(instants.filter(pa.array(~passed(instants, now, at_once))))
    least = pc.min(pa.chunked_array(found)) if found else None
    return least if least is not None and least.is_valid else None

"""Sessions: the rows of a partition whose intervals overlap, or touch, belong together.

Rows have intervals [start, end], in order of start. A row opens a session iff it is the first of its
partition or its start is greater than every end before it:

    opens(i) = start(i) > max { end(j) : j < i }
    session_start = start of the row that opens it          session_end = the greatest end in it

Source: Spark's session_window, whose windows are half-open, but merge where one ends when the next starts.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from circuits.arrow import fixed_values, int64_array
from circuits.windows.calls import WindowFunction
from circuits.windows.partitions import Partitions


def session_start(call: WindowFunction, rows: Partitions) -> pa.Array:
    """arguments: start and end."""
    opens, _ = _sessions(call, rows)
    first = np.maximum.accumulate(np.where(opens, np.arange(len(opens)), 0))
    return rows.column(call.arguments[0]).take(int64_array(first))


def session_end(call: WindowFunction, rows: Partitions) -> pa.Array:
    """arguments: start and end."""
    opens, furthest = _sessions(call, rows)
    number = np.cumsum(opens) - 1
    closes = np.append(opens[1:], True)[: len(opens)]
    return rows.column(call.arguments[1]).take(int64_array(furthest[closes][number]))


def _sessions(call: WindowFunction, rows: Partitions) -> tuple[np.ndarray, np.ndarray]:
    """(opens bool[n], furthest int64[n]: up to each row of its partition, the row with the greatest end)."""
    start, end = (fixed_values(rows.column(i)) for i in call.arguments)
    count = len(rows)
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[by_end] = np.arange(count)
    fresh = np.diff(rows.partition, prepend=-1) != 0
    # a partition's ranks are above all of those before it, so that one running maximum serves all
    above = (np.cumsum(fresh) - 1) * count
    furthest = by_end[np.maximum.accumulate(above + rank) - above]
    opens = fresh.copy()
    opens[1:] |= start[1:] > end[furthest[:-1]]
    return opens, furthest

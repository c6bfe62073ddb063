"""Aggregates that read all values of their frame, where frames are few or short.

    f OVER the whole partition = f(the partition's values), once a partition          O(n log n)
    f OVER ROWS BETWEEN a AND b = f(the values from a places on to b places on)       O(n (b − a) log n)

f: a `Finish`, as of GROUP BY: the frames are its groups. Other frames would cost O(n²), and are refused.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from circuits.aggregates.members import Finish, Members
from circuits.arrow import int64_array, validity
from circuits.trace import expand_ranges
from circuits.windows.calls import Frame, WindowFunction
from circuits.windows.frames import bounds
from circuits.windows.partitions import Partitions


def is_covered(frame: Frame) -> bool:
    """Whether frames are few or short."""
    return _is_whole(frame) or (frame.rows and isinstance(frame.lower, int) and isinstance(frame.upper, int))


def _is_whole(frame: Frame) -> bool:
    return frame.lower is None and frame.upper is None


def of_values(call: WindowFunction, rows: Partitions) -> pa.Array:
    """The value of `call.values` for each row."""
    assert call.values is not None
    if _is_whole(call.frame):
        opens = np.diff(rows.partition, prepend=-1) != 0
        owner = np.cumsum(opens) - 1
        made = _result(call, rows, owner, rows.position, int(opens.sum()))
        return made.take(int64_array(owner))
    start, stop = bounds(call.frame, rows)
    owner, places = expand_ranges(start, stop)
    return _result(call, rows, owner, places, len(rows))


def _result(
    call: WindowFunction, rows: Partitions, owner: np.ndarray, places: np.ndarray, count: int
) -> pa.Array:
    """The result for each of `count` frames. places: rows; owner: the frame that each lies in."""
    assert call.values is not None
    columns = [rows.column(i) for i in call.arguments]
    kept = np.ones(len(rows), dtype=np.bool_)
    if call.values.filtered:
        kept &= np.asarray(pc.fill_null(columns.pop(), False).to_numpy(zero_copy_only=False), dtype=np.bool_)
    for i in call.values.required:
        kept &= validity(columns[i])
    there = kept[places]
    at = int64_array(places[there])
    members = _members(call.values.finish, [column.take(at) for column in columns], owner[there], count)
    return call.values.finish.result(members, call.type)


def _members(finish: Finish, columns: list[pa.Array], owner: np.ndarray, count: int) -> Members:
    if finish.split is None:
        return Members(owner, columns, np.ones(len(owner), dtype=np.int64), count)
    at, index, amount = finish.split.split(columns)
    parts = [*map(pa.array, index), pa.array(amount)]
    return Members(owner[at], parts, np.ones(len(at), dtype=np.int64), count)

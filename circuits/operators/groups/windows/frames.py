"""Frames: for each row the stretch of its partition that a function sees.

    ROWS BETWEEN a AND b     the rows from a places on to b places on
    RANGE BETWEEN a AND b    the rows whose order value lies between the current one's plus a and plus b

NULL plus anything is NULL: a NULL's range are its peers. An edge of the current row in RANGE is its peers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.sorting import ranks
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.circuits.operators.groups.windows.partitions import Partitions, Runs


def bounds(frame: Frame, rows: Partitions) -> Runs:
    """(start, stop) int64[n] of each row's frame, start <= stop."""
    first, last = rows.whole
    if frame.rows:
        start, stop = _by_rows(frame, rows)
    else:
        start = _range_edge(frame.lower, rows, first, rows.peers[0], "left")
        stop = _range_edge(frame.upper, rows, last, rows.peers[1], "right")
    start = np.clip(start, first, last)
    return start, np.maximum(start, np.clip(stop, first, last))


def _by_rows(frame: Frame, rows: Partitions) -> Runs:
    first, last = rows.whole
    assert not isinstance(frame.lower, Expression) and not isinstance(frame.upper, Expression)
    start = first if frame.lower is None else rows.position + frame.lower
    stop = last if frame.upper is None else rows.position + (frame.upper + 1)
    return start, stop


def _range_edge(
    edge: int | Expression | None, rows: Partitions, unbounded: np.ndarray, peers: np.ndarray, side: str
) -> np.ndarray:
    if edge is None:
        return unbounded
    if isinstance(edge, int):
        assert edge == 0, f"a RANGE frame's edge at {edge} has no value"
        return peers
    return _search(edge, rows, side)


def _search(edge: Expression, rows: Partitions, side: str) -> np.ndarray:
    """Where in its partition each row's bound would be inserted: one sort of values and bounds together.

    Only rows that are there have a bound: one beyond its type is an error. Raises EvaluationError of a row's
    place.
    """
    (by,) = rows.order
    is_there = np.zeros(rows.distinct.num_rows, np.bool_)
    is_there[rows.row] = True
    there, number = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[rows.row]
    distinct = take(rows.distinct, there)
    value = distinct.column(by.column)
    try:
        bound = evaluate(edge, distinct)
    except EvaluationError as error:
        error.row = None if error.row is None else int(np.argmax(number == error.row))
        raise
    if value.type != bound.type:  # a decimal and a step more of it: as wide, or wider
        value = value.cast(bound.type)
    both = pa.concat_arrays([value, bound])
    places = ranks(both, by.descending, by.nulls_last)
    own, wanted = places[: len(value)][number], places[len(value) :][number]
    shift = rows.partition * (len(both) + 1)
    return np.asarray(np.searchsorted(shift + own, shift + wanted, "left" if side == "left" else "right"))

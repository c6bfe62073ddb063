"""Aggregate functions that Spark itself evaluates, over all values of a group.

    result[g] = E(the values of g, copies counted, in their order), by Spark's own code

A sketch follows from the order in which it meets its rows. Spark leaves that open, and here it never is: it
is that of the values. So a result follows from the bag alone, and is one of those that Spark may give.

State: the values.  Cost: all of a touched group's values, to a JVM, on each side of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.functions.spark.process import values
from dbsp.circuits.functions.spark.requests import given, rows_of_a_request, taken
from dbsp.circuits.operators.groups.state.members import Finalizer, Members


@dataclass(frozen=True)
class BySpark(Finalizer):
    """function: of the columns. once: each row once."""

    function: SparkExpression
    once: bool = False

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        if not members.count:
            return pa.array([], data_type)
        rows, last = _grouped(members, self.once)
        made = []
        for start, stop in _requests(last, rows_of_a_request(rows)):
            try:
                made.append(values(self.function.serialized, rows.slice(start, stop - start)))
            except EvaluationError as error:
                error.row = int(last[: start + (error.row or 0)].sum())  # the group's number
                raise
        return taken(made, data_type)


def _grouped(members: Members, once: bool) -> tuple[pa.RecordBatch, np.ndarray]:
    """(the columns by group, whether the row is there, whether it is its group's last; the last of these)

    A group without rows has one that isn't there.
    """
    listed = members.listed()
    copies = np.ones_like(listed.weights) if once else listed.weights
    sizes = np.zeros(members.count, np.int64)
    np.add.at(sizes, listed.owner, copies)
    places = np.repeat(np.arange(len(copies)), copies)
    ends = np.cumsum(np.maximum(sizes, 1))
    there = np.ones(int(ends[-1]), np.bool_)
    there[(ends - 1)[sizes == 0]] = False
    last = np.zeros(len(there), np.bool_)
    last[ends - 1] = True
    taken_from = np.full(len(there), -1, np.int64)
    taken_from[there] = places
    by = pa.array(taken_from, mask=~there) if len(places) < len(there) else int64_array(taken_from)
    columns = [column.take(by) for column in listed.columns]
    return given([*columns, pa.array(there), pa.array(last)]), last


def _requests(last: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Of whole groups: as many as `size` rows have, at least one."""
    ends, start = np.flatnonzero(last) + 1, 0
    while start < len(last):
        full = int(np.searchsorted(ends, start + size, side="right"))
        stop = int(ends[max(full - 1, int(np.searchsorted(ends, start, side="right")))])
        yield start, stop
        start = stop

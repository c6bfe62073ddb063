"""Aggregates written in Python: a function of all values of a group.

    result[g] = f(the values of g, copies counted, in their order)

NULLs are values; a group without values is NULL, and f isn't called.

State: the values.  Cost: a call a touched group and side of the step, of all of the group's values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.functions.python.function import PythonFunction, results_by_group
from dbsp.circuits.operators.groups.state.members import Finalizer, Members


@dataclass(frozen=True)
class Called(Finalizer):
    function: PythonFunction

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed()
        copies = int64_array(np.repeat(np.arange(len(listed.owner)), listed.weights))
        columns = [column.take(copies) for column in listed.columns]
        owner = np.repeat(listed.owner, listed.weights)
        there, starts = np.unique(owner, return_index=True)
        stops = np.append(starts, len(owner))[1:]

        def groups() -> Iterator[tuple[int, list[pa.Array]]]:
            for group, start, stop in zip(there.tolist(), starts.tolist(), stops.tolist(), strict=True):
                yield group, [column.slice(start, stop - start) for column in columns]

        made = results_by_group(self.function, groups(), data_type)
        position = np.full(listed.count, -1, dtype=np.int64)
        position[there] = np.arange(len(there))
        return made.take(pa.array(position, mask=position < 0))

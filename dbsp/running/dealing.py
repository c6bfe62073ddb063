"""A step's input, cut so that every task has as many rows as any other.

    rows of a task <= max(⌈rows / tasks⌉, those of its chunks)

A share of each table, dealt from the first task on, would give that task one of each. Chunks stay whole,
since tasks have cut them already; the largest is dealt first, to who has least (Graham, 1969). What
the driver holds then fills all tasks to one level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from dbsp.circuits.steps.task import Input

Share = dict[str, list[Input]]


def dealt(inputs: Mapping[str, Sequence[Input]], tasks: int) -> list[Share]:
    """Per task its parts of each table, in the order of their rows, which keep their places in the step."""
    shares: list[Share] = [{} for _ in range(tasks)]
    loads = [0] * tasks
    parts = [(table, part) for table, given in inputs.items() for part in given]
    whole = [(table, part) for table, part in parts if part.is_stored]
    for table, part in sorted(whole, key=lambda one: one[1].rows, reverse=True):
        task = loads.index(min(loads))
        shares[task].setdefault(table, []).append(part)
        loads[task] += part.rows
    held = [
        (table, part.ordinal, part.batch) for table, part in parts if isinstance(part.batch, pa.RecordBatch)
    ]
    level, task = _level(loads, sum(batch.num_rows for *_, batch in held)), 0
    for table, ordinal, batch in held:
        start, rows = 0, batch.num_rows
        while start < rows:
            while loads[task] >= level:
                task += 1
            count = min(level - loads[task], rows - start)
            piece = Input(ordinal + start, batch.slice(start, count))
            shares[task].setdefault(table, []).append(piece)
            loads[task] += count
            start += count
    for share in shares:
        for given in share.values():
            given.sort(key=lambda part: part.ordinal)
    return shares


def _level(loads: Sequence[int], rows: int) -> int:
    """The least level to which tasks can be filled so that these rows find room."""
    held = 0
    for count, load in enumerate(sorted(loads), 1):
        held += load
        level = -(-(held + rows) // count)
        if count == len(loads) or level <= sorted(loads)[count]:
            return level
    raise AssertionError("there are no tasks")

"""What a function of accumulators says that it reads is what it reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.operators.groups.aggregates.counts import Count
from dbsp.circuits.operators.groups.aggregates.extremes import Extreme
from dbsp.circuits.operators.groups.aggregates.function import Accumulated
from dbsp.circuits.operators.groups.aggregates.presence import Presence
from dbsp.circuits.operators.groups.aggregates.sums import Average, Sum, exact_sum
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Accumulator, Greatest, Least, NarrowSum, Values
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from tests.generators.columns.zsets import zset_of

VALUES = [3, None, -1, 3]
LONG = exact_sum(0, pa.int64())
FUNCTIONS: list[tuple[Accumulated, pa.DataType, object, object]] = [
    # the function, its type, its result over VALUES, and over nothing
    (Count(), pa.int64(), 4, 0),
    (Count(values=Values(0)), pa.int64(), 3, 0),
    (Presence(0, Values(0)), pa.bool_(), True, None),
    (Sum(0, Values(0), (NarrowSum(0),)), pa.int64(), 5, None),
    (Sum(0, Values(0), LONG), pa.int64(), 5, None),
    (Average(0, Values(0), (NarrowSum(0),)), pa.float64(), 5 / 3, None),
    (Average(0, Values(0), LONG), pa.float64(), 5 / 3, None),
    (Extreme(0, Values(0), (Least(0),)), pa.int64(), -1, None),
    (Extreme(0, Values(0), (Greatest(0),)), pa.int64(), 3, None),
]


def sides_of(accumulators: tuple[Accumulator, ...], values: list[int | None]) -> Sides:
    """The global group."""
    schema = pa.schema([("x", pa.int64())])
    combine = Combine(0, accumulators or (Values(0),))
    rows = combine.step(Context(0, 1, None, True), zset_of(schema, [((value,), 1) for value in values]))
    kinds = [(i, type(a)) for i, a in enumerate(combine.accumulators)]
    layout = Layout(
        combine.schema(schema),
        (),
        sums=tuple(i for i, kind in kinds if kind not in (Least, Greatest)),
        minima=tuple(i for i, kind in kinds if kind is Least),
        maxima=tuple(i for i, kind in kinds if kind is Greatest),
    )
    integral = Integral(layout, as_runs(Batch.build(layout, rows, 0)), Batch.empty(layout))
    return Sides(Groups([], 1, 0), (combine.accumulators,), [integral])


@pytest.mark.parametrize(("function", "data_type", "expected", "nothing"), FUNCTIONS)
def test_of_the_accumulators_that_it_names(
    function: Accumulated, data_type: pa.DataType, expected: object, nothing: object
) -> None:
    there = np.ones(2, np.bool_)
    for values, result in ((VALUES, expected), ([], nothing)):
        sides = sides_of(function.accumulators, values)
        assert function.finalize(sides, there, data_type).to_pylist() == [result] * 2

"""Aggregate functions that read their group's rows, or parts of them: which function each is.

var_pop, corr, …        exact moments                      (linear: parts add up)
bit_and, bit_or, …      counts of bits                     (linear)
bitmap_or_agg, …        counts of bits                     (linear)
approx_count_distinct   counts of registers and ranks      (linear)
count_min_sketch        counts of cells                    (linear)
percentile, mode        all values, where they aren't in order (`sql/lowering/aggregate.py`)
collect_list, listagg,
a function in Python,
or of Spark's alone     all values of the touched groups
"""

from __future__ import annotations

from collections.abc import Callable

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.by_spark import BySpark
from dbsp.circuits.operators.groups.aggregates.called import Called
from dbsp.circuits.operators.groups.aggregates.collected import Best, Collect, Join, Mode, Some
from dbsp.circuits.operators.groups.aggregates.hyperloglog import ApproximateCount
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.sketches.bitmaps import Bitmap
from dbsp.circuits.operators.groups.aggregates.sketches.count_min import CountMinSketch
from dbsp.circuits.operators.groups.aggregates.statistics import FUNCTIONS, Statistic
from dbsp.circuits.operators.groups.state.members import Finalizer
from dbsp.sql.plans.calls import AggregateCall


def finalizer_of(call: AggregateCall) -> Finalizer | None:
    """None: the function is made of accumulators, or of ordered values."""
    if call.function in FUNCTIONS:
        return Statistic(call.function)
    if call.function in ("bit_and", "bit_or", "bit_xor"):
        return Bitwise(call.function)
    if call.function in PERCENTILES:
        return _percentile(call)
    return _MADE[call.function](call) if call.function in _MADE else None


def required(call: AggregateCall) -> tuple[int, ...]:
    """The arguments without whose value a row takes no part."""
    if call.function in ("any_value", "python_aggregate", "spark_aggregate") or call.option("nulls"):
        return ()
    # what a list is ordered by may be NULL, and so may the values of the greatest
    alone = ("collect_list", "listagg", "max_by_k", "min_by_k")
    return (0,) if call.function in alone else tuple(range(len(call.arguments)))


PERCENTILES = {"percentile": "continuous", "percentile_disc": "discrete", "approx_percentile": "approximate"}


def _percentile(call: AggregateCall) -> Percentile:
    percentages, accuracy = call.option("percentages"), call.option("accuracy", 10000)
    assert isinstance(percentages, tuple) and isinstance(accuracy, int)
    return Percentile(
        PERCENTILES[call.function],
        percentages,
        many=bool(call.option("many")),
        descending=bool(call.option("descending")),
        frequencies=len(call.arguments) > 1,
        accuracy=accuracy,
    )


def _count_min(call: AggregateCall) -> CountMinSketch:
    error, confidence, seed = (call.option(name) for name in ("relative_error", "confidence", "seed"))
    assert isinstance(error, float) and isinstance(confidence, float) and isinstance(seed, int)
    return CountMinSketch(error, confidence, seed)


def _join(call: AggregateCall) -> Join:
    delimiter = call.option("delimiter")
    assert isinstance(delimiter, str | bytes)
    return Join(delimiter, _order(call), once=call.distinct)


def _order(call: AggregateCall) -> tuple[SortKey, ...]:
    order = call.option("order", ())
    assert isinstance(order, tuple)
    return tuple(SortKey(*key) for key in order)


def _best(call: AggregateCall) -> Best:
    size = call.option("size")
    assert isinstance(size, int)
    return Best(size, greatest=call.function == "max_by_k")


def _called(call: AggregateCall) -> Called:
    function = call.option("function")
    assert isinstance(function, PythonFunction)
    return Called(function)


def _by_spark(call: AggregateCall) -> BySpark:
    function = call.option("expression")
    assert isinstance(function, SparkExpression)
    return BySpark(function, once=call.distinct)


_MADE: dict[str, Callable[[AggregateCall], Finalizer]] = {
    "approx_count_distinct": lambda call: ApproximateCount(),
    "collect_list": lambda call: Collect(_order(call), once=call.distinct),
    "collect_set": lambda call: Collect(once=True),
    "listagg": _join,
    "bitmap_construct_agg": lambda call: Bitmap("construct"),
    "bitmap_or_agg": lambda call: Bitmap("or"),
    "bitmap_and_agg": lambda call: Bitmap("and"),
    "count_min_sketch": _count_min,
    "max_by_k": _best,
    "min_by_k": _best,
    "mode": lambda call: Mode(greatest=bool(call.option("greatest"))),
    "any_value": lambda call: Some(),
    "python_aggregate": _called,
    "spark_aggregate": _by_spark,
}

"""Aggregate functions that read their group's rows, or parts of them: which function each is.

var_pop, corr, …        exact moments                      (linear: parts add up)
bit_and, bit_or, …      counts of bits                     (linear)
approx_count_distinct   counts of registers and ranks      (linear)
percentile, mode,
collect_list, listagg,
a function in Python    all values of the touched groups
"""

from __future__ import annotations

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.called import Called
from dbsp.circuits.operators.groups.aggregates.collected import Collect, Join, Mode, Some
from dbsp.circuits.operators.groups.aggregates.hyperloglog import ApproximateCount
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.statistics import FUNCTIONS, Statistic
from dbsp.circuits.operators.groups.state.members import Finalizer
from dbsp.sql.plans.calls import AggregateCall


def finalizer_of(call: AggregateCall) -> Finalizer | None:
    """None: the function is made of accumulators, or of ordered values."""
    if call.function in FUNCTIONS:
        return Statistic(call.function)
    if call.function in ("bit_and", "bit_or", "bit_xor"):
        return Bitwise(call.function)
    if call.function in _PERCENTILES:
        return _percentile(call)
    match call.function:
        case "approx_count_distinct":
            return ApproximateCount()
        case "collect_list":
            return Collect(once=call.distinct)
        case "collect_set":
            return Collect(once=True)
        case "listagg":
            return _join(call)
        case "mode":
            return Mode(greatest=bool(call.option("greatest")))
        case "any_value":
            return Some()
        case "python_aggregate":
            function = call.option("function")
            assert isinstance(function, PythonFunction)
            return Called(function)
    return None


def required(call: AggregateCall) -> tuple[int, ...]:
    """The arguments without whose value a row takes no part."""
    if call.function in ("any_value", "python_aggregate") or call.option("nulls"):
        return ()
    # what a list is ordered by may be NULL
    return (0,) if call.function == "listagg" else tuple(range(len(call.arguments)))


_PERCENTILES = {"percentile": "continuous", "percentile_disc": "discrete", "approx_percentile": "approximate"}


def _percentile(call: AggregateCall) -> Percentile:
    percentages, accuracy = call.option("percentages"), call.option("accuracy", 10000)
    assert isinstance(percentages, tuple) and isinstance(accuracy, int)
    return Percentile(
        _PERCENTILES[call.function],
        percentages,
        many=bool(call.option("many")),
        descending=bool(call.option("descending")),
        frequencies=len(call.arguments) > 1,
        accuracy=accuracy,
    )


def _join(call: AggregateCall) -> Join:
    delimiter, order = call.option("delimiter"), call.option("order", ())
    assert isinstance(delimiter, str | bytes) and isinstance(order, tuple)
    return Join(delimiter, tuple(SortKey(*key) for key in order), once=call.distinct)

"""Which function of all its values an aggregate is, and which arguments a row can't do without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.functions.python.function import PythonFunction, Text
from dbsp.circuits.operators.groups.state.members import Members
from dbsp.sql.plans.aggregate_functions import finalizer_of, required
from dbsp.sql.plans.calls import AggregateCall
from tests.sql.hand_made import INT, column

VALUES = [3, 1, 3, 2, 3]
LIST, DOUBLE = pa.list_(INT), pa.float64()
SUM = Text("return sum(x)", ("x",), None, "p.sql", 1)


def aggregate(name: str, data_type: pa.DataType, arguments: int = 1, **options: object) -> AggregateCall:
    distinct = bool(options.pop("distinct", False))
    columns = tuple(map(column, range(arguments)))
    return AggregateCall(name, columns, data_type, True, None, distinct, tuple(sorted(options.items())))


def result(called: AggregateCall, *columns: list[Any]) -> Any:
    """Of one group, which has these values."""
    finalizer = finalizer_of(called)
    assert finalizer is not None
    count = len(columns[0])
    owner, weights = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    (found,) = finalizer.finalize(
        Members(owner, [pa.array(c) for c in columns], weights, 1), called.type
    ).to_pylist()
    return found


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (aggregate("collect_list", LIST), [1, 2, 3, 3, 3]),
        (aggregate("collect_list", LIST, distinct=True), [1, 2, 3]),
        (aggregate("collect_set", LIST), [1, 2, 3]),
        (aggregate("mode", INT), 3),
        (aggregate("any_value", INT), 1),
        (aggregate("percentile", DOUBLE, percentages=(0.25,)), 2.0),
        (aggregate("percentile", pa.list_(DOUBLE), percentages=(0.0, 0.375), many=True), [1.0, 2.5]),
        (aggregate("percentile_disc", INT, percentages=(0.4,)), 2),
        (aggregate("percentile_disc", INT, percentages=(0.2,), descending=True), 3),
        (aggregate("approx_percentile", INT, percentages=(0.4,), accuracy=100), 2),
        (
            aggregate(
                "python_aggregate", INT, function=PythonFunction("s", "values", True, "an identity", SUM)
            ),
            12,
        ),
    ],
    ids=lambda one: one.function if isinstance(one, AggregateCall) else "",
)
def test_functions_of_all_values(called: AggregateCall, expected: Any) -> None:
    found = result(called, VALUES)
    assert (sorted(found) if called.function.startswith("collect") else found) == expected


def test_a_mode_of_several_is_the_least_unless_asked_for_the_greatest() -> None:
    assert result(aggregate("mode", INT), [2, 1]) == 1
    assert result(aggregate("mode", INT, greatest=True), [2, 1]) == 2


def test_values_can_count_several_times() -> None:
    called = aggregate("percentile", DOUBLE, arguments=2, percentages=(0.5,))
    assert result(called, [1, 9], [1, 5]) == 9.0


def test_a_list_in_its_own_order() -> None:
    order = ((1, True, False),)
    called = aggregate("listagg", pa.string(), arguments=2, delimiter="; ", order=order)
    assert result(called, ["a", "b", "a", "c"], [1, 3, 1, 2]) == "b; c; a; a"
    once = aggregate("listagg", pa.string(), arguments=2, delimiter="; ", order=order, distinct=True)
    assert result(once, ["a", "b", "a", "c"], [1, 3, 1, 2]) == "b; c; a"


@pytest.mark.parametrize("function", ["count", "sum", "avg", "min", "max", "max_by", "bool_and"])
def test_accumulators_and_ordered_values_are_made_elsewhere(function: str) -> None:
    assert finalizer_of(aggregate(function, INT)) is None


def test_linear_functions_have_parts() -> None:
    for function in ("var_pop", "corr", "regr_r2", "bit_and", "bit_xor", "approx_count_distinct"):
        finalizer = finalizer_of(aggregate(function, DOUBLE))
        assert finalizer is not None and finalizer.split is not None, function
    lists = finalizer_of(aggregate("collect_list", LIST))
    assert lists is not None and lists.split is None


def test_rows_without_a_required_value_take_no_part() -> None:
    assert required(aggregate("corr", DOUBLE, arguments=2)) == (0, 1)
    assert required(aggregate("listagg", pa.string(), arguments=3)) == (0,)
    assert required(aggregate("any_value", INT)) == ()
    assert required(aggregate("python_aggregate", INT)) == ()
    assert required(aggregate("collect_list", LIST, nulls=True)) == ()

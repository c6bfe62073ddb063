"""ARRAY_SORT: the natural order, any comparator's, and what the JVM makes of one that contradicts itself."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.functions.collections.array_sort import _insertion_sorted, is_by_value
from dbsp.circuits.functions.evaluate import evaluate

INT, INTS = pa.int32(), pa.list_(pa.int32())
A, B = Variable(0, INT), Variable(1, INT)


BOOL = pa.bool_()


def call(name: str, *arguments: Expression, data_type: pa.DataType = BOOL) -> Call:
    return Call(name, arguments, data_type, True, (("evalMode", "ANSI"),))


def when(condition: Expression, then: Expression, otherwise: Expression) -> Call:
    return call("if", condition, then, otherwise, data_type=INT)


LESS, SAME, MORE = (Literal(n, INT) for n in (-1, 0, 1))
VALUES = when(call("less_than", A, B), LESS, when(call("greater_than", A, B), MORE, SAME))
IS_NULL = [call("is_null", each) for each in (A, B)]
# what Spark writes where the user gives no comparator
NATURAL = when(call("and", *IS_NULL), SAME, when(IS_NULL[0], MORE, when(IS_NULL[1], LESS, VALUES)))


def array_sort(listed: list[Any], comparator: Expression) -> list[Any]:
    function = call("lambda_function", comparator, A, B, data_type=INT)
    rows = pa.RecordBatch.from_arrays([pa.array(listed, INTS)], names=["a"])
    found: list[Any] = evaluate(
        call("array_sort", Column(0, INTS), function, data_type=INTS), rows
    ).to_pylist()
    return found


element = st.one_of(st.none(), st.integers(-3, 3))
arrays = st.lists(st.one_of(st.none(), st.lists(element, max_size=6)), max_size=4)
known = st.lists(st.one_of(st.none(), st.lists(st.integers(-3, 3), max_size=6)), max_size=4)


@given(arrays)
def test_the_natural_order_has_nulls_last(listed: list[Any]) -> None:
    expected = [a and sorted(a, key=lambda x: (x is None, x or 0)) for a in listed]
    assert array_sort(listed, NATURAL) == expected


@given(known)
def test_without_nulls_they_need_not_be_compared(listed: list[Any]) -> None:
    assert array_sort(listed, VALUES) == [a and sorted(a) for a in listed]


SQUARES = call("subtract", *(call("multiply", x, x, data_type=INT) for x in (B, A)), data_type=INT)


def test_which_comparators_are_the_order_of_values() -> None:
    backwards = when(call("less_than", B, A), LESS, when(call("greater_than", B, A), MORE, SAME))
    for comparator, by_value in ((NATURAL, True), (VALUES, True), (backwards, False), (SAME, False)):
        assert is_by_value(call("lambda_function", comparator, A, B, data_type=INT)) == by_value


@given(known)
def test_a_comparator_of_the_user_s_is_stable(listed: list[Any]) -> None:
    expected = [a and sorted(a, key=lambda x: -x * x) for a in listed]
    assert array_sort(listed, SQUARES) == expected


def test_a_comparator_that_is_null() -> None:
    minus = call("subtract", A, B, data_type=INT)
    with pytest.raises(EvaluationError, match="COMPARATOR_RETURNS_NULL"):
        array_sort([[1], [1, None]], minus)
    assert array_sort([None, []], minus) == [None, []]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_insertion_sorts_what_has_an_order(values: list[int]) -> None:
    order = [[(a > b) - (a < b) for b in values] for a in values]
    found = _insertion_sorted(pa.array(order).flatten().to_numpy().reshape(len(values), -1))
    assert found == sorted(range(len(values)), key=lambda i: values[i])


def test_contradictions_are_the_jvm_s() -> None:
    """Everything is greater: Java 17's List.of(1, 2, 3).sort((a, b) -> 1) is [1, 2, 3]; less: reversed."""
    assert array_sort([[1, 2, 3], [2, 1]], MORE) == [[1, 2, 3], [2, 1]]
    assert array_sort([[1, 2, 3], [2, 1]], LESS) == [[3, 2, 1], [1, 2]]
    assert sorted([1, 2, 3], key=cmp_to_key(lambda a, b: 1)) == [1, 2, 3]

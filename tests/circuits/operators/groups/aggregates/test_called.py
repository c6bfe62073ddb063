"""Aggregates in Python are called with the values that a group has left, in order, copies counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.python.function import PythonFunction, Text
from dbsp.circuits.operators.groups.aggregates.called import Called
from dbsp.circuits.operators.groups.state.members import Members
from tests.circuits.operators.groups.aggregates.test_collected import Rows, by_group, found, groups, members


def called(body: str, *parameters: str) -> Called:
    text = Text(body, parameters or ("x",), None, "program.sql", 1)
    return Called(PythonFunction("f", "values", True, body, text))


@given(groups, groups)
def test_it_sees_the_values_that_are_left(rows: Rows, gone: Rows) -> None:
    shown = found(called("return ','.join(map(str, x))"), members(rows, gone, 1), pa.string())
    expected = [",".join(map(str, values)) if values else None for values in by_group(rows, 1)]
    assert shown == expected


@given(groups, groups)
def test_several_arguments_are_of_one_row_each(rows: Rows, gone: Rows) -> None:
    body = "return sum(n * len(t) for n, t in zip(x, y, strict=True))"
    found_ = found(called(body, "x", "y"), members(rows, gone, 1, 2), pa.int64())
    expected = [[n * len(t) for group, n, t in rows if group == g] for g in range(3)]
    assert found_ == [sum(each) if each else None for each in expected]


def test_null_is_a_value_and_nothing_is_no_call() -> None:
    given_ = Members(np.array([1]), [pa.array([None], pa.int64())], np.array([2]), 3)
    assert found(called("return len(x)"), given_, pa.int64()) == [None, 2, None]
    nothing = Members(np.array([0, 0]), [pa.array([1, 1])], np.array([1, -1]), 3)
    assert found(called("raise ValueError('asked')"), nothing, pa.int64()) == [None, None, None]


def test_its_error_names_the_group() -> None:
    given_ = Members(np.array([0, 2]), [pa.array([1, 0])], np.array([1, 1]), 3)
    with pytest.raises(
        EvaluationError, match=r"function 'f': ZeroDivisionError.*\(program.sql:1\)"
    ) as raised:
        called("return 2 // x[0]").finalize(given_, pa.int64())
    assert raised.value.row == 2

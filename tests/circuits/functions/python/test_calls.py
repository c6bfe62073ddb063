"""A call of a program's own function is an expression like any other: constants are given for every row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.python.function import PythonFunction, Text
from tests.circuits.functions.calling import called

INT = pa.int64()


def function(body: str, style: str = "values") -> PythonFunction:
    return PythonFunction("g", style, False, body, Text(body, ("x", "y"), None, "program.sql", 1))


SEEN = function("return f'{x}{y}'")


def test_columns_and_constants() -> None:
    columns = pa.array([1, None]), pa.scalar("a")
    assert called("python_function", pa.string(), *columns, function=SEEN) == ["1a", "Nonea"], (
        "NULL is given as it is"
    )
    assert called("python_function", pa.string(), pa.scalar(1), pa.scalar(None, INT), function=SEEN) == [
        "1None"
    ]


def test_no_rows() -> None:
    assert called("python_function", pa.string(), pa.array([], INT), pa.scalar(1), function=SEEN) == []


def test_a_vectorised_one_is_given_columns_of_equal_length() -> None:
    added = function("assert len(x) == len(y)\nreturn x + y", "pandas")
    assert called("python_function", INT, pa.array([1, 2]), pa.scalar(10), function=added) == [11, 12]


def test_its_error_names_the_row() -> None:
    with pytest.raises(
        EvaluationError, match=r"where c0=0: \[PYTHON_FUNCTION_FAILED\] function 'g': ZeroDivisionError"
    ):
        called("python_function", INT, pa.array([1, 0]), pa.scalar(1), function=function("return y // x"))

"""An expression on some rows only: what fails elsewhere is never asked, what can't fail is asked at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.partial import can_fail, evaluate_where
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.functions.evaluate import evaluate, evaluate_value

INT = pa.int64()
A, B = Column(3, INT), Column(1, INT)
ANSI = (("evalMode", "ANSI"),)
QUOTIENT = Call("integral_divide", (A, B), INT, True, ANSI)


def rows_of(pairs: list[tuple[int | None, int | None]]) -> pa.RecordBatch:
    """b is column 1, a column 3, with others beside them."""
    a, b = (pa.array([pair[i] for pair in pairs], INT) for i in range(2))
    return pa.record_batch([a, b, b, a], names=["w", "b", "x", "a"])


number = st.one_of(st.none(), st.integers(-3, 3))


@given(st.lists(st.tuples(number, number), max_size=8))
def test_rows_outside_are_not_divided(pairs: list[tuple[int | None, int | None]]) -> None:
    mask = np.array([b != 0 for _, b in pairs], dtype=np.bool_)
    found = evaluate_where(QUOTIENT, rows_of(pairs), mask, evaluate_value)
    there = found.to_pylist() if isinstance(found, pa.Array) else [found.as_py()] * len(pairs)
    for (a, b), result, wanted in zip(pairs, there, mask, strict=True):
        if wanted:
            assert result == (None if a is None or b is None else int(a / b))


def test_a_row_inside_fails() -> None:
    rows = rows_of([(1, 0), (1, 1)])
    with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
        evaluate_where(QUOTIENT, rows, np.array([True, False]), evaluate_value)
    assert evaluate(QUOTIENT, rows.slice(1)).to_pylist() == [1]


def counting(asked: list[int]) -> object:
    def ask(expression: Expression, rows: pa.RecordBatch) -> Value:
        asked.append(rows.num_rows)
        return evaluate_value(expression, rows)

    return ask


def test_how_many_rows_are_asked() -> None:
    rows = rows_of([(1, 1), (2, 2), (3, 3)])
    some, none, every = (np.array(mask) for mask in ([True, False, True], [False] * 3, [True] * 3))
    for expression, expected in ((QUOTIENT, [2, 3]), (Call("is_null", (A,), pa.bool_(), False), [3, 3, 3])):
        asked: list[int] = []
        for mask in (some, none, every):
            evaluate_where(expression, rows, mask, counting(asked))  # type: ignore[arg-type]
        assert asked == expected


def test_a_constant_that_fails_has_rows_too() -> None:
    constant = Call("integral_divide", (Literal(6, INT), Literal(2, INT)), INT, True, ANSI)
    found = evaluate_where(constant, rows_of([(1, 1), (2, 2)]), np.array([False, True]), evaluate_value)
    assert (found if isinstance(found, pa.Scalar) else found[1]).as_py() == 3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (A, False),
        (Literal(1, INT), False),
        (Call("coalesce", (A, B), INT), False),
        (
            Call(
                "and", (Call("is_null", (A,), pa.bool_()), Call("equal_to", (A, B), pa.bool_())), pa.bool_()
            ),
            False,
        ),
        (QUOTIENT, True),
        (Call("coalesce", (A, QUOTIENT), INT), True),
        (Call("raise_error", (A,), INT), True),
        (Call("some_function_to_come", (), INT), True),
    ],
)
def test_what_may_raise(expression: Expression, expected: bool) -> None:
    assert can_fail(expression) == expected

"""AND, OR and NOT in three-valued logic, and the right operand only where the left one leaves it open."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from tests.circuits.functions.calling import called

BOOL, INT = pa.bool_(), pa.int64()
truth = st.sampled_from([True, False, None])


def kleene(function: str, a: bool | None, b: bool | None) -> bool | None:
    decides = function == "or"
    if decides in (a, b):
        return decides
    return None if None in (a, b) else not decides


@given(st.lists(st.tuples(truth, truth), max_size=6), st.sampled_from(["and", "or"]), truth)
def test_columns_and_constants(pairs: list[tuple[Any, Any]], function: str, constant: bool | None) -> None:
    a, b = (pa.array([pair[i] for pair in pairs], BOOL) for i in range(2))
    one = pa.scalar(constant, BOOL)
    assert called(function, BOOL, a, b) == [kleene(function, x, y) for x, y in pairs]
    if pairs:
        assert called(function, BOOL, a, one) == [kleene(function, x, constant) for x, _ in pairs]
        assert called(function, BOOL, one, a) == [kleene(function, constant, x) for x, _ in pairs]
    assert called("not", BOOL, a) == [None if x is None else not x for x, _ in pairs]


ZERO = Call("equal_to", (Column(0, INT), Literal(0, INT)), BOOL)
QUOTIENT = Call("integral_divide", (Literal(6, INT), Column(0, INT)), INT, True, (("evalMode", "ANSI"),))
LARGE = Call("greater_than", (QUOTIENT, Literal(2, INT)), BOOL)


def over(expression: Expression, *values: int | None) -> list[Any]:
    found: list[Any] = evaluate(expression, pa.record_batch([pa.array(values, INT)], names=["x"])).to_pylist()
    return found


def test_what_the_left_operand_decides_is_not_asked() -> None:
    """x = 0 OR 6 / x > 2, and x <> 0 AND 6 / x > 2"""
    either = Call("or", (ZERO, LARGE), BOOL)
    assert over(either, 0, 1, 6, None) == [True, True, False, None]
    both = Call("and", (Call("not", (ZERO,), BOOL), LARGE), BOOL)
    assert over(both, 0, 1, 6, None) == [False, True, False, None]


@pytest.mark.parametrize("function", ["and", "or"])
def test_what_it_leaves_open_is(function: str) -> None:
    undecided = Literal(function == "and", BOOL)
    with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
        over(Call(function, (undecided, LARGE), BOOL), 1, 0)
    with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
        over(Call(function, (Literal(None, BOOL), LARGE), BOOL), 1, 0)
    assert (
        over(Call(function, (Literal(function == "or", BOOL), LARGE), BOOL), 1, 0) == [function == "or"] * 2
    )

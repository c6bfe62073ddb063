"""What projections share. That it is enough is a law of `test_combine_expanded`."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.lowering.expanded import shared_parts

LONG = pa.int64()
A, B = Column(0, LONG), Column(1, LONG)
NULL, ONE = Literal(None, LONG), Literal(1, LONG)


def add(a: Expression, b: Expression) -> Call:
    return Call("add", (a, b), LONG)


@pytest.mark.parametrize(
    ("keys", "shared"),
    [
        pytest.param([A, A], (A,), id="a column"),
        pytest.param([add(A, ONE), add(A, ONE)], (add(A, ONE),), id="a call"),
        pytest.param([add(add(A, B), ONE), add(add(A, B), NULL)], (add(A, B),), id="part of a call"),
        pytest.param([add(A, ONE), add(ONE, A)], (A,), id="the columns of calls"),
        pytest.param([add(A, B), NULL], (add(A, B),), id="a call, or nothing"),
        pytest.param([A, B], None, id="other columns"),
        pytest.param([add(A, B), A], None, id="more columns"),
        pytest.param([ONE, NULL], None, id="constants"),
    ],
)
def test_of_one_key(keys: list[Expression], shared: tuple[Expression, ...] | None) -> None:
    found = shared_parts([(key,) for key in keys], (Column(0, LONG),), ())
    assert (found and found.shared) == shared


def test_arguments_must_be_alike() -> None:
    key, value = (Column(0, LONG),), (Column(1, LONG),)
    assert shared_parts([(A, B), (A, B)], key, value) is not None
    assert shared_parts([(A, B), (A, NULL)], key, value) is None

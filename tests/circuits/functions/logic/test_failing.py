"""RAISE_ERROR fails for the first row that reaches it; TRY_... gives NULL there and nowhere else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.library import find

INT, BOOL, NOTES = pa.int64(), pa.bool_(), pa.map_(pa.string(), pa.string())


def raising(**notes: str) -> Call:
    return Call(
        "raise_error",
        (Literal("USER_RAISED_EXCEPTION", pa.string()), Literal(list(notes.items()), NOTES)),
        INT,
    )


def over(expression: Expression, *values: int | None) -> list[Any]:
    found: list[Any] = evaluate(expression, pa.record_batch([pa.array(values, INT)], names=["x"])).to_pylist()
    return found


def test_an_error_of_the_user_s() -> None:
    with pytest.raises(EvaluationError, match=r"\[USER_RAISED_EXCEPTION\] no such thing"):
        over(raising(errorMessage="no such thing"), 1)
    with pytest.raises(EvaluationError, match=r"\[USER_RAISED_EXCEPTION\] a: 1, b: 2"):
        over(raising(a="1", b="2"), 1)
    assert over(raising(errorMessage="nobody asks")) == []


def test_only_where_it_is_reached() -> None:
    negative = Call("less_than", (Column(0, INT), Literal(0, INT)), BOOL)
    checked = Call("if", (negative, raising(errorMessage="negative"), Column(0, INT)), INT)
    assert over(checked, 1, None) == [1, None]
    with pytest.raises(EvaluationError, match="negative"):
        over(checked, 1, -1)


def tried(function: str, *arguments: Expression, to: pa.DataType = INT) -> Call:
    inner = Call(function, arguments, to, True, (("evalMode", "ANSI"),))
    return Call("try_eval", (inner,), to)


values = st.one_of(st.none(), st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]))


@given(st.lists(values, max_size=5), st.sampled_from(["add", "subtract"]))
def test_arithmetic_out_of_range_is_null(listed: list[int | None], function: str) -> None:
    found = over(tried(function, Column(0, INT), Literal(1, INT)), *listed)
    exact = [None if x is None else x + 1 if function == "add" else x - 1 for x in listed]
    assert found == [x if x is not None and -(2**63) <= x < 2**63 else None for x in exact]


def test_text_that_is_no_bytes() -> None:
    rows = pa.record_batch([pa.array(["00ff", "xyz", None])], names=["x"])
    assert evaluate(tried("unhex", Column(0, pa.string()), to=pa.binary()), rows).to_pylist() == [
        b"\x00\xff",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        (Call("divide", (Column(0, INT), Column(0, INT)), INT), "'divide'"),
        (Call("add", (Call("divide", (), INT), Column(0, INT)), INT), "'divide' inside"),
        (Call("unhex", (Call("upper", (Column(0, pa.string()),), pa.string()),), pa.binary()), None),
        (Column(0, INT), None),
    ],
)
def test_what_is_refused(inner: Expression, said: str | None) -> None:
    function = find("try_eval")
    assert function is not None
    assert function.refuse(Call("try_eval", (inner,), INT)) == said

"""A kernel over each value's rows is the kernel row by row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.by_value import by_value

CALL = Call("joined", (), pa.string())


def joined(call: Call, text: Value, chosen: Value) -> Value:
    mark = chosen.as_py()
    if mark == "constant":
        return pa.scalar("!", pa.string())
    texts = text.to_pylist()
    if mark == "fails" and None in texts:
        raise EvaluationError("FAILED", "a text is missing", texts.index(None))
    return pa.array([None if one is None else one + mark for one in texts], pa.string())


def refused(value: str) -> None:
    if value == "refused":
        raise EvaluationError("REFUSED", value, 0)


RUN = by_value(1, refused)(joined)
TEXTS = pa.array(["a", "b", None, "c", "d"])


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["x", "y", "x", None, "x"], ["ax", "by", None, None, "dx"]),
        (["x"] * 5, ["ax", "bx", None, "cx", "dx"]),
        ([None] * 5, [None] * 5),
        (["constant", "x", "x", "constant", None], ["!", "bx", None, "!", None]),
    ],
)
def test_row_by_row(chosen: list[str | None], expected: list[str | None]) -> None:
    found = RUN(CALL, TEXTS, pa.array(chosen, pa.string()))
    assert (pa.repeat(found, 5) if isinstance(found, pa.Scalar) else found).to_pylist() == expected
    assert RUN(CALL, TEXTS.slice(0, 0), pa.array([], pa.string())).to_pylist() == []


@pytest.mark.parametrize(
    ("chosen", "row"), [(["x", "x", "fails", "x", "x"], 2), (["x", "refused", "x", "x", None], 1)]
)
def test_an_error_names_its_row(chosen: list[str | None], row: int) -> None:
    with pytest.raises(EvaluationError) as raised:
        RUN(CALL, TEXTS, pa.array(chosen))
    assert raised.value.row == row

"""What never fails: columns, casts that widen, and calls of what can't."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.plans.expressions.safe import is_safe, widens
from tests.sql.hand_made import INT, call, column, literal

CASTS = (
    (pa.int32(), INT, True),
    (INT, pa.int32(), False),
    (pa.string(), INT, False),
    (INT, pa.float64(), True),
    (pa.float64(), pa.float32(), False),
    (pa.decimal128(10, 2), pa.decimal128(14, 6), True),
    (pa.decimal128(10, 2), pa.decimal128(13, 6), False),
    (pa.decimal128(10, 2), pa.decimal128(12, 1), False),
    (INT, pa.decimal128(20, 0), True),
    (pa.int32(), pa.decimal128(11, 2), False),
    (pa.int32(), pa.decimal128(12, 2), True),
)


@pytest.mark.parametrize(("source", "target", "safe"), CASTS)
def test_a_cast_that_widens_is_safe(source: pa.DataType, target: pa.DataType, safe: bool) -> None:
    cast = Call("cast", (Column(0, source),), target)
    assert widens(Column(0, source), cast) == safe
    assert is_safe(cast) == safe


def test_a_call_is_safe_where_nothing_in_it_fails() -> None:
    assert is_safe(column(0))
    assert is_safe(call("coalesce", column(0), literal(1)))
    assert not is_safe(call("add", column(0), literal(1)))
    assert not is_safe(call("coalesce", call("add", column(0), literal(1)), literal(1)))
    assert not is_safe(Call("cast", (call("add", column(0), literal(1)),), pa.float64()))

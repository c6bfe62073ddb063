"""Values of columns from texts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.rows.texts import value_of, values_of
from dbsp.sql.plans.schemas import Field

COLUMNS = (Field("n", pa.int64()), Field("Name", pa.string()), Field("d", pa.date32()))


def test_each_is_read_as_its_column_s_type() -> None:
    assert values_of(COLUMNS, [("n", "7"), ("name", "7"), ("d", "2024-01-31")]) == {
        "n": 7,
        "name": "7",
        "d": date(2024, 1, 31),
    }
    assert value_of("x", "1.50", pa.decimal128(10, 2)) == Decimal("1.50")
    assert value_of("x", "TRUE", pa.bool_()) is True
    assert values_of(COLUMNS, [("nobody", "7")]) == {"nobody": "7"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("n", "seven", "n=seven doesn't fit BIGINT"), ("d", "31.1.", "d=31.1. doesn't fit DATE")],
)
def test_what_is_no_value_is_refused_by_name(name: str, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        values_of(COLUMNS, [(name, text)])
    with pytest.raises(DataError, match="n= is there twice"):
        values_of(COLUMNS, [("n", "1"), ("n", "2")])

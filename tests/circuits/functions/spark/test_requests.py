"""What is sent to Spark and comes back is the same values, in pieces of a bounded size."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.functions.spark.requests import BYTES, ROWS, given, rows_of_a_request, taken


def test_months_go_as_integers_and_come_back() -> None:
    months = pa.array([1, None, -14], pa.int64()).view(MONTHS)
    sent = given([months, pa.array([1, 2, 3])])
    assert sent.schema.names == ["0", "1"]
    assert sent.column(0).type == pa.int32()
    assert taken([sent.column(0).slice(0, 1), sent.column(0).slice(1)], MONTHS).equals(months)


@pytest.mark.slow
def test_a_request_has_few_rows_and_few_bytes() -> None:
    narrow = given([pa.array(range(2 * ROWS))])
    assert rows_of_a_request(narrow) == ROWS
    wide = given([pa.repeat("x" * (BYTES // 4), 10)])
    assert rows_of_a_request(wide) == 3
    assert rows_of_a_request(given([pa.repeat("x" * (BYTES * 2), 2)])) == 1

"""Rows as the lines that LOAD DATA reads."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.targets.mariadb.rows import as_lines


def lines(**columns: pa.Array) -> bytes:
    return bytes(as_lines(pa.record_batch(columns)))


def test_null_and_what_ends_a_value_stand_after_a_backslash() -> None:
    texts = pa.array(["", None, "\\N", "a\tb\nc\r", "é"])
    assert lines(n=pa.array([1, None, 3, 4, 5]), s=texts).decode() == (
        "1\t\n\\N\t\\N\n3\t\\\\N\n4\ta\\tb\\nc\r\n5\té\n"
    )


def test_numbers_times_and_bytes() -> None:
    instants = pa.array([0, None], pa.timestamp("us", "Europe/Vienna"))
    found = lines(b=pa.array([True, False]), at=instants, d=pa.array([b"\x00\xff", b""]))
    assert found == b"1\t1970-01-01 00:00:00.000000\t00ff\n0\t\\N\t\n"


def test_of_a_slice_and_of_nothing() -> None:
    rows = pa.record_batch({"s": pa.array(["a", "b", "c"])})
    assert bytes(as_lines(rows.slice(1, 1))) == b"b\n"
    assert bytes(as_lines(rows.slice(0, 0))) == b""


def test_a_number_that_is_none_is_said() -> None:
    with pytest.raises(DataError, match="column 'x' has inf, and MariaDB no such number"):
        lines(x=pa.array([1.0, None, float("inf")]))

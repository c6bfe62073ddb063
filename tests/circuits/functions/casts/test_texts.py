"""CAST between strings and numbers, as Java reads and prints them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from tests.oracles.against_spark import AgainstSpark, identity

TEXTS = [
    "", " ", "0", "-0", "+0", "1", " 1 ", "\t1\n", "\x001\x7f", "+1", "-1", "--1", "+-1", "1 2", "1.", ".1",
    ".", "-.5", "+.5e3", "1.5", "-1.5", "127", "128", "-128", "-129", "32768", "2147483647", "2147483648",
    "-2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "00000000000000000000007", "1e5", "1E5", "1e+5", "1e-5",
    "-1.25E3", "e5", "1e", "1e1.5", "1e400", "-1e400", "1e-400", "1f", "1d", "1.5F", "2D", "1L", "0x10",
    "0x1p3", "NaN", "nan", "-nan", "+NaN", "Infinity", "-Infinity", "inf", "-inf", "+inf", "INFINITY",
    "infinit", "t", "T", "true", " TRUE ", "tru", "f", "false", "y", "yes", "YES", "n", "no", "on", "off",
    "99999999.99", "99999999.995", "-99999999.994", "123456789012345678901234567890.12345678",
    "0.000000000000000000000000000000000001", "1_000", "1,000", "$1", "é", "1é", "日本", "3.4028235e38",
    "3.5e38", "0.1", "0.30000000000000004", "1.7976931348623157e308", "4.9e-324", "2.675", "1.005",
    "123456789123456789", "12345678912345678.9", "99999999999999999999999999999999999999",
    "100000000000000000000000000000000000000", "1e38", "1e37", "1E-38", "1e2147483648", "0e99999", "0.0e-50",
    "\u00a01", "1\u2003", "-", "+", "\x1f5\x1f", "5\u0085",
]  # fmt: skip


@pytest.fixture(scope="module")
def against(spark: Any) -> AgainstSpark:
    return AgainstSpark(spark, pa.record_batch({"s": pa.array([*TEXTS, None])}))


@pytest.mark.spark
def test_reading(against: AgainstSpark) -> None:
    kinds = [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(10,2)",
        "DECIMAL(38,10)",
        "DECIMAL(38,0)",
        "BINARY",
    ]
    against.check([f"try_cast(s AS {kind})" for kind in kinds] + ["CAST(CAST(s AS BINARY) AS STRING)"])


@pytest.mark.spark
def test_unreadable(spark: Any) -> None:
    texts = {"x": "x", "dots": "1.5.5", "half": "1.5", "byte": "128", "huge": "1e38", "long": "99999999999"}
    against = AgainstSpark(spark, pa.record_batch({name: pa.array([text]) for name, text in texts.items()}))
    against.check_fails([f"CAST(x AS {kind})" for kind in ("BOOLEAN", "INT", "DOUBLE", "DECIMAL(10,2)")])
    against.check_fails(
        ["CAST(dots AS FLOAT)", "CAST(half AS BIGINT)", "CAST(byte AS TINYINT)", "CAST(long AS INT)"]
    )
    against.check_fails(
        ["CAST(huge AS DECIMAL(38,0))", "CAST(long AS DECIMAL(10,2))", "CAST(dots AS DECIMAL(9,0))"]
    )


@pytest.mark.spark
def test_plain_columns(spark: Any) -> None:
    """All readable at once: what is parsed by the column."""
    rows = pa.record_batch({"i": pa.array(["1", "-20", None]), "d": pa.array(["1.5", "1e3", "-7"])})
    AgainstSpark(spark, rows).check(
        ["CAST(i AS BIGINT)", "CAST(d AS DOUBLE)", "CAST(d AS FLOAT)", "CAST(i AS DECIMAL(5,1))"]
    )


def _tried(texts: list[str], data_type: pa.DataType) -> list[Any]:
    """Times as numbers: Python's end with the year 9999, and begin with 1."""
    call = Call(
        "cast", (Column(0, pa.string()),), data_type, options=(("evalMode", "TRY"), ("timeZoneId", "UTC"))
    )
    read = evaluate(call, pa.record_batch({"s": pa.array(texts)}))
    if pa.types.is_temporal(data_type):
        read = read.view(pa.int32() if pa.types.is_date(data_type) else pa.int64())
    return [identity(value) for value in read.to_pylist()]


@given(
    st.sampled_from(["0123456789+-.eE", "019-:. T", "2-:0", "1.e-"]).flatmap(
        lambda a: st.text(a, max_size=27)
    ),
    st.sampled_from(
        [pa.int64(), pa.float64(), pa.decimal128(12, 3), pa.date32(), pa.timestamp("us", tz="UTC")]
    ),
)
def test_what_arrow_reads_means_the_same(text: str, data_type: pa.DataType) -> None:
    """A column that isn't plain is parsed exactly; alone, the same text may go to Arrow."""
    assert _tried([text], data_type) == _tried([text, "~"], data_type)[:1]


@given(st.datetimes(min_value=datetime(1, 1, 1)), st.sampled_from([" ", "T"]), st.sampled_from(["", "Z"]))
def test_plain_times_mean_the_same(time: datetime, separator: str, zone: str) -> None:
    text, kind = time.isoformat(separator) + zone, pa.timestamp("us", tz="UTC")
    read = _tried([text, "~"], kind)
    micros = (time - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert read == [identity(micros), identity(None)]
    assert _tried([text], kind) == read[:1]

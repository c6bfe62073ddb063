"""Datetime patterns format and parse as Spark's do; those not covered are refused by name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.library import find
from tests.generators.columns.moments import moment_rows
from tests.oracles.against_spark import AgainstSpark

FORMATS = [
    "date_format(ts,'yyyy-MM-dd')",
    "date_format(ts,'yyyy-MM-dd HH:mm:ss.SSSSSS')",
    "date_format(ts,'y yy yyy yyyyy')",
    "date_format(ts,'M MM MMM MMMM L LLL d dd D DDD E EEEE')",
    """date_format(ts,"h hh a H k K m s S SS SSS SSSS SSSSSSS 'o''clock' Q qq F")""",
    """date_format(ts,"X XX XXX x xx xxx Z")""",
    """date_format(ts,"[yyyy]!")""",
    """date_format(ts,"")""",
    """date_format(ts,"'x'")""",
    "date_format(d,'yyyy/MM')",
    "date_format(n,'HH:mm')",
    "from_unixtime(l)",
    "from_unixtime(l,'HH:mm')",
    "unix_timestamp(ts)",
    "unix_timestamp(d)",
    "unix_timestamp(n)",
    "unix_timestamp(date_format(n,'yyyy-MM-dd HH:mm:ss'))",
    "to_timestamp(date_format(ts,'yyyy-MM-dd HH:mm:ss.SSSSSS'),'yyyy-MM-dd HH:mm:ss.SSSSSS')",
    "to_timestamp(date_format(ts2,'d MMMM yyyy hh:mm a'),'d MMMM yyyy hh:mm a')",
    "to_timestamp(date_format(ts2,'dMMMyy-K a'),'dMMMyy-K a')",
    "to_timestamp_ntz(date_format(n,'yyyyMMddHHmmss'),'yyyyMMddHHmmss')",
    "to_date(date_format(n,'yyyyMMdd'),'yyyyMMdd')",
    "to_unix_timestamp(date_format(n,'dd/MM/yy'),'dd/MM/yy')",
]

PARSES = [
    "try_to_timestamp(s,'yyyy-MM-dd')",
    "try_to_timestamp(s,'yyyy-MM-dd HH:mm:ss')",
    "try_to_timestamp(s,'yyyy-M-d H:m:s.SSS')",
    "try_to_timestamp(s,'MMM d yyyy')",
    "try_to_timestamp(s,'dd MMMM y')",
    "try_to_timestamp(s,'hh:mm a')",
    "try_to_timestamp(s,'h:mm')",
    "try_to_timestamp(s,'yyyyMMdd')",
    "try_to_timestamp(s,'yy/MM/dd')",
    """try_to_timestamp(s,"yyyy-MM-dd'T'HH:mm")""",
    "try_to_timestamp(s,'MM')",
    "try_to_timestamp(s,'kk:mm')",
]

TEXTS = [
    "2024-01-02", "2024-1-2", "2024-02-30", "2023-02-29", "2024-02-29", "12024-01-01", "+12024-01-01",
    "-0005-01-01", "-5-01-01", "0000-01-01", "2024-01-02 ", " 2024-01-02", "2024-01-02 03:04:05",
    "2024-01-02 3:4:5.12", "2024-01-02 3:4:5.1234", "2024-01-02 3:4:5.", "2024-01-02 24:00:00",
    "2024-01-02 23:60:00", "Jan 5 2024", "JAN 05 2024", "January 5 2024", "05 January 2024", "5 May 2024",
    "05 may 2024", "05 MAY -24", "12:30 AM", "12:30 pm", "00:30 AM", "13:30 PM", "7:05", "07:05", "20240305",
    "120240305", "2024030", "24/01/02", "2024-01-02T10:11", "2024-01-02t10:11", "11", "1", "13", "0", "24:15",
    "00:15", "", "abc", None, "é2024", "٢٠٢٤-٠١-٠١", "2024-13-01", "9999-12-31", "2024-00-01", "2024-01-32",
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York"])
def test_formats(spark: Any, time_zone: str) -> None:
    AgainstSpark(spark, moment_rows(), time_zone).check(FORMATS)


@pytest.mark.spark
def test_parsing(spark: Any) -> None:
    against = AgainstSpark(spark, pa.RecordBatch.from_pydict({"s": TEXTS}))
    against.check(PARSES)
    against.check_fails(["to_timestamp(s, 'yyyy-MM-dd')", "unix_timestamp(s, 'HH:mm')"])


@pytest.mark.parametrize(
    ("function", "pattern", "reason"),
    [
        ("date_format_class", "yyyyyyy", "'yyyyyyy' in the datetime pattern"),
        ("date_format_class", "YYYY", "'YYYY' in the datetime pattern"),
        ("date_format_class", "HH 'o", "the unterminated quote"),
        ("date_format_class", "zzz", "'zzz' in the datetime pattern"),
        ("get_timestamp", "E yyyy", "parsing 'E' of the datetime pattern"),
        ("get_timestamp", "yyyy[-MM]", "an optional section"),
        ("get_timestamp", "HH a", "parsing the datetime pattern 'HH a', which gives a field twice"),
    ],
)
def test_refused_patterns(function: str, pattern: str, reason: str) -> None:
    call = Call(function, (Column(0, pa.string()), Literal(pattern, pa.string())), pa.string())
    assert (find(function).refuse(call) or "").startswith(reason)  # type: ignore[union-attr]

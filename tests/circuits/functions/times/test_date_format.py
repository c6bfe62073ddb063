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
    """date_format(ts,"[yyyy]! '[x]'")""",
    "date_format(ts,'G GG GGG GGGG y yy yyyy')",
    "date_format(ts,'QQQ QQQQ qqq qqqq O OOOO VV')",
    "date_format(ts,if(hour(ts) > 11,'yyyy-MM-dd',if(hour(ts) > 3,'HH:mm [ss]',NULL)))",
    "date_format(TIMESTAMP'2024-05-06 07:08:09',if(hour(ts) > 11,'yyyy','HH'))",
    "from_unixtime(l,if(l > 0,'HH:mm','yyyy'))",
    "unix_timestamp(date_format(n,'yyyy-MM-dd'),if(hour(n) > 30,'yyyy','yyyy-MM-dd'))",
    "trunc(d,if(day(d) > 15,'MM',if(day(d) > 10,'week',if(day(d) > 5,'x',NULL))))",
    "date_trunc(if(day(d) > 15,'MONTH',if(day(d) > 10,'hour',if(day(d) > 5,'x',NULL))),ts)",
    "trunc(DATE'2024-05-06',if(day(d) > 15,'MM','YEAR'))",
    "next_day(d,if(day(d) > 15,'MON',if(day(d) > 5,'fr',NULL)))",
    "from_utc_timestamp(ts,if(day(d) > 15,'Europe/Berlin',if(day(d) > 5,'+02:00',NULL)))",
    "to_utc_timestamp(ts,if(day(d) > 15,'Europe/Berlin','Asia/Tokyo'))",
    "convert_timezone(if(day(d) > 15,'UTC','Asia/Tokyo'),if(day(d) > 10,'UTC','Europe/Berlin'),n)",
    "make_timestamp(2024,5,6,7,8,9,if(day(d) > 15,'Europe/Berlin','Asia/Tokyo'))",
    "to_timestamp(date_format(ts2,'yyyyDDD'),'yyyyDDD')",
    "to_timestamp(date_format(ts2,'yyyy D HH'),'yyyy D HH')",
    """to_timestamp(date_format(ts2,"yyyy-MM-dd'T'HH:mm:ssXXX"),"yyyy-MM-dd'T'HH:mm:ssXXX")""",
    """unix_timestamp(date_format(ts2,"yyyy-MM-dd HH:mm:ss xx"),"yyyy-MM-dd HH:mm:ss xx")""",
    """to_timestamp_ntz(date_format(ts2,"yyyy-MM-dd HH:mm:ss Z"),"yyyy-MM-dd HH:mm:ss Z")""",
    """to_date(date_format(ts2,"yyyy-MM-dd HH:mm:ssX"),"yyyy-MM-dd HH:mm:ssX")""",
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
    "try_to_timestamp(s,'yyyy[-MM[-dd]]')",
    "try_to_timestamp(s,'yyyy-MM-dd[ HH:mm[:ss][.SSS]]')",
    "try_to_timestamp(s,'yyyy-M-d[ H:m:s][.SSS]')",
    "try_to_timestamp(s,'yyyy[-MM]-dd')",
    "try_to_timestamp(s,'[:mm][:SSS]')",
    "try_to_timestamp(s,'HH:m[:ss')",
    "try_to_timestamp(s,'h:mm[ a]')",
    "try_to_timestamp(s,'yyyyMM[dd]')",
    "try_to_timestamp(s,'[HH:mm]')",
    "try_to_timestamp(s,'yyyy-D')",
    "try_to_timestamp(s,'yyyy-DD')",
    "try_to_timestamp(s,'yyyyDDD')",
    "try_to_timestamp(s,'yyyy-MM-dd[XXX]')",
    "try_to_timestamp(s,'yyyy-MM-dd XXX')",
    "try_to_timestamp(s,'yyyy-MM-dd X')",
    "try_to_timestamp(s,'yyyy-MM-dd xx')",
    "try_to_timestamp(s,'yyyy-MM-dd Z')",
    "try_to_timestamp(s,if(length(s) > 10,'yyyy-MM-dd HH:mm',if(length(s) > 4,'yyyy-M-d',NULL)))",
    "try_to_date(s,if(length(s) > 9,'yyyy-MM-dd','yyyy'))",
]

TEXTS = [
    "2024-01-02", "2024-1-2", "2024-02-30", "2023-02-29", "2024-02-29", "12024-01-01", "+12024-01-01",
    "-0005-01-01", "-5-01-01", "0000-01-01", "2024-01-02 ", " 2024-01-02", "2024-01-02 03:04:05",
    "2024-01-02 3:4:5.12", "2024-01-02 3:4:5.1234", "2024-01-02 3:4:5.", "2024-01-02 24:00:00",
    "2024-01-02 23:60:00", "Jan 5 2024", "JAN 05 2024", "January 5 2024", "05 January 2024", "5 May 2024",
    "05 may 2024", "05 MAY -24", "12:30 AM", "12:30 pm", "00:30 AM", "13:30 PM", "7:05", "07:05", "20240305",
    "120240305", "2024030", "24/01/02", "2024-01-02T10:11", "2024-01-02t10:11", "11", "1", "13", "0", "24:15",
    "00:15", "", "abc", None, "é2024", "٢٠٢٤-٠١-٠١", "2024-13-01", "9999-12-31", "2024-00-01", "2024-01-32",
    "2024", "2024-05", "2024-05-", ":12", ":123", ":12:123", "12:3", "12:3:05", "12:30:5", "7:05 pm",
    "202403", "2024-060", "2024-60", "2024-366", "2023-366", "2024-0", "2023365", "2024-6",
    "2024-01-02 03:04",
    "2024-01-02 03:04:05.123", "2024-01-02 03:04.5", "2024-01-02+02:00", "2024-01-02Z", "2024-01-02 Z",
    "2024-01-02 z", "2024-01-02 +02", "2024-01-02 -0230", "2024-01-02 +02:30", "2024-01-02 +18:00",
    "2024-01-02 +18:01", "2024-01-02 +19:00", "2024-01-02 -00:00", "2024-01-02 +02:60", "2024-01-02 02:00",
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York"])
def test_formats(spark: Any, time_zone: str) -> None:
    AgainstSpark(spark, moment_rows(), time_zone).check(FORMATS)


@pytest.mark.spark
def test_parsing(spark: Any) -> None:
    against = AgainstSpark(spark, pa.RecordBatch.from_pydict({"s": TEXTS}))
    against.check(PARSES)
    against.check_fails(
        [
            "to_timestamp(s, 'yyyy-MM-dd')",
            "unix_timestamp(s, 'HH:mm')",
            "to_timestamp(s, 'yyyy[-MM]')",
            "to_timestamp(s, substr('yyyyb', length(s)))",
            "date_format(DATE'2024-01-01', substr('yyyyb', length(s)))",
            "next_day(DATE'2024-01-01', s)",
            "from_utc_timestamp(TIMESTAMP'2024-01-01', s)",
            "make_timestamp(2024, 1, 1, 1, 1, 1, s)",
        ]
    )


@pytest.mark.parametrize(
    ("function", "pattern", "reason"),
    [
        ("date_format_class", "yyyyyyy", "'yyyyyyy' in the datetime pattern"),
        ("date_format_class", "YYYY", "'YYYY' in the datetime pattern"),
        ("date_format_class", "HH 'o", "the unterminated quote"),
        ("date_format_class", "zzz", "'zzz' in the datetime pattern"),
        ("get_timestamp", "E yyyy", "parsing 'E' of the datetime pattern"),
        ("get_timestamp", "yyyy]", "a ']' without '['"),
        ("get_timestamp", "yyyy[ HH][ hh]", "parsing the datetime pattern 'yyyy[ HH][ hh]', which gives a"),
        ("get_timestamp", "yyyy-MM D", "parsing the datetime pattern 'yyyy-MM D', which gives a field twice"),
        ("get_timestamp", "y G", "parsing 'G' of the datetime pattern"),
        ("date_format_class", "OO", "'OO' in the datetime pattern"),
        ("date_format_class", "V", "'V' in the datetime pattern"),
        ("get_timestamp", "HH a", "parsing the datetime pattern 'HH a', which gives a field twice"),
    ],
)
def test_refused_patterns(function: str, pattern: str, reason: str) -> None:
    call = Call(function, (Column(0, pa.string()), Literal(pattern, pa.string())), pa.string())
    assert (find(function).refuse(call) or "").startswith(reason)  # type: ignore[union-attr]

"""FORMAT_STRING is java.util.Formatter's, conversion by conversion; what ours hasn't Spark evaluates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

_INTEGERS = ("i8", "i16", "i32", "i64")
_FORMATS = {
    ("d", "f"): (
        "%f;%.0f;%.2f;%#.0f;%12.3f;%-12.1f|;%+.3f;% .3f;%(.2f;%,.2f;%015.2f;%(,022.1f;%.17f;%e;%.0e;%#.0E;"
        "%.3e;%+14.2E;%-14.1e|;%020.2e;%(e;%s;%12s;%.3s;%b"
    ),
    _INTEGERS: (
        "%d;%+d;% d;%(d;%,d;%8d;%-8d|;%08d;%(,020d;%+,020d;%x;%X;%o;%#x;%#X;%#o;%012x;%#012X;%#-12o|;%s;%.2s"
    ),
    ("b",): "%b;%B;%s;%7b;%-7B|;%.1b",
    ("s",): "%s;%5s;%-5s|;%.1s;%4.1s;%b",
}


@pytest.mark.spark
def test_conversions(spark: Any) -> None:
    against = AgainstSpark(spark, interesting_rows("d", "f", "i8", "i16", "i32", "i64", "b", "s"))
    against.check(
        [
            f"format_string('{f}', {x})"
            for columns, formats in _FORMATS.items()
            for x in columns
            for f in formats.split(";")
        ]
    )
    against.check(["format_string(if(i32 > 0, '%s is %d', if(i32 < -3, '<%2$x>', NULL)), s, i32)"])
    against.check_fails(["format_string('%c', i32)", "format_string(if(i32 > 0, '%d', '%'), i32)"])


@pytest.mark.spark
def test_what_no_kernel_covers(spark: Any) -> None:
    """Spark evaluates it, or fails."""
    against = AgainstSpark(spark, interesting_rows("s", "m", "dt", "i32", "ts"))
    against.check(["format_string('%s', dt)", "format_string('%tY', ts)", "format_string('%%')"])
    wrong = ["'%d', s", "'%f', m", "'%s %s', s", "'%-d', i32", "'%.2d', i32", "'%', s"]
    against.check_fails([f"format_string({arguments})" for arguments in wrong])

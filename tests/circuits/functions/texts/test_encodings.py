"""Digits, digests and encodings are Spark's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.columns.interesting import interesting_rows
from tests.generators.columns.texts import text_rows
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "md5(s)",
    "sha(s)",
    "sha1(b)",
    "sha2(s,256)",
    "sha2(s,0)",
    "sha2(s,512)",
    "sha2(s,k)",
    "crc32(s)",
    "base64(s)",
    "base64(repeat(s,20))",
    "hex(s)",
    "hex(b)",
    "hex(l)",
    "bin(l)",
    "hex(k)",
    "unhex(s)",
    "unhex(hex(s))",
    "conv(s,10,16)",
    "conv(s,16,10)",
    "conv(s,16,-10)",
    "conv(s,17,2)",
    "conv(s,k,16)",
    "conv(s,10,-2)",
    "conv(l,10,-16)",
    "format_number(l,3)",
    "encode(s,'utf-8')",
    "url_encode(s)",
    "soundex(s)",
]


@pytest.mark.spark
def test_encodings(spark: Any) -> None:
    AgainstSpark(spark, text_rows()).check(EXPRESSIONS)


@pytest.mark.spark
def test_formatted_numbers(spark: Any) -> None:
    numbers = AgainstSpark(spark, interesting_rows("d", "f", "m", "i64"))
    numbers.check([f"format_number({x}, {n})" for x in ("d", "f", "m", "i64") for n in (0, 2, 5, -1)])
    numbers.check_fails(["conv(repeat(CAST(i64 AS STRING), 3), 16, 10)"])

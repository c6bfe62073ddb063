"""BINARY that is no UTF-8 as text: Spark checks nothing, and every function has its own way with it."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from tests.oracles.against_spark import AgainstSpark

# Spark reads beyond the end of a string that ends within a character: so none of those here
BYTES = [b"\xde\xad\xbe\xef", b"abc", b"", b"\xc3b", b"a\xc3\xa9\xff", b"\xe6\x97b\xa5", None]
TEXTS = ["ab", "", "é", "b", None]
FUNCTIONS = [
    "b || s", "b || b", "CAST(b AS STRING)", "length(t)", "upper(b)", "lower(b)", "initcap(b)",
    "right(b, 2)", "left(b, 2)", "substring(t, 2, 1)", "substring(t, -2)", "replace(b, 'a', 'b')",
    "regexp_replace(b, 'a', 'b')", "regexp_extract(b, '(.)', 1)", "regexp_count(b, '.')", "b RLIKE 'a'",
    "b LIKE '%a%'", "b LIKE '__'", "reverse(t)", "lpad(t, 5, 'x')", "rpad(t, 1, 'x')", "trim(b)",
    "btrim(b, 'a')", "concat_ws(',', b, s)", "instr(b, 'c')", "locate('c', b)", "split(b, 'b')",
    "split_part(b, 'b', 1)", "translate(b, 'a', 'z')", "ascii(b)", "levenshtein(b, 'abc')", "hex(t)",
    "md5(t)", "t = 'abc'", "overlay(t PLACING 'x' FROM 1)", "substring_index(b, 'b', 1)",
    "find_in_set(b, 'abc')", "to_json(struct(t))", "repeat(b, 2)", "is_valid_utf8(b)",
    "array_join(array(t), 'x')", "url_encode(b)", "encode(t, 'utf-8')", "CAST(t AS BINARY)",
    "upper(X'DEADBEEF')", "length(CAST(X'DEADBEEF' AS STRING))", "CAST(X'DEADBEEF' AS STRING) || s",
    "s LIKE CAST(X'DE' AS STRING)", "elt(1, X'DEADBEEF', s)", "contains(b, 'c')", "xxhash64(t)",
    "try_cast(t AS INT)", "try_cast(t AS DATE)",
]  # fmt: skip


@pytest.mark.spark
def test_every_function_does_what_spark_does(spark: Any) -> None:
    rows = pa.RecordBatch.from_pydict(
        {
            "b": pa.array([each for each in BYTES for _ in TEXTS], pa.binary()),
            "s": pa.array(TEXTS * len(BYTES), pa.string()),
        }
    )
    written = [re.sub(r"\bt\b", "CAST(b AS STRING)", text) for text in FUNCTIONS]
    AgainstSpark(spark, rows).check(written)

"""Our bytes of JSON are those of Spark's parse_json, and our text of them is its to_json's."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.variants.parsed import parsed, variant_of
from dbsp.circuits.columns.variants.text import texts
from dbsp.circuits.columns.variants.type import VARIANT, Variant
from tests.effort import is_long

NUMBERS = [
    *(str(n + d) for n in (0, 2**7, 2**15, 2**31, 2**63, 10**38, -(2**7), -(2**15), -(2**63)) for d in (-1, 0)),
    *("0.0", "-0.0", "-0", "1.10", "100.000", "0.000000001", "0.0000000001", "123456789.1", "1" * 38 + ".5"),
    *("0." + "1" * 38, "0." + "1" * 39, "1e5", "1E-7", "1.5e0", "12e-1", "1e300", "-0e0", "1.0E7", "9999999.0e0"),
    *("1e-3", "0.00099e0", "3.7e-44", "12345.678e90"),
]  # fmt: skip
LETTERS = ["a", "b", "ä", "日", "\U0001f600", "￿", '"', "\\", "\n", "\t", "\x01", "\x7f", "/", "\u2028"]


def _text(choose: random.Random) -> str:
    size = choose.choice([0, 1, 2, 3, 5, 30, 63, 64, 70, 300])
    return json.dumps("".join(choose.choices(LETTERS, k=size)), ensure_ascii=choose.random() < 0.5)


def _document(choose: random.Random, depth: int) -> str:
    form = choose.randrange(7 if depth else 4)
    if form < 2:
        return choose.choice([*NUMBERS, str(choose.uniform(-9, 9))])
    if form == 2:
        return choose.choice(["null", "true", "false"])
    if form == 3:
        return _text(choose)
    size = choose.choice([0, 1, 2, 3, 300 if depth > 2 else 2])
    if form == 4:
        return f"[{', '.join(_document(choose, depth - 1) for _ in range(size))}]"
    keys = {
        json.loads(_text(choose)) if choose.random() < 0.5 else f"k{choose.randrange(500)}"
        for _ in range(size)
    }
    fields = (f"{json.dumps(key, ensure_ascii=False)}: {_document(choose, depth - 1)}" for key in keys)
    return f"{{{', '.join(fields)}}}"


def stored(variants: list[Variant | None]) -> pa.StructArray:
    names = [field.name for field in VARIANT]
    return pa.array(
        [None if one is None else dict(zip(names, one, strict=True)) for one in variants], VARIANT
    )


@pytest.mark.spark
def test_bytes_and_texts_are_sparks(spark: Any) -> None:
    choose = random.Random(None if is_long() else 7)
    documents = [*NUMBERS, *(_document(choose, 3) for _ in range(4000 if is_long() else 500))]
    given = spark.createDataFrame(pa.table({"n": range(len(documents)), "s": documents}))
    rows = given.selectExpr("n", "parse_json(s) AS v", "to_json(parse_json(s)) AS t").orderBy("n").collect()
    for document, row in zip(documents, rows, strict=True):
        one = parsed(document)
        assert one == (bytes(row.v.value), bytes(row.v.metadata)), document
        assert texts(stored([one])) == [row.t], document


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "NaN", "{", "Infinity", '{"a": Infinity}', ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parsed(text)


def test_only_values_of_json_are_variants() -> None:
    with pytest.raises(ValueError, match="set is no value of JSON"):
        variant_of([{1}])

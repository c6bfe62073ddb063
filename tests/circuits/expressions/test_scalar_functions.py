"""Every function of the catalogue in scalar/ is Spark's on generated rows: NULLs, NaN, extremes, any text."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.circuits.expressions.against_spark import AgainstSpark

FAMILIES = ["collections"]


@pytest.mark.spark
@pytest.mark.parametrize("family", FAMILIES)
def test_family(spark: Any, family: str) -> None:
    catalogue = import_module(f"tests.circuits.expressions.scalar.{family}")
    for zone in getattr(catalogue, "ZONES", ["UTC"]):
        against = AgainstSpark(spark, catalogue.ROWS, zone)
        against.check([text for texts in catalogue.FUNCTIONS.values() for text in texts])


@pytest.mark.spark
def test_failing_collections(spark: Any) -> None:
    catalogue = import_module("tests.circuits.expressions.scalar.collections")
    AgainstSpark(spark, catalogue.ROWS).check_fails(
        [
            "map('a', i, s, j)", "map(s, i)", "map_from_arrays(at, at)", "map_from_arrays(at, a)",
            "map_concat(m, m)", "transform_keys(m, (k, v) -> 1)", "transform_keys(m, (k, v) -> v)",
            "transform(a, x -> 1 DIV (x - 1))", "filter(a, x -> x * 2 > 0)",
            "aggregate(a, 0, (acc, x) -> acc + x)",
            "array_insert(a, j, 1)", "slice(a, j, 1)", "slice(a, 1, i)", "sequence(i, j, 1)",
            "sequence(dt, dt + 5, INTERVAL 1 HOUR)", "array_sort(a, (x, y) -> x - y)",
            "str_to_map(concat('a:1,', 'a:2,', s))",
            "transform(aa, x -> transform(x, y -> y + 2147483647))",
        ]
    )  # fmt: skip

"""Every function of the catalogue in scalar/ is Spark's on generated rows: NULLs, NaN, extremes, any text."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.catalogue import coverage
from tests.oracles.against_spark import AgainstSpark, differences
from tests.servers.jars import avro


@pytest.mark.spark
@pytest.mark.parametrize("family", coverage.FAMILIES)
def test_family(spark: Any, family: str) -> None:
    if family == "formats" and not avro():
        pytest.skip("no jar of Avro's functions: make servers")
    functions = import_module(f"tests.circuits.functions.catalogue.{family}")
    for zone in getattr(functions, "ZONES", ["UTC"]):
        against = AgainstSpark(spark, functions.ROWS, zone)
        against.check([text for texts in functions.FUNCTIONS.values() for text in texts])


@pytest.mark.spark
def test_count_of_functions(spark: Any) -> None:
    """At least 300 of the scalar functions Spark lists, each with an expression that calls it."""
    covered, listed = coverage.catalogue(), coverage.scalar_functions(spark)
    assert covered.keys() - listed == set()
    for name, texts in covered.items():
        assert any(coverage.calls(name, text) for text in texts), name
    assert len(covered) >= 300


@pytest.mark.spark
def test_failing_documents(spark: Any) -> None:
    rows = import_module("tests.circuits.functions.catalogue.documents").ROWS
    fails = "map('mode', 'FAILFAST')"
    against = AgainstSpark(spark, rows)
    for text in (
        f"from_json(j, 'a INT', {fails})",
        f"""from_json('{{"a":[1,"x"]}}' || substr(j, 1, 0), 'a ARRAY<INT>', {fails})""",
        f"from_json('[1' || substr(j, 1, 0), 'ARRAY<INT>', {fails})",
        f"from_json('null' || substr(j, 1, 0), 'ARRAY<INT>', {fails})",
    ):
        # evaluated by the optimiser, whose errors reach Python as Java's
        with pytest.raises((Py4JJavaError, PySparkException), match="MALFORMED_RECORD_IN_PARSING"):
            against.spark_values([text])
        (ours,) = against.evaluate([text])
        assert isinstance(ours, EvaluationError), text
        assert ours.condition == "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"


@pytest.mark.spark
def test_failing_variants(spark: Any) -> None:
    """What Spark evaluates for us fails as it does there."""
    rows = import_module("tests.circuits.functions.catalogue.evaluated").ROWS
    AgainstSpark(spark, rows).check_fails(
        [
            "variant_get(try_parse_json(j), '$.a', 'int')",
            "variant_get(try_parse_json(j), s, 'int')", "raise_error(s)::int", "assert_true(i > 0)::int",
            "aes_decrypt(s::binary, '0000111122223333', 'ECB')",
            "hll_sketch_estimate(th)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_what_spark_evaluates_is_the_same_again(spark: Any) -> None:
    """A retraction takes back what an insertion has made."""
    catalogue = import_module("tests.circuits.functions.catalogue.evaluated")
    against = AgainstSpark(spark, catalogue.ROWS)
    texts = [text for texts in catalogue.FUNCTIONS.values() for text in texts]
    for text, *values in zip(texts, against.evaluate(texts), against.evaluate(texts), strict=True):
        one, again = values
        assert isinstance(one, pa.Array)
        assert isinstance(again, pa.Array)
        assert differences(text, catalogue.ROWS, one, again) == []


@pytest.mark.spark
def test_branches_that_are_not_taken_do_not_fail(spark: Any) -> None:
    """What Spark evaluates for us it evaluates where it would: not beside a branch, nor for no elements."""
    rows = pa.RecordBatch.from_pydict(
        {
            "k": pa.array([0, 1, 2, None, -1], pa.int32()),
            "e": pa.array([[], [1], None, [], [2]], pa.list_(pa.int32())),
            "s": pa.array(["a,b", "", None, "A,B", "x"]),
        }
    )
    AgainstSpark(spark, rows).check(
        [
            "variant_get(if(k = 0, null, parse_json(concat('[', string(1 div k), ']'))), '$[0]', 'int')",
            "variant_get(coalesce(try_parse_json(string(k)), parse_json(string(1 div k))), '$', 'int')",
            "if(k = 0, collate(s, 'UTF8_LCASE'), collate(string(1 div k), 'UTF8_LCASE')) = 'A,B'",
            "CASE WHEN k = 0 THEN sentences(s) ELSE sentences(string(1 div k)) END",
            "k <> 0 AND collate(string(1 div k), 'UTF8_LCASE') = '1'",
            "collate(if(k = 0, 'x', string(1 div k)), 'UTF8_LCASE') = 'X'",
            "is_variant_null(if(k = 0, parse_json('null'), to_variant_object(array(1 div k))))",
        ]
    )
    AgainstSpark(spark, rows.slice(0, 1)).check(
        ["size(transform(e, x -> collate(concat(string(x), string(1 div k)), 'UTF8_LCASE')))"]
    )


@pytest.mark.spark
def test_failing_collections(spark: Any) -> None:
    catalogue = import_module("tests.circuits.functions.catalogue.collections")
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


@pytest.mark.spark
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_documents_with_times_by_a_pattern(spark: Any, zone: str) -> None:
    written = [
        '"05/06/2024"', '"5/6/2024"', '"31/02/2024"', '"05/06/2024 07:08"', '"05/06/2024 07:08 +02"',
        '"2024-06-05"', '"2024-06-05T07:08:09Z"', '""', '" "', "null", "12", "1717571289", "-1", "1.5",
        "true", "[1]", '{"c": 1}', '"x"', '"05/06/2024 23:59 -11"', '"29/02/2023"', '"01/01/1600"',
        '"20240605"', '"20240605x"',
    ]  # fmt: skip
    texts = [f'{{"a": {one}, "b": [{one}, "05/06/2024"], "d": 1}}' for one in written]
    patterns = ["dd/MM/yyyy", "d/M/yyyy[ HH:mm[ X]]", "yyyyMMdd", "yyyy-MM-dd['T'HH:mm:ss[XXX]]"]
    AgainstSpark(spark, pa.RecordBatch.from_pydict({"j": [*texts, None, "", "{"]}), zone).check(
        [
            f"""from_json(j, '{fields}, d INT', map('{option}', "{pattern}"))"""
            for pattern in patterns
            for fields, option in (
                ("a DATE, b ARRAY<DATE>", "dateFormat"),
                ("a TIMESTAMP, b ARRAY<TIMESTAMP>", "timestampFormat"),
            )
        ]
    )

"""A query whose shape is known, with other literals, is Spark's: rows, names, types and errors."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import Error
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.answer import answer
from dbsp.queries.plans import Plans
from dbsp.sql.plans.types import ddl
from dbsp.views.view import Contents
from tests.effort import examples

pytestmark = pytest.mark.spark

SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("i", pa.int32()),
        ("s", pa.string()),
        ("d", pa.decimal128(10, 2)),
        ("x", pa.float64()),
        ("day", pa.date32()),
        ("ts", pa.timestamp("us", tz="UTC")),
    ]
)
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_TEXTS = [None, "a", "b", "ab", "abc", "5", "it's", "1.50", "", "%"]
ROWS = [
    {
        "k": k,
        "i": None if k % 5 == 4 else k % 7 - 2,
        "s": _TEXTS[k % len(_TEXTS)],
        "d": None if k % 6 == 5 else Decimal(k * k - 9) / 4,
        "x": None if k % 4 == 3 else k / 2,
        "day": _BEGIN.date() + timedelta(days=k % 5),
        "ts": _BEGIN + timedelta(hours=13 * k),
    }
    for k in range(12)
]
FAILED = "it has no value"
HOLES: dict[str, Callable[[random.Random], object]] = {
    "n": lambda r: r.choice([0, 1, 2, 3, 5, 7, 10, 100, 2_000_000_000]),
    "neg": lambda r: f"-{r.choice([1, 2, 5, 11])}",
    "long": lambda r: r.choice(["3000000000", "100000000000", "2L", "5L"]),
    "dec": lambda r: r.choice(["1.5", "1.50", "2.25", "0.05", "10.00", "3.", "7BD", "99999.999"]),
    "wide": lambda r: (
        r.choice(["", "-"]) + r.choice(["12345678901234567890.000000012", "0.5", "9" * 37 + ".5"])
    ),
    "dbl": lambda r: r.choice(["1e0", "2.5E0", "3D", "1e300", "0.5D"]),
    "s": lambda r: r.choice(["'a'", "'b'", "'ab'", "'it''s'", "'it\\'s'", "''", '"abc"', "r'5'", "'zz'"]),
    "like": lambda r: r.choice(["'a%'", "'%b'", "'_b%'", "'%'", "'ab'", "'\\\\%'", "'%a%b%'"]),
    "num": lambda r: r.choice(["'5'", "'1'", "'2'", "'0'", "'x'"]),
    "day": lambda r: r.choice(["'2024-01-02'", "'2024-01-03'", "'2024-01-05'", "'2023-12-31'"]),
    "t": lambda r: r.choice(["'2024-01-02'", "'2024-01-03 10:30:00'", "'2024-01-05 01:00:00.5'"]),
    "few": lambda r: r.choice([1, 2, 3, 4]),
    "unit": lambda r: r.choice(["'day'", "'month'", "'year'"]),
}
TEMPLATES = [
    # what takes any value of its type
    "SELECT k FROM v WHERE i > {n} OR k = {n}",
    "SELECT k FROM v WHERE i >= {neg} AND k < {n}",
    "SELECT k FROM v WHERE i BETWEEN {neg} AND {n} AND k NOT BETWEEN {n} AND {n}",
    "SELECT k FROM v WHERE k IN ({n}, {n}, {long}) OR i NOT IN ({n}, {neg})",
    "SELECT k FROM v WHERE d >= {dec} AND d <> {n}",
    "SELECT k, d + {n} AS a, d * {dec} AS b, d - {dec} AS c FROM v",
    "SELECT k, d / {n} AS a, i * {n} + k AS b, k % {n} AS c FROM v WHERE k > {few}",
    "SELECT k, i + {long} AS a, x * {dbl} AS b, i / {n} AS c, k DIV {few} AS e FROM v",
    "SELECT k FROM v WHERE x < {dbl} OR x = {n} OR x = {dec}",
    "SELECT k, {wide} AS a, d > {wide} AS b FROM v",
    "SELECT k, concat(s, {s}) AS a, s || {s} AS b, coalesce(s, {s}) AS c FROM v WHERE s <> {s}",
    "SELECT k FROM v WHERE s = {s} OR upper(s) = {s} OR s LIKE {like} OR s IS NULL",
    "SELECT k, CASE WHEN i > {n} THEN {s} WHEN d < {dec} THEN s ELSE {s} END a, if(k > {n}, {n}, i) b FROM v",
    "SELECT k FROM v WHERE day >= {day} AND ts < {t}",
    "SELECT k FROM v WHERE day = DATE {day} OR ts >= TIMESTAMP {t}",
    "SELECT k FROM v WHERE i = {num} OR d > {num}",
    "SELECT k, greatest(d, {dec}) AS a, least(k, {n}, {long}) AS b, nvl(i, {n}) c, abs(i - {n}) e FROM v",
    "SELECT i, sum(k * {n}) a, count(*) FILTER (WHERE k > {n}) b FROM v GROUP BY i HAVING count(*) > {few}",
    "SELECT {n} AS a, {s} AS b, {dec} AS c, {dbl} AS e, {long} AS f, DATE {day} AS g FROM v WHERE k = {few}",
    "SELECT k FROM v WHERE EXISTS (SELECT 1 FROM v w WHERE w.i = v.i AND w.k > {n}) OR k = {n}",
    "SELECT k FROM v WHERE k > (SELECT avg(i) + {few} FROM v WHERE k <> {n})",
    "SELECT v.k, w.s FROM v LEFT JOIN v w ON v.k = w.i WHERE coalesce(w.i, {n}) = {n} AND v.k < {n}",
    "SELECT v.k FROM v, v w WHERE v.k = w.k + {few} AND w.k > {few} AND v.ts > w.ts",
    "WITH big AS (SELECT k, i FROM v WHERE k > {n}) SELECT i, count(*) n FROM big WHERE k < {n} GROUP BY i",
    "SELECT k FROM v WHERE k > {n} UNION ALL SELECT i FROM v WHERE i < {n} UNION ALL SELECT {n}",
    # what doesn't
    "SELECT k, i + {n}, {s}, {dec}, d > {dec} FROM v",
    "SELECT k FROM v ORDER BY k LIMIT {few} OFFSET {few}",
    "SELECT i, s, count(*) AS n FROM v GROUP BY {few}, 2, i ORDER BY 1, 2",
    "SELECT i + {few} AS a, count(*) AS n FROM v GROUP BY i + {few}",
    "SELECT i + {few} AS a, max(k) AS n FROM v GROUP BY i + 1 HAVING max(k) > {n}",
    "SELECT k, round(d, {few}) AS a, substring(s, {few}) AS b, date_add(day, {few}) c FROM v WHERE k < {n}",
    "SELECT k, date_trunc({unit}, ts) AS a FROM v WHERE s <> {unit}",
    "SELECT k FROM (SELECT k, row_number() OVER (PARTITION BY i ORDER BY k) AS r FROM v) WHERE r <= {few}",
    "SELECT k FROM v WHERE ts > TIMESTAMP {t} + INTERVAL {few} DAYS OR k = {few}",
    "SELECT k, lag(k, {few}) OVER (ORDER BY k) AS a, ntile({few}) OVER (ORDER BY k) AS b FROM v",
    "SELECT a, b FROM VALUES ({n}, {s}), ({n}, {s}) AS t(a, b) WHERE a > {n}",
    "SELECT * FROM (SELECT k, s FROM v WHERE k < 4) PIVOT (max(k) FOR s IN ({s}, 'zzz'))",
    "SELECT k, array({s}, s) AS a, array(i, {n}) AS b, map({s}, k) AS c FROM v WHERE k = {few}",
]


def drawn(template: str, choices: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda hole: str(HOLES[hole[1]](choices)), template)


@pytest.mark.slow
@examples(6)
@given(template=st.sampled_from(TEMPLATES), seed=st.integers(0, 999))
def test_a_known_shape_gives_what_spark_gives(
    spark: Any, template: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        check(spark, template, draws=3, seed=seed)


def check(spark: Any, template: str, draws: int, seed: int) -> None:
    batch = pa.RecordBatch.from_pylist(ROWS, SCHEMA)
    contents = Contents("v", SCHEMA, [ZSet(batch, np.ones(len(batch), np.int64))])
    there = ", ".join(f"{one.name} {ddl(one.type)}" for one in SCHEMA)
    spark.createDataFrame([tuple(row.values()) for row in ROWS], there).createOrReplaceTempView("v")
    plans = Plans(lambda: spark, "UTC")
    choices = random.Random(f"{seed}{template}")
    for _ in range(draws):
        query = drawn(template, choices)
        found, expected = ours(plans, query, contents), sparks(spark, query)
        assert found == expected, f"{query}\n  ours   {found}\n  Spark's {expected}"


def ours(plans: Plans, query: str, contents: Contents) -> object:
    """(names and types, rows), or that it has no value."""
    try:
        found = answer(plans, query, {"v": contents})
        rows = found.to_arrow().to_pylist() if len(set(found.schema.names)) == len(found.schema) else []
    except Error:
        return FAILED
    return [(one.name, ddl(one.type).replace(", ", ",")) for one in found.schema], sorted(map(_plain, rows))


def sparks(spark: Any, query: str) -> object:
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        frame = spark.sql(query)
        schema = [(one.name, one.dataType.simpleString()) for one in frame.schema]
        table = frame.toArrow()
        rows = table.to_pylist() if len(set(table.schema.names)) == len(table.schema) else []
    except PySparkException:
        return FAILED
    return schema, sorted(map(_plain, rows))


def _plain(row: dict[str, Any]) -> str:
    return repr({name: _value(value) for name, value in row.items()})


def _value(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value

"""Window functions by name, each through all laws over seeded runs.

Where an order leaves rows tied, only what ties can't change is compared: either the order lists all the
columns that are read, or the function doesn't tell tied rows apart.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.features.test_features import tables_in
from tests.generators.programs import Program, View
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

# fmt: off
# ruff: noqa: E501  a query a line
FEATURES = {
    "row_number": "SELECT k, i, row_number() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS n FROM e",
    "ranks": "SELECT k, i, rank() OVER w AS r, dense_rank() OVER w AS d, percent_rank() OVER w AS p, cume_dist() OVER w AS c FROM e WINDOW w AS (PARTITION BY k ORDER BY i DESC NULLS LAST)",
    "ranks by many columns": "SELECT k, s, dt, rank() OVER (PARTITION BY b ORDER BY s DESC NULLS FIRST, dt NULLS LAST) AS r FROM e",
    "ntile": "SELECT k, i, ntile(3) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS t, ntile(2) OVER (ORDER BY k NULLS FIRST, i NULLS FIRST) AS u FROM e",
    "lag and lead": "SELECT k, i, s, lag(s) OVER w AS a, lead(s, 2) OVER w AS b, lag(s, 2, 'none') OVER w AS c, lead(s, 1, s) OVER w AS d, lead(i, 0) OVER w AS f FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST, s NULLS FIRST)",
    "first, last and nth value": "SELECT k, i, first_value(i) OVER w AS a, last_value(i) OVER w AS b, nth_value(i, 2) OVER w AS c FROM e WINDOW w AS (PARTITION BY k ORDER BY i DESC NULLS FIRST)",
    "no order": "SELECT k, i, sum(i) OVER (PARTITION BY k) AS s, count(*) OVER (PARTITION BY k) AS n, max(s) OVER (PARTITION BY k) AS m FROM e",
    "no partition": "SELECT k, i, sum(i) OVER () AS s, rank() OVER (ORDER BY i NULLS FIRST) AS r FROM e",
    "running sums": "SELECT k, i, sum(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS s, avg(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS a, count(s) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS n FROM e",
    "rows": "SELECT k, i, sum(i) OVER w AS s, min(i) OVER w AS lo, max(i) OVER w AS hi, count(*) OVER w AS n FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "rows that follow": "SELECT k, i, sum(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS s, min(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) AS m FROM e",
    "range of numbers": "SELECT k, i, sum(k) OVER (PARTITION BY b ORDER BY i NULLS FIRST RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s, count(*) OVER (PARTITION BY b ORDER BY i DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM e",
    "range of times": "SELECT k, ts, count(*) OVER (PARTITION BY k ORDER BY ts NULLS FIRST RANGE BETWEEN INTERVAL 10 MINUTE PRECEDING AND CURRENT ROW) AS n, max(i) OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND INTERVAL 1 MONTH FOLLOWING) AS m FROM e",
    "range of unbounded and current": "SELECT k, i, sum(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s, count(*) OVER (PARTITION BY k ORDER BY i NULLS FIRST RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS n FROM e",
    "extremes of every type": "SELECT k, min(b) OVER w AS b, max(dt) OVER w AS dt, max(ts) OVER w AS ts, min(m) OVER w AS m, max(s) OVER w AS s FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST)",
    "sums of doubles": "SELECT k, sum(d) OVER (PARTITION BY k ORDER BY d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s, avg(d) OVER (PARTITION BY k) AS a FROM e WHERE d > 0",
    "sums of decimals": "SELECT k, m, sum(m) OVER (PARTITION BY k ORDER BY m NULLS FIRST) AS s FROM e",
    "expressions": "SELECT k, upper(s) AS u, i - lag(i) OVER (PARTITION BY upper(s), k % 2 ORDER BY i NULLS FIRST, k NULLS FIRST) AS d FROM e",
    "partition by doubles": "SELECT k, count(*) OVER (PARTITION BY d) AS n FROM e",
    "several partitions": "SELECT k, s, i, count(*) OVER (PARTITION BY k) AS a, count(*) OVER (PARTITION BY s) AS b, sum(i) OVER (PARTITION BY k, s) AS c FROM e",
    "windows over aggregates": "SELECT k, sum(i) AS t, rank() OVER (ORDER BY sum(i) DESC NULLS LAST) AS r, sum(sum(i)) OVER () AS a FROM e GROUP BY k",
    "windows over joins": "SELECT e.k, e.i, c.j, row_number() OVER (PARTITION BY e.k ORDER BY e.i NULLS FIRST, c.j NULLS FIRST) AS n FROM e JOIN c ON e.k = c.k",
    "windows over windows": "SELECT k, r, count(*) OVER (PARTITION BY r) AS n FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS r FROM e) q",
    "aggregates over windows": "SELECT r, count(*) AS n FROM (SELECT rank() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS r FROM e) q GROUP BY r",
    "texts in the window's order": "SELECT k, j, listagg(s, ',') OVER (PARTITION BY j % 2 ORDER BY k DESC) AS l, string_agg(CAST(j AS STRING), '') FILTER (WHERE j > 0) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS f FROM c",
    "windows of keyed tables": "SELECT k, j, sum(j) OVER (PARTITION BY s ORDER BY k) AS t FROM c",
    "top one": "SELECT k, i, ts FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts DESC NULLS LAST, i NULLS FIRST) AS n FROM e) q WHERE n = 1",
    "top three, ranked": "SELECT k, i, s, n FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY i NULLS FIRST, s NULLS FIRST) AS n FROM e) q WHERE n <= 3",
    "top by rank": "SELECT k, i FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY i DESC NULLS FIRST) AS n FROM e) q WHERE n < 3",
    "top by dense rank": "SELECT k, s, n FROM (SELECT *, dense_rank() OVER (PARTITION BY k ORDER BY s NULLS LAST) AS n FROM e) q WHERE n <= 2",
    "top of everything": "SELECT k, i FROM (SELECT *, rank() OVER (ORDER BY i NULLS FIRST, k NULLS FIRST) AS n FROM e) q WHERE 2 >= n",
    "the second": "SELECT k, i FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS n FROM e) q WHERE n = 2",
    "top and more conditions": "SELECT k, i, n FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS n FROM e) q WHERE n <= 3 AND n > 1 AND i > 0",
    "top by several ranks": "SELECT k, i, n, r FROM (SELECT *, rank() OVER w AS n, dense_rank() OVER w AS r FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST)) q WHERE n <= 3",
    "top beside the rows around": "SELECT k, i, n, o, p, q1, q2 FROM (SELECT *, row_number() OVER w AS n, lag(i) OVER w AS o, lead(i, 2) OVER w AS p, lag(i, 1, -1) OVER v AS q1, lead(i) OVER v AS q2 FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST), v AS (PARTITION BY k ORDER BY i DESC NULLS LAST)) q WHERE n <= 2",
    "top beside running totals": "SELECT k, i, n, o, p, q1, q2 FROM (SELECT *, rank() OVER w AS n, sum(i) OVER w AS o, count(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS p, max(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST ROWS UNBOUNDED PRECEDING) AS q1, first_value(i) OVER w AS q2 FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST)) q WHERE n = 1",
    "top of append-only tables beside the next": "SELECT k, i, o, p FROM (SELECT *, row_number() OVER w AS n, lead(i) OVER w AS o, sum(i) OVER w AS p FROM a WINDOW w AS (PARTITION BY k ORDER BY i DESC NULLS LAST)) q WHERE n = 1",
    "top of append-only tables": "SELECT k, i, d FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY i DESC NULLS LAST) AS n FROM a) q WHERE n <= 2",
    "ranked top of append-only tables": "SELECT k, s, n FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY s NULLS FIRST) AS n FROM a) q WHERE n <= 2",
    "top of keyed tables": "SELECT s, k, j FROM (SELECT *, row_number() OVER (PARTITION BY s ORDER BY k) AS n FROM c) q WHERE n <= 1",
    "top by times": "SELECT k, ts FROM (SELECT *, rank() OVER (PARTITION BY b ORDER BY ts NULLS LAST) AS n FROM e) q WHERE n <= 2",
    "top over aggregates": "SELECT k, t FROM (SELECT k, sum(i) AS t, rank() OVER (ORDER BY sum(i) DESC NULLS LAST) AS n FROM e GROUP BY k) q WHERE n <= 2",
    "LIMIT": "SELECT k, i FROM e ORDER BY i DESC NULLS LAST, k NULLS FIRST LIMIT 3",
    "LIMIT and OFFSET": "SELECT k, i FROM e ORDER BY i NULLS FIRST, k NULLS LAST LIMIT 3 OFFSET 2",
    "OFFSET": "SELECT k, i FROM e ORDER BY k NULLS FIRST, i NULLS LAST OFFSET 2",
    "LIMIT by hidden columns": "SELECT upper(s) AS u FROM e ORDER BY i NULLS FIRST, k NULLS FIRST, s NULLS FIRST LIMIT 4",
    "LIMIT of append-only tables": "SELECT k, i FROM a ORDER BY i DESC NULLS LAST, k NULLS FIRST LIMIT 3",
    "LIMIT in a sub-query": "SELECT k, count(*) AS n FROM (SELECT k, i FROM e ORDER BY i NULLS FIRST, k NULLS FIRST LIMIT 4) q GROUP BY k",
    "LIMIT over aggregates": "SELECT k, sum(i) AS t FROM e GROUP BY k ORDER BY t DESC NULLS LAST, k NULLS FIRST LIMIT 2",
    "ORDER BY alone": "SELECT k, i FROM e ORDER BY i",
    "count of any rows": "SELECT count(*) AS n FROM (SELECT k FROM e LIMIT 3) q",
    "windows of append-only tables": "SELECT k, i, sum(i) OVER (PARTITION BY k ORDER BY i NULLS FIRST ROWS UNBOUNDED PRECEDING) AS t FROM a",
}

# what DuckDB spells or computes otherwise
SPARK_ONLY = {
    "statistics of frames": "SELECT k, i, stddev(i) OVER w AS a, var_pop(m) OVER w AS b, corr(i, k) OVER w AS c, regr_r2(i, k) OVER w AS d, kurtosis(i) OVER r AS f, covar_samp(i, m) OVER r AS g, skewness(i) FILTER (WHERE b) OVER w AS h FROM e WINDOW w AS (PARTITION BY b ORDER BY i, k), r AS (PARTITION BY k ORDER BY i RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
    "extremes by another column": "SELECT k, i, max_by(s, struct(i, s)) OVER w AS a, min_by(i, struct(m, i)) OVER w AS b, max_by(i, i) OVER r AS c, min_by(s, s) FILTER (WHERE b) OVER w AS d FROM e WINDOW w AS (PARTITION BY k ORDER BY i), r AS (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "bits of frames": "SELECT k, i, bit_and(i) OVER w AS a, bit_or(k) OVER w AS b, bit_xor(i) OVER w AS c, bit_xor(k) FILTER (WHERE b) OVER r AS d, bit_and(CAST(i AS TINYINT)) OVER r AS f FROM e WINDOW w AS (PARTITION BY k ORDER BY i), r AS (PARTITION BY b ORDER BY i RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING)",
    "percentiles of frames": "SELECT k, i, percentile(i, 0.5) OVER w AS a, percentile(m, array(0.1, 0.75)) OVER w AS b, approx_percentile(i, 0.4) OVER w AS c, percentile(i, 0.3, abs(i)) OVER w AS d, percentile(i, 0.4) FILTER (WHERE b) OVER r AS f, percentile(d, 0.5) OVER r AS g FROM e WINDOW w AS (PARTITION BY k ORDER BY i), r AS (PARTITION BY b ORDER BY i RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "percentiles within groups": "SELECT k, i, percentile_cont(0.25) WITHIN GROUP (ORDER BY i DESC) OVER (PARTITION BY k) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY m) OVER (PARTITION BY k) AS b FROM e",
    "lists of frames": "SELECT k, i, sort_array(collect_set(i) OVER w) AS a, array_agg(k) OVER w AS b, size(collect_list(s) OVER r) AS c, collect_list(i) FILTER (WHERE b) OVER w AS d, array_agg(i) OVER (PARTITION BY k ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS f FROM e WINDOW w AS (PARTITION BY k ORDER BY i), r AS (PARTITION BY b ORDER BY i RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "joined text of frames": "SELECT k, s, listagg(s, ',') OVER (PARTITION BY k ORDER BY s) AS a, listagg(s) WITHIN GROUP (ORDER BY s DESC) OVER (PARTITION BY k) AS b FROM e",
    "approximate counts of frames": "SELECT k, i, approx_count_distinct(s) OVER (PARTITION BY k ORDER BY i) AS a, approx_count_distinct(i) OVER (ORDER BY k, i ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS b FROM e",
    "sums that may fail": "SELECT k, i, try_sum(i) OVER w AS a, try_avg(m) OVER w AS b, try_sum(if(i > 0, 4611686018427387904, i)) OVER (PARTITION BY b, i) AS c FROM e WINDOW w AS (PARTITION BY k ORDER BY i)",
    "sums of intervals": "SELECT k, i, sum(i * INTERVAL '1' HOUR) OVER w AS a, avg(i * INTERVAL '1' SECOND) OVER w AS b, max(i * INTERVAL '1' DAY) OVER w AS c FROM e WINDOW w AS (PARTITION BY k ORDER BY i)",
    "first and last of some": "SELECT k, i, first(i) FILTER (WHERE b) OVER w AS a, last(i) FILTER (WHERE i > 0) OVER w AS c, first(s) FILTER (WHERE b) IGNORE NULLS OVER w AS d, last_value(s) IGNORE NULLS OVER w AS f, any_value(i) OVER w AS g, first(i, true) OVER w AS h FROM e WINDOW w AS (PARTITION BY k ORDER BY i, b, s)",
    "FILTER": "SELECT k, i, count(*) FILTER (WHERE b) OVER w AS c, sum(i) FILTER (WHERE i > 0) OVER w AS s, max(s) FILTER (WHERE b) OVER w AS m, size(collect_list(i) FILTER (WHERE b) OVER w) AS l, stddev(i) FILTER (WHERE b) OVER (PARTITION BY k) AS d FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST)",
    "statistics": "SELECT k, i, stddev(i) OVER w AS a, var_pop(i) OVER w AS b, corr(i, k) OVER w AS c, skewness(m) OVER w AS d, regr_slope(i, k) OVER w AS f FROM e WINDOW w AS (PARTITION BY b)",
    "statistics of some rows": "SELECT k, i, stddev_pop(i) OVER w AS a, covar_samp(i, i) OVER w AS c FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "bits and booleans": "SELECT k, i, bit_and(i) OVER w AS a, bit_xor(k) OVER w AS x, bool_and(b) OVER w AS c, bool_or(b) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS o, count_if(b) OVER (PARTITION BY k ORDER BY i NULLS FIRST) AS n FROM e WINDOW w AS (PARTITION BY k)",
    "values of a partition": "SELECT k, sort_array(collect_set(s) OVER w) AS a, median(i) OVER w AS m, percentile(i, 0.3) OVER w AS p, approx_count_distinct(s) OVER w AS n FROM e WINDOW w AS (PARTITION BY k)",
    "values of some rows": "SELECT k, i, sort_array(collect_set(i) OVER w) AS a, bit_or(i) OVER w AS o FROM e WINDOW w AS (PARTITION BY k ORDER BY i NULLS FIRST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "IGNORE NULLS": "SELECT k, i, lag(i) IGNORE NULLS OVER w AS a, lead(i, 2, 9) IGNORE NULLS OVER w AS b, first_value(i) IGNORE NULLS OVER w AS c, last_value(i) IGNORE NULLS OVER w AS d, nth_value(i, 2) IGNORE NULLS OVER w AS f, lag(i, 0) IGNORE NULLS OVER w AS g FROM e WINDOW w AS (PARTITION BY b ORDER BY k NULLS FIRST, i NULLS LAST)",
    "counters": "SELECT k, i, counter_diff(greatest(i, 0)) OVER w AS a, counter_diff(abs(m)) OVER w AS b, counter_diff(greatest(d, 0)) OVER w AS c, counter_diff(if(b, greatest(i, 0), NULL), ts) OVER w AS f, counter_diff(greatest(k, 0), CAST(ts AS TIMESTAMP_NTZ)) OVER (PARTITION BY s ORDER BY ts NULLS FIRST, k) AS g FROM e WINDOW w AS (PARTITION BY k ORDER BY ts NULLS FIRST, i, m, d, b, s)",
    "counters beside others": "SELECT k, counter_diff(greatest(i, 0)) OVER w - 1 AS a, lag(i) OVER w AS b, row_number() OVER w AS n FROM e WINDOW w AS (PARTITION BY k ORDER BY i, s) QUALIFY n > 1",
    "what counts nothing": "SELECT k, count_if(NOT k <=> k) OVER (ORDER BY k) AS n, count(*) OVER (ORDER BY k) AS m, count(NULL) OVER (PARTITION BY b) AS o FROM e QUALIFY count(NULL) OVER (ORDER BY i) < m",
    "only what counts nothing": "SELECT k, count(NULL) OVER (ORDER BY k) + 1 AS n FROM e",
    "default order of NULLs": "SELECT k, i, row_number() OVER (PARTITION BY k ORDER BY i) AS a, row_number() OVER (PARTITION BY k ORDER BY i DESC) AS b FROM e",
    "order by doubles": "SELECT k, rank() OVER (PARTITION BY k ORDER BY d) AS r, rank() OVER (PARTITION BY k ORDER BY d DESC) AS q, dense_rank() OVER (ORDER BY CAST(d AS FLOAT)) AS g FROM e",
    "range of doubles": "SELECT k, count(*) OVER (PARTITION BY k ORDER BY d RANGE BETWEEN 1.5 PRECEDING AND 2 FOLLOWING) AS n, count(*) OVER (ORDER BY CAST(d AS FLOAT) DESC RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM e",
    "range of decimals": "SELECT k, count(*) OVER (PARTITION BY k ORDER BY m RANGE BETWEEN 1.5 PRECEDING AND 2 FOLLOWING) AS n, sum(m) OVER (ORDER BY m DESC RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS t FROM e",
    "range of dates": "SELECT k, count(*) OVER (PARTITION BY k ORDER BY dt RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS n, count(*) OVER (ORDER BY dt RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS d, count(*) OVER (ORDER BY dt DESC RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) AS m FROM e",
    "averages of decimals": "SELECT k, avg(m) OVER (PARTITION BY k ORDER BY m) AS a FROM e",
    "order by nested values": "SELECT k, rank() OVER (PARTITION BY b ORDER BY array(i, k), struct(s, i) DESC) AS r FROM e",
    "collected": "SELECT k, i, collect_list(i) OVER (PARTITION BY k ORDER BY i) AS l FROM e",
    "count of several": "SELECT k, i, count(i, s) OVER (PARTITION BY k) AS n, bool_or(b) OVER (PARTITION BY k) AS o, count_if(b) OVER (PARTITION BY k) AS c FROM e",
    "top by doubles": "SELECT k, n FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY d DESC) AS n FROM e) q WHERE n <= 2",
    "top by nested values": "SELECT k, n FROM (SELECT *, rank() OVER (PARTITION BY b ORDER BY array(i, k) DESC) AS n FROM e) q WHERE n <= 2",
    "top by decimals": "SELECT k, m FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY m DESC NULLS FIRST) AS n FROM e) q WHERE n <= 2",
    "correlated LIMIT": "SELECT c.k, q.i FROM c, LATERAL (SELECT i FROM e WHERE e.k = c.k ORDER BY i DESC, s LIMIT 2) q",
    "correlated LIMIT by hidden columns": "SELECT c.k, q.i FROM c, LATERAL (SELECT i FROM e WHERE e.k = c.k ORDER BY s DESC, i LIMIT 2) q",
    "QUALIFY": "SELECT k, i FROM e QUALIFY rank() OVER (PARTITION BY k ORDER BY i) <= 2",
    "QUALIFY with a named window": "SELECT k, i, sum(i) OVER w AS t FROM e QUALIFY row_number() OVER w > 1 AND max(i) OVER (PARTITION BY b) > 1 WINDOW w AS (PARTITION BY k ORDER BY i)",
    "extremes of doubles": "SELECT k, max(d) OVER (PARTITION BY k) AS hi, min(d) OVER (PARTITION BY k ORDER BY i) AS lo FROM e",
}
# fmt: on
ALL = {**FEATURES, **SPARK_ONLY}


def program_of(name: str) -> Program:
    query = ALL[name]
    return Program(tables_in(query), (View("v", query, query if name in FEATURES else None),))


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


@pytest.mark.parametrize("name", FEATURES)
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, name: str) -> None:
    program = program_of(name)
    ways = list(WAYS.values())
    for seed in range(3):
        run = seeded_run(seed, program, steps=6, most=8)
        way = ways[(seed + len(name)) % len(ways)]
        laws.incremental_equals_batch(Case.of(program, spark), run, duckdb, way)


@pytest.mark.parametrize("name", ALL)
def test_incremental_equals_spark(spark: Any, name: str) -> None:
    program = program_of(name)
    run = seeded_run(len(name), program, steps=2, most=12)
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


@pytest.mark.parametrize("name", ALL)
def test_other_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case = Case.of(program, spark)
    run = seeded_run(7, program, steps=4, most=5)
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)

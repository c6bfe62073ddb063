"""Every aggregate function by name, against Spark and through the other laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbsp.circuits.operators.groups.aggregates.ranked import percentile, ranks
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True, scope="module")
def groups_are_large() -> Iterator[None]:
    """But for those of a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(percentile, "_WORTH", 2)
        patch.setattr(ranks, "_FEW", 0)
        yield


EVENTS = table(
    "e",
    "k BIGINT, i INT, h SMALLINT, s STRING, d DOUBLE, f FLOAT, m DECIMAL(10,2), ts TIMESTAMP, dt DATE, b BOOLEAN, "
    "a ARRAY<INT>, x BINARY",
)

# a select list, grouped and not; or a query
# fmt: off
# ruff: noqa: E501  a query a line
AGGREGATES = {
    "variance": "variance(d) AS a, var_pop(i) AS b, stddev(m) AS c, stddev_pop(f) AS d, std(k) AS e",
    "skewness and kurtosis": "skewness(i) AS a, kurtosis(m) AS b",
    "covariance": "corr(i, m) AS a, covar_pop(i, k) AS b, covar_samp(h, i) AS c",
    "regression": "regr_r2(i, m) AS a, regr_slope(i, m) AS b, regr_intercept(i, m) AS c, regr_sxx(i, m) AS d, regr_syy(i, m) AS e,"
                  " regr_sxy(i, m) AS f, regr_count(i, m) AS g, regr_avgx(i, m) AS h, regr_avgy(i, m) AS j",
    "bits": "bit_and(i) AS a, bit_or(h) AS b, bit_xor(k) AS c, bit_xor(DISTINCT i) AS d",
    "booleans": "count_if(i > 0) AS a, bool_and(b) AS b, bool_or(b) AS c, every(i > 0) AS d, some(b) FILTER (WHERE i > 0) AS f, any(b) AS g",
    "sums that may be out of range": "try_sum(i) AS a, try_avg(i) AS b, try_avg(m) AS c, try_sum(m) AS d, try_sum(DISTINCT k) AS f",
    "intervals": "sum(ts - TIMESTAMP '2024-01-01') AS a, avg(ts - TIMESTAMP '2024-01-01') AS b, max(ts - TIMESTAMP '2024-01-01') AS c",
    "distinct": "sum(DISTINCT i) AS a, sum(DISTINCT d) AS b, avg(DISTINCT m) AS c, stddev(DISTINCT i) AS f, corr(DISTINCT i, m) AS g, count(DISTINCT s) AS n",
    "lists": "sort_array(collect_list(i)) AS a, sort_array(collect_set(s)) AS b, size(array_agg(d)) AS c, sort_array(collect_list(DISTINCT i)) AS f,"
             " sort_array(collect_list(s) FILTER (WHERE i > 0)) AS g, sort_array(array_agg(i) RESPECT NULLS) AS n",
    "listagg": "string_agg(s, ',') WITHIN GROUP (ORDER BY s) AS a, listagg(s) WITHIN GROUP (ORDER BY s DESC) AS b,"
               " listagg(DISTINCT s, '-') WITHIN GROUP (ORDER BY s) AS c, listagg(x) WITHIN GROUP (ORDER BY x) AS f",
    "percentiles": "percentile(i, 0.3) AS a, percentile(d, array(0.1, 0.5, 1)) AS b, median(m) AS c, percentile_cont(0.3) WITHIN GROUP (ORDER BY i DESC) AS f,"
                   " percentile(i, 0.7, abs(h)) AS g, percentile_disc(0.3) WITHIN GROUP (ORDER BY i) AS n, percentile_disc(0.3) WITHIN GROUP (ORDER BY m DESC) AS o,"
                   " percentile(DISTINCT i, 0.4) AS p, median(ts - TIMESTAMP '2024-01-01') AS q",
    "approximate": "percentile_approx(i, 0.5) AS a, approx_percentile(m, array(0.0, 0.25, 0.9)) AS b, approx_percentile(ts, 0.4) AS c,"
                   " approx_count_distinct(i) AS f, approx_count_distinct(s) AS g, approx_count_distinct(d) AS n",
    "mode": "mode() WITHIN GROUP (ORDER BY i) AS a, mode() WITHIN GROUP (ORDER BY s DESC) AS b",
    "max_by": "max_by(struct(i, s), struct(i, s)) AS a, min_by(m, m) AS b, max_by(s, s) FILTER (WHERE i > 0) AS c, max_by(a, a) AS f",
    "structs by their first field": "max(struct(i, s, d)) AS a, min(struct(i, s)) AS b, max(struct(d, i)) AS f, min(struct(d, s, i)) AS g, max(struct(struct(s, i), d)) AS h, max(struct(a, i)) AS j, max_by(s, struct(i, d, s)) AS l, min_by(i, struct(d, i)) AS m, max(struct(dt, i)) FILTER (WHERE i > 0) AS n, min(DISTINCT struct(s, i)) AS o",
    "least and greatest of any type": "min(a) AS a, max(a) AS b, max(struct(i, s)) AS f, min(struct(d, i)) AS g, max(x) AS n, min(dt) AS o",
    "the greatest few": "max_by(struct(i, s), struct(i, s), 2) AS a, min_by(m, m, 3) AS b, max_by(s, s, 1) FILTER (WHERE i > 0) AS c,"
                        " min_by(DISTINCT i, i, 2) AS f",
    "bitmaps": "md5(bitmap_construct_agg(bitmap_bit_position(i))) AS a, bitmap_count(bitmap_or_agg(x)) AS b, md5(bitmap_and_agg(x)) AS c,"
               " md5(bitmap_or_agg(x)) AS f",
    "count_min_sketch": "md5(count_min_sketch(k, 0.5d, 0.5d, 1)) AS a, count_min_sketch(s, 0.9d, 0.6d, -7) AS b, count_min_sketch(h, 0.9d, 0.3d, 3) AS c,"
                        " count_min_sketch(x, 0.9d, 0.8d, 5) FILTER (WHERE i > 0) AS f",
    "sketches": "hll_sketch_estimate(hll_sketch_agg(i)) AS a, theta_sketch_estimate(theta_sketch_agg(s)) AS b, sort_array(collect_union(a)) AS c,"
                " hll_sketch_estimate(hll_sketch_agg(DISTINCT k) FILTER (WHERE i > 0)) AS f, tuple_sketch_estimate_double(tuple_sketch_agg_double(s, d)) AS g,"
                " schema_of_variant_agg(try_parse_json(s)) AS n, approx_top_k(i % 1) AS o",
    "any_value": "any_value(k % 1) AS a, any_value(1) AS b, array_contains(collect_set(s), any_value(s) IGNORE NULLS) AS c,"
                 " array_contains(collect_set(i) FILTER (WHERE b), any_value(i, true) FILTER (WHERE b)) AS f,"
                 " array_contains(collect_set(m), any_value(DISTINCT m) IGNORE NULLS) AS g, array_contains(collect_set(ts), any_value(ts) IGNORE NULLS) AS n,"
                 " array_contains(collect_set(d), any_value(d) IGNORE NULLS) AS o, array_contains(collect_set(x), any_value(x) IGNORE NULLS) AS p,"
                 " array_contains(collect_set(struct(i, s)), any_value(struct(i, s)) IGNORE NULLS) AS q",
    "FILTER": "sum(DISTINCT i) FILTER (WHERE b) AS a, stddev(i) FILTER (WHERE b) AS c, bit_xor(i) FILTER (WHERE d > 0) AS f, corr(i, k) FILTER (WHERE s <> 'a') AS g",
}
QUERIES = {
    "PIVOT": "SELECT * FROM (SELECT k, s, i FROM e) PIVOT (sum(i) AS a, max(i) AS b FOR s IN ('a', 'b'))",
    "PIVOT by a date": "SELECT * FROM (SELECT k, dt, d FROM e) PIVOT (stddev(d) FOR dt IN (DATE '2024-02-29' AS x, DATE '1969-12-31' AS y))",
    "PIVOT by floats": "SELECT * FROM (SELECT k, f, i FROM e) PIVOT (count(i) AS n FOR f IN (float('NaN') AS x, float(0) AS z, 1.5F AS y))",
    "PIVOT by floats in structs": "SELECT * FROM (SELECT f, b, i FROM e) PIVOT (count(i) AS n FOR (f, b) IN ((float('NaN'), true) AS x, (float(0), false) AS y))",
    "PIVOT of lists by a float": "SELECT * FROM (SELECT f, i FROM e) PIVOT (array_sort(collect_list(i)) AS n FOR f IN (float('NaN') AS x, float(0) AS y))",
    "PIVOT of strings": "SELECT * FROM (SELECT k, b, s FROM e) PIVOT (max(s) FOR b IN (true AS t, false AS f))",
    "UNPIVOT": "SELECT k, c, v FROM e UNPIVOT (v FOR c IN (i, h))",
    "ROLLUP": "SELECT k, b, sum(m) AS n, stddev(i) AS x FROM e GROUP BY ROLLUP (k, b)",
    "GROUPING SETS": "SELECT k, s, count(*) AS n, grouping(k) AS g, grouping_id(k, s) AS h FROM e GROUP BY GROUPING SETS ((k), (s), ()) HAVING count(*) > 1",
}
# fmt: on


def program_of(name: str) -> Program:
    if name in QUERIES:
        return Program((EVENTS,), (View("v", QUERIES[name], None),))
    select = AGGREGATES[name]
    queries = [f"SELECT k, {select} FROM e GROUP BY k", f"SELECT {select} FROM e"]
    return Program((EVENTS,), tuple(View(v, q, None) for v, q in zip("vw", queries, strict=True)))


@pytest.mark.parametrize("name", [*AGGREGATES, *QUERIES])
def test_equal_to_spark(spark: Any, name: str) -> None:
    program = program_of(name)
    run = seeded_run(len(name), program, steps=2, most=12)
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


@pytest.mark.parametrize("name", [*AGGREGATES, *QUERIES])
def test_other_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case, run = Case.of(program, spark), seeded_run(7, program, steps=4, most=5)
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)
    halves = [{t: c[i::2] for t, c in delta.items() if c[i::2]} for delta in run for i in (0, 1)]
    if not any(change.kind == "retract" for delta in run for c in delta.values() for change in c):
        laws.splitting_changes_nothing(case, run, halves)

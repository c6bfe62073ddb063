"""What Spark makes of a group's values in their order is what a view holds, whatever came and went before."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp import Pipeline
from dbsp.circuits.errors import EvaluationError, ProgramError
from dbsp.circuits.functions.spark import requests
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

# fmt: off
# the function, and what it is ordered by
CALLS = [
    ("histogram_numeric(x, 4)", "x"), ("histogram_numeric(i, 3)", "i"),
    ("histogram_numeric(make_time(i, 30, 0.5), 4)", "i"),
    ("histogram_numeric(make_time(i * 0 + 1, 30, 0.5), 4)", "i"),
    ("hll_sketch_agg(s)", "s"), ("hll_sketch_agg(i, 4)", "i"),
    ("hll_union_agg(z)", "z"), ("hll_union_agg(z, true)", "z"),
    ("theta_sketch_agg(i)", "i"), ("theta_sketch_agg(s, 5)", "s"), ("theta_union_agg(h)", "h"),
    ("theta_intersection_agg(h)", "h"),
    ("tuple_sketch_agg_double(s, x)", "s, x"), ("tuple_sketch_agg_integer(i, i, 5, 'max')", "i"),
    ("tuple_union_agg_double(u)", "u"), ("tuple_intersection_agg_double(u)", "u"),
    ("approx_top_k(s)", "s"), ("approx_top_k(i, 2, 8)", "i"), ("approx_top_k(m, 3)", "m"),
    ("approx_top_k_accumulate(i, 8)", "i"), ("approx_top_k_estimate(approx_top_k_accumulate(s), 2)", "s"),
    ("sort_array(collect_union(a))", "a"),
    ("schema_of_variant_agg(try_parse_json(s))", "s"),
    ("vector_sum(v)", "v"), ("vector_avg(v)", "v"),
    ("hll_sketch_estimate(hll_sketch_agg(i) FILTER (WHERE i > 2))", "i"),
    ("hll_sketch_estimate(hll_sketch_agg(DISTINCT s))", "s"),
    ("hll_sketch_estimate(hll_sketch_agg(1))", "i"),
]
# fmt: on
COLUMNS = """g INT, i INT, s STRING, x DOUBLE, m DECIMAL(6, 2), a ARRAY<INT>, v ARRAY<FLOAT>,
             z BINARY, h BINARY, u BINARY"""
NAMES = [f"c{n}" for n in range(len(CALLS))]
SELECT = ", ".join(f"{call} AS {name}" for (call, _), name in zip(CALLS, NAMES, strict=True))
PROGRAM = f"""
CREATE TABLE t ({COLUMNS});
CREATE VIEW v AS SELECT g, {SELECT} FROM t GROUP BY g;
CREATE VIEW w AS SELECT {SELECT} FROM t;
"""
SKETCHES = """
    SELECT g, hll_sketch_agg(i) AS z, theta_sketch_agg(i) AS h, tuple_sketch_agg_double(i, x) AS u
    FROM rows GROUP BY g, i
"""


def some_rows(spark: Any) -> list[tuple[Any, ...]]:
    """Of three groups, one of them without values; sketches of other rows among them."""
    plain = [
        (n % 2, n % 7, f'{{"k{n % 3}": {n}}}', n / 3 - 5, None, [n % 4, n % 3], [n / 3, -0.1])
        for n in range(60)
    ]
    spark.createDataFrame(
        [row[:4] for row in plain], "g INT, i INT, s STRING, x DOUBLE"
    ).createOrReplaceTempView("rows")
    made = [tuple(map(bytes, row[1:])) for row in spark.sql(SKETCHES).collect()]
    return [(*row, *made[n % len(made)]) for n, row in enumerate(plain)] + [(2, *[None] * 9)]


def expected(spark: Any, rows: list[tuple[Any, ...]], key: str) -> list[dict[str, Any]]:
    """By Spark, whose only task has all rows in the order of the values. key: 'g', or none."""
    spark.createDataFrame(rows, COLUMNS).createOrReplaceTempView("t")
    found: dict[Any, dict[str, Any]] = {}
    for (call, order), name in zip(CALLS, NAMES, strict=True):
        ordered = f"(SELECT /*+ COALESCE(1) */ * FROM t ORDER BY {order})"
        grouped = f"GROUP BY {key}" if key else ""
        query = f"SELECT {key or 0} AS g, {call} AS c FROM {ordered} {grouped}"
        for row in spark.sql(query).toArrow().to_pylist():
            found.setdefault(row["g"], {"g": row["g"]})[name] = row["c"]
    return list(found.values())


def shown(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What can be compared: NaN is itself, and bytes are told from text."""
    return sorted([{k: repr(v) for k, v in sorted(row.items())} for row in rows], key=lambda row: row["g"])


@pytest.fixture(scope="module")
def rows(spark: Any) -> list[tuple[Any, ...]]:
    return some_rows(spark)


@pytest.mark.parametrize("size", [1 << 14, 7])
def test_it_is_of_the_values_in_their_order(
    spark: Any, rows: list[tuple[Any, ...]], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in several requests, and of those that are left."""
    monkeypatch.setattr(requests, "ROWS", size)
    with Pipeline(sql=PROGRAM, spark=spark, runner="inline") as p:
        held: list[tuple[Any, ...]] = []
        for wanted in (rows[::2], rows[20:], rows[-1:]):
            p.delete("t", [row for row in held if row not in wanted])
            p.insert("t", [row for row in wanted if row not in held])
            p.step()
            held = wanted
            for view, key in (("v", "g"), ("w", "")):
                ours = [{"g": 0, **row} for row in p[view].rows()]
                assert shown(ours) == shown(expected(spark, held, key))


def test_no_rows_at_all(spark: Any) -> None:
    select = "approx_top_k(s) AS a, hll_sketch_estimate(hll_sketch_agg(s)) AS b"
    text = f"CREATE TABLE t (s STRING); CREATE VIEW v AS SELECT {select} FROM t"
    with Pipeline(sql=text, spark=spark, runner="inline") as p:
        p.step()
        assert list(p["v"].rows()) == [{"a": [], "b": 0}]
        p.insert("t", [("x",)])
        p.step()
        p.delete("t", [("x",)])
        p.step()
        assert list(p["v"].rows()) == [{"a": [], "b": 0}]


def test_its_error_names_the_group(spark: Any) -> None:
    text = (
        "CREATE TABLE t (g INT, z BINARY); CREATE VIEW v AS SELECT g, hll_union_agg(z) AS u FROM t GROUP BY g"
    )
    with Pipeline(sql=text, spark=spark, runner="inline") as p:
        p.insert("t", [(1, None), (2, b"no sketch")])
        with pytest.raises(
            EvaluationError, match=r"view 'v': hll_union_agg\(z\) where g=2: \[HLL_INVALID_INPUT"
        ):
            p.step()


def test_what_is_random_is_refused_by_name(spark: Any) -> None:
    why = "aggregate function 'kll_sketch_agg_bigint' is not supported yet with what it keeps of its rows"
    with pytest.raises(ProgramError, match=why):
        compile_program(
            "CREATE TABLE t (i INT); CREATE VIEW v AS SELECT kll_sketch_agg_bigint(i) FROM t", session=spark
        )

"""Intervals of months, days and time as columns within a program: what Spark makes of the same, step after step."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

LOCAL = """
SELECT a, b, m, make_interval(0, a, 0, b) AS i, CAST(s AS INTERVAL) AS j
FROM (SELECT *, CASE WHEN m % 3 = 0 THEN m || ' months 36 hours -90.5 seconds' WHEN m % 3 = 1 THEN 30 * m || ' days' ELSE 'x' END AS s FROM (SELECT a % 20 AS a, b % 9 AS b, m % 4 AS m FROM t))
"""
# fmt: off
# ruff: noqa: E501  a query a line
VIEWS = {
    "spelled": "SELECT a, CAST(i AS STRING) AS i, CAST(j AS STRING) AS j FROM c",
    "computed": "SELECT CAST(i + j AS STRING) AS sum, CAST(i - j AS STRING) AS less, CAST(-j AS STRING) AS minus, CAST(j * a AS STRING) AS times FROM c",
    "moved": "SELECT CAST(TIMESTAMP'2024-01-31 10:00:00' + i AS STRING) AS t, DATE'2024-01-31' + make_interval(0, a) AS d, CAST(TIMESTAMP'2024-01-31 10:00:00' - j AS STRING) AS u FROM c",
    "chosen": "SELECT CAST(CASE WHEN a > 1 THEN i ELSE j END AS STRING) AS k, CAST(coalesce(j, i) AS STRING) AS l, i IS NULL AS n, j IS NOT NULL AS m FROM c",
    "grouped": "SELECT CAST(j AS STRING) AS j, count(*) AS n, sum(a) AS a FROM c GROUP BY j",
    "distinct_ones": "SELECT CAST(j AS STRING) AS j FROM (SELECT DISTINCT j FROM c)",
    "counted": "SELECT a, count(j) AS n, count(DISTINCT j) AS d, CAST(max_by(j, m) AS STRING) AS last, CAST(any_value(i) AS STRING) AS one FROM c GROUP BY a, b",
    "together": "SELECT CAST(j AS STRING) AS j FROM (SELECT i AS j FROM c UNION SELECT j FROM c EXCEPT ALL SELECT j FROM c WHERE a = 1)",
    "joined": "SELECT x.b, CAST(x.j AS STRING) AS j, CAST(y.i AS STRING) AS i FROM c x LEFT JOIN c y ON x.a = y.b",
    "of_others": "SELECT CAST(l[1] AS STRING) AS l, CAST(r.j AS STRING) AS r FROM (SELECT a, array(i, j) AS l, struct(j, a) AS r FROM c)",
    "unnested": "SELECT a, CAST(e AS STRING) AS e FROM c LATERAL VIEW explode(array(i, j)) x AS e",
    "before": "SELECT DISTINCT a, CAST(min_by(i, b) OVER (PARTITION BY a) AS STRING) AS i FROM c",
    "parts": "SELECT extract(MONTH FROM i) AS m, extract(DAY FROM j) AS d, extract(YEAR FROM i) AS y, extract(SECOND FROM j) AS s, extract(HOUR FROM j) AS h, extract(MINUTE FROM -j) AS n FROM c",
    "nested": "SELECT CAST(array(CAST(m || ' days' AS INTERVAL)) AS STRING) AS l, to_json(named_struct('j', CAST(m || ' days' AS INTERVAL))) AS o, hash(CAST(m || ' days' AS INTERVAL)) AS h FROM c",
    "own": "SELECT CAST(named_struct('months', a, 'days', b, 'microseconds', 3L) AS STRING) AS s FROM c",
}
# fmt: on
TABLE = table("t", "a INT, b INT, m INT")


@pytest.mark.parametrize("name", VIEWS)
def test_laws(spark: Any, name: str) -> None:
    program = Program((TABLE,), (View("v", f"WITH c AS ({LOCAL}) {VIEWS[name]}", None),))
    case, run = Case.of(program, spark), seeded_run(len(name), program, steps=2, most=10)
    laws.incremental_equals_batch(case, run, Spark(spark))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)


def test_a_local_view_of_them(spark: Any) -> None:
    text = f"CREATE TABLE t (a INT, b INT, m INT); CREATE LOCAL VIEW c AS {LOCAL}; "
    text += f"CREATE VIEW v AS {VIEWS['spelled']};"
    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("t", [(1, 2, 3), (14, None, None)])
        p.step()
        found = sorted(tuple(row.values()) for row in p["v"].rows())
    assert found == [(1, "1 months 2 days", "3 months 35 hours 58 minutes 29.5 seconds"), (14, None, None)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CREATE VIEW v AS SELECT make_interval(a) AS i FROM t",
            "column 'i' of 'v' is an INTERVAL of months",
        ),
        (
            "CREATE VIEW v AS SELECT array(make_interval(a)) AS i FROM t",
            "CAST it AS STRING, or keep it inside",
        ),
        ("CREATE TABLE u (i INTERVAL); CREATE VIEW v AS SELECT * FROM u", "type interval"),
        ("CREATE VIEW v AS SELECT a FROM t ORDER BY make_interval(a)", "ordering on type"),
        ("CREATE VIEW v AS SELECT a FROM t WHERE make_interval(a) = make_interval(1)", "ordering on type"),
        (
            "CREATE LOCAL VIEW c AS SELECT make_interval(a) AS i FROM t; CREATE VIEW v AS SELECT to_json(struct(i)) FROM c",
            "with a column of type INTERVAL",
        ),
    ],
)
def test_what_spark_or_others_couldn_t_hold_is_refused(spark: Any, text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        compile_program(f"CREATE TABLE t (a INT); {text}", session=spark)

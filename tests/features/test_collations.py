"""Grouping, ordering and comparing along a collation: by Spark's own keys of it, whatever came and went.

What is shown of several texts that are equal is the first of them, by arrival; Spark's follows from where
rows lie. So texts are compared here in lower case and without spaces at their ends.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.effort import examples

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE t (id INT, s STRING);
CREATE TABLE w (id INT, s STRING);
"""
# {c}: a collation
QUERIES = {
    "grouped": "SELECT rtrim(lower(CAST(s COLLATE {c} AS STRING))) AS l, count(*) AS n FROM t "
    "GROUP BY s COLLATE {c}",
    "counted": "SELECT count(*) AS n, sum(id) AS i FROM t GROUP BY s COLLATE {c}",
    "having": "SELECT count(*) AS n FROM t GROUP BY s COLLATE {c} HAVING s COLLATE {c} > 'b'",
    "once": "SELECT lower(CAST(s AS STRING)) AS l FROM (SELECT DISTINCT rtrim(s) COLLATE {c} AS s FROM t)",
    "number": "SELECT id % 2 AS k, count(DISTINCT s COLLATE {c}) AS n, count(s COLLATE {c}) AS m FROM t "
    "GROUP BY id % 2",
    "extremes": "SELECT rtrim(lower(CAST(min(s COLLATE {c}) AS STRING))) AS a, "
    "rtrim(lower(CAST(max(s COLLATE {c}) AS STRING))) AS b FROM t",
    "least": "SELECT id, rtrim(lower(CAST(min(s COLLATE {c}) OVER (PARTITION BY id % 2) AS STRING))) AS a "
    "FROM t",
    "rolled": "SELECT count(*) AS n, id % 2 AS k FROM t GROUP BY ROLLUP(id % 2, s COLLATE {c})",
    "ranked": "SELECT id, s, rank() OVER (ORDER BY s COLLATE {c}) AS r FROM t",
    "ordered": "SELECT id, s, dense_rank() OVER (PARTITION BY id % 2 ORDER BY s COLLATE {c} DESC) AS r "
    "FROM t",
    "parts": "SELECT id, s, count(*) OVER (PARTITION BY s COLLATE {c}) AS n FROM t",
    "within": "SELECT id, s FROM t WHERE s COLLATE {c} IN (SELECT s FROM w)",
    "without": "SELECT id, s FROM t WHERE s COLLATE {c} NOT IN (SELECT s FROM w)",
    "listed": "SELECT id, s FROM t WHERE s COLLATE {c} IN ('a', 'B ')",
    "joined": "SELECT t.id, t.s, w.id AS other FROM t LEFT JOIN w ON t.s COLLATE {c} = w.s AND t.id <= w.id",
    "same": "SELECT t.id, w.id AS other FROM t FULL JOIN w ON t.s COLLATE {c} <=> w.s",
    "alike": "SELECT id, s FROM t WHERE struct(s COLLATE {c}) = struct('A' COLLATE {c})",
    "met": "SELECT a.id, b.id AS other FROM (SELECT id, s COLLATE {c} AS s FROM t) a "
    "JOIN (SELECT id, s COLLATE {c} AS s FROM w) b ON a.s = b.s",
    "either": "SELECT rtrim(lower(CAST(s AS STRING))) AS l FROM "
    "(SELECT s COLLATE {c} AS s FROM t UNION SELECT s COLLATE {c} FROM w)",
    "less": "SELECT rtrim(lower(CAST(s AS STRING))) AS l FROM "
    "(SELECT s COLLATE {c} AS s FROM t EXCEPT SELECT s COLLATE {c} FROM w)",
    "common": "SELECT rtrim(lower(CAST(s AS STRING))) AS l FROM "
    "(SELECT s COLLATE {c} AS s FROM t INTERSECT SELECT s COLLATE {c} FROM w)",
}
COLLATIONS = ["UTF8_LCASE", "UNICODE", "UNICODE_CI", "UNICODE_CI_RTRIM", "UTF8_BINARY_RTRIM", "de_CI_AI"]
texts = st.sampled_from(["a", "A", "B", "b ", "B ", "ä", "Ä", "z", "", None])
rows = st.lists(st.tuples(st.integers(0, 3), texts), max_size=4)
steps_of = st.lists(st.tuples(rows, rows, st.lists(st.integers(0, 9), max_size=2)), min_size=1, max_size=3)


def queries(collation: str) -> dict[str, str]:
    if collation in (
        "UNICODE",
        "UTF8_BINARY_RTRIM",
        "de_CI_AI",
    ):  # of which lower case tells too much, or too little
        left_out = ("grouped", "once", "extremes", "least", "either", "less", "common")
        return {name: query.format(c=collation) for name, query in QUERIES.items() if name not in left_out}
    return {name: query.format(c=collation) for name, query in QUERIES.items()}


@pytest.fixture(scope="module", params=COLLATIONS)
def compiled(request: Any, spark: Any) -> tuple[str, Program]:
    views = "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in queries(request.param).items())
    return request.param, compile_program(TABLES + views, session=spark)


def held(pipeline: Pipeline, view: str) -> Counter[Any]:
    return Counter(tuple(row.values()) for row in pipeline[view].rows())


@examples(4)
@given(steps=steps_of, partitions=st.integers(1, 2))
def test_views_are_what_spark_has(
    spark: Any, compiled: tuple[str, Program], steps: list[Any], partitions: int
) -> None:
    collation, program = compiled
    there: dict[str, list[tuple[int, str | None]]] = {"t": [], "w": []}
    with Pipeline(program, runner="inline", partitions=partitions) as p:
        for of_t, of_w, going in steps:
            for table, came in (("t", of_t), ("w", of_w)):
                p.insert(table, came)
                there[table] += came
            for at in going:
                if there["t"]:
                    gone = there["t"].pop(at % len(there["t"]))
                    p.delete("t", [gone])
            p.step()
            for table, left in there.items():
                spark.createDataFrame(left, "id INT, s STRING").coalesce(1).createOrReplaceTempView(table)
            for view, query in queries(collation).items():
                assert held(p, view) == Counter(map(tuple, spark.sql(query).collect())), (view, there)


def test_the_first_text_of_a_group_is_shown(spark: Any) -> None:
    query = (
        "SELECT CAST(s COLLATE UTF8_LCASE AS STRING) AS s, count(*) AS n FROM t GROUP BY s COLLATE UTF8_LCASE"
    )
    program = compile_program(f"{TABLES} CREATE VIEW v AS {query};", session=spark)
    with Pipeline(program, runner="inline") as p:
        for came, gone, shown in [
            (["b", "B"], [], {("b", 2)}),
            (["a", "A"], ["b"], {("B", 1), ("a", 2)}),
            (["b"], ["a"], {("B", 2), ("A", 1)}),
        ]:
            p.insert("t", [(0, s) for s in came])
            p.delete("t", [(0, s) for s in gone])
            p.step()
            assert held(p, "v").keys() == shown


CURE = "declare STRING, and say x COLLATE name where it is compared; show CAST(x AS STRING)"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s COLLATE UTF8_LCASE AS s FROM t",
        "SELECT max(s COLLATE UTF8_LCASE) AS s FROM t",
        "SELECT DISTINCT s COLLATE UTF8_LCASE AS s FROM t",
        "SELECT lag(s COLLATE UTF8_LCASE) OVER (ORDER BY id) AS s FROM t",
    ],
)
def test_no_column_has_a_collation(spark: Any, query: str) -> None:
    with pytest.raises(ProgramError) as error:
        compile_program(f"{TABLES} CREATE VIEW v AS {query};", session=spark)
    assert f"type string collate UTF8_LCASE ({CURE})" in str(error.value)


@pytest.mark.parametrize(
    "program",
    [
        "CREATE VIEW v AS SELECT count(*) AS n FROM t GROUP BY struct(s COLLATE UTF8_LCASE);",
        "CREATE VIEW v AS SELECT count(*) AS n FROM t GROUP BY struct(array(s COLLATE UTF8_LCASE));",
        "CREATE VIEW v AS SELECT count(DISTINCT struct(s COLLATE UTF8_LCASE)) AS n FROM t;",
        "CREATE VIEW v AS SELECT rank() OVER (ORDER BY struct(s COLLATE UTF8_LCASE)) AS n FROM t;",
        "CREATE TABLE u (x STRUCT<s: STRING COLLATE UTF8_LCASE>); CREATE VIEW v AS SELECT x.s AS s FROM u;",
        "CREATE TABLE u (x ARRAY<STRUCT<s: STRING COLLATE UTF8_LCASE>>); CREATE VIEW v AS SELECT x FROM u;",
    ],
)
def test_nor_has_a_part_of_one(spark: Any, program: str) -> None:
    """Spark's own name of a struct's type doesn't say so."""
    with pytest.raises(ProgramError) as error:
        compile_program(TABLES + program, session=spark)
    assert f"type string collate UTF8_LCASE ({CURE})" in str(error.value)


def test_what_has_no_key_says_so(spark: Any) -> None:
    along = "CAST(mode(s COLLATE UTF8_LCASE) AS STRING)"
    with pytest.raises(ProgramError, match=r"with mode\(\) along a collation; CAST what it is given"):
        compile_program(f"{TABLES} CREATE VIEW v AS SELECT {along} AS m FROM t;", session=spark)
    cured = "SELECT mode(CAST(s COLLATE UTF8_LCASE AS STRING)) AS m FROM t"
    assert compile_program(f"{TABLES} CREATE VIEW v AS {cured};", session=spark).views["v"]

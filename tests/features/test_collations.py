"""Grouping, ordering and comparing along a collation: by Spark's own keys of it, whatever came and went.

What is shown of several texts that are equal is the first of them, by arrival; Spark's follows from where
rows lie. So texts are compared here in lower case and without spaces at their ends.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given
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
    "nested": "SELECT count(*) AS n FROM t GROUP BY struct(array(s COLLATE {c}), id % 2)",
    "together": "SELECT count(DISTINCT struct(s COLLATE {c}), id % 2) AS n, "
    "approx_count_distinct(s COLLATE {c}) AS m, size(collect_list(DISTINCT s COLLATE {c})) AS l FROM t",
    "before": "SELECT id, s, lag(id) OVER (PARTITION BY s COLLATE {c} ORDER BY id, s) AS b, "
    "CAST(lag(s COLLATE {c}) OVER (ORDER BY id, s) AS STRING) AS l FROM t",
    "scalar": "SELECT id, s FROM t WHERE s COLLATE {c} = (SELECT max(s COLLATE {c}) FROM w)",
    "twice": "SELECT count(*) AS n FROM (SELECT min(s COLLATE {c}) AS s FROM t GROUP BY id) GROUP BY s",
    "pivoted": "SELECT * FROM (SELECT s COLLATE {c} AS s, id % 2 AS k FROM t) PIVOT (count(*) "
    "FOR s IN ('a', 'B'))",
    "common": "SELECT rtrim(lower(CAST(s AS STRING))) AS l FROM "
    "(SELECT s COLLATE {c} AS s FROM t INTERSECT SELECT s COLLATE {c} FROM w)",
}
# Spark's max and min of what has a collation keep no copy of it, and give whatever stands there later
ASKED = {
    "extremes": "SELECT rtrim(lower(first(s, true))) AS a, rtrim(lower(last(s, true))) AS b FROM "
    "(SELECT s FROM t ORDER BY s COLLATE {c} LIMIT 100)",
    "least": "SELECT t.id, rtrim(lower(o.s)) AS a FROM t LEFT JOIN (SELECT id % 2 AS k, s, row_number() "
    "OVER (PARTITION BY id % 2 ORDER BY s COLLATE {c} NULLS LAST) AS n FROM t) o ON o.n = 1 AND "
    "o.k = t.id % 2",
    "scalar": "SELECT id, s FROM t WHERE s COLLATE {c} = "
    "(SELECT s COLLATE {c} AS s FROM w ORDER BY s DESC NULLS LAST LIMIT 1)",
    "twice": "SELECT count(*) AS n FROM (SELECT s, row_number() OVER (PARTITION BY id ORDER BY s COLLATE {c} "
    "NULLS LAST) AS n FROM t) WHERE n = 1 GROUP BY s COLLATE {c}",
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


ALL = [(i % 4, s) for i, s in enumerate(["a", "A", "B", "b ", "B ", "ä", "Ä", "z", "", None])]


@examples(1)
@given(steps=steps_of, partitions=st.integers(1, 2))
@example(steps=[(ALL, ALL[3:5], []), ([], ALL[:2], [1, 3]), (ALL[:1], [], [0])], partitions=2)
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
                asked = ASKED.get(view, query).format(c=collation)
                found = Counter(map(tuple, spark.sql(asked).collect()))
                assert dict(held(p, view)) == dict(found), (view, there)


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


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("SELECT s COLLATE UTF8_LCASE AS s FROM t", "string collate UTF8_LCASE"),
        ("SELECT max(s COLLATE UNICODE) AS s FROM t", "string collate UNICODE"),
        ("SELECT s COLLATE UTF8_BINARY AS s FROM t", "string collate UTF8_BINARY"),
        ("SELECT DISTINCT array(s COLLATE UTF8_LCASE) AS s FROM t", "array<string collate UTF8_LCASE>"),
        ("SELECT lag(s COLLATE UTF8_LCASE) OVER (ORDER BY id) AS s FROM t", "string collate UTF8_LCASE"),
        (
            "SELECT map(s, struct(s COLLATE UNICODE AS u)) AS s FROM t",
            "map<string, struct<`u`: string collate UNICODE>>",
        ),
        ("SELECT CAST(s COLLATE UTF8_LCASE AS STRING) AS s FROM t", "string"),
    ],
)
def test_a_view_shows_its_collation(spark: Any, query: str, shown: str) -> None:
    program = compile_program(f"{TABLES} CREATE VIEW v AS {query};", session=spark)
    assert [column.ddl for column in program.views["v"].schema] == [shown]


IN_LOWER, IGNORED = "s COLLATE UTF8_LCASE", "s COLLATE UNICODE_CI"
UNKEYED, WHY = "s COLLATE UNICODE_AI", "ICU's keys of it take 'ß' for 'ss', and Spark's comparison doesn't"
REFUSED = {
    f"SELECT mode({IN_LOWER}) AS m FROM t": "with mode() along a collation; CAST what it is given",
    f"SELECT CAST(mode({IN_LOWER}) AS STRING) AS m FROM t": "with mode() along a collation; CAST",
    f"SELECT listagg(DISTINCT {IN_LOWER}) AS m FROM t": "with listagg() along a collation; CAST",
    f"SELECT {IN_LOWER} AS s FROM t EXCEPT ALL SELECT {IN_LOWER} FROM w": "EXCEPT ALL along a collation",
    f"SELECT {IGNORED} AS s FROM t INTERSECT ALL SELECT {IGNORED} FROM w": "INTERSECT ALL along a collation",
    f"SELECT count(*) AS n FROM t GROUP BY map(id, {IN_LOWER})": "its texts are compared by a collation",
    f"SELECT count(*) AS n FROM t GROUP BY {UNKEYED}": WHY,
    f"SELECT DISTINCT struct({UNKEYED}) AS s FROM t": WHY,
    f"SELECT max({UNKEYED}) AS n FROM t": WHY,
    f"SELECT count(DISTINCT {UNKEYED}) AS n FROM t": WHY,
    f"SELECT rank() OVER (ORDER BY {UNKEYED}_RTRIM) AS n FROM t": WHY,
    f"SELECT * FROM (SELECT {UNKEYED} AS s FROM t) PIVOT (count(*) FOR s IN ('a'))": WHY,
    "SELECT id FROM t ORDER BY s COLLATE de_AI LIMIT 1": WHY,
    f"SELECT collect_set({IN_LOWER}) AS n FROM t": 'can\'t be "MAP" or "COLLATED STRING"',
}


def test_pairs_are_compared_where_there_is_no_key(spark: Any) -> None:
    """'ß' and 'ss' have one key."""
    views = f"""
    CREATE VIEW j AS SELECT t.s, w.s AS u FROM t JOIN w ON t.{UNKEYED} = w.s;
    CREATE VIEW l AS SELECT s FROM t WHERE {UNKEYED} IN (SELECT s FROM w);
    CREATE VIEW c AS SELECT {UNKEYED} = 'ss' AS e FROM t;"""
    with Pipeline(compile_program(TABLES + views, session=spark), runner="inline") as p:
        p.insert("t", [(1, "ä"), (2, "ss"), (3, "SS")])
        p.insert("w", [(1, "a"), (2, "ß")])
        p.step()
        assert held(p, "j").keys() == {("ä", "a")}
        assert held(p, "l").keys() == {("ä",)}
        assert held(p, "c") == {(True,): 1, (False,): 2}


@pytest.mark.parametrize(("query", "why"), REFUSED.items())
def test_what_has_no_key_says_so(spark: Any, query: str, why: str) -> None:
    with pytest.raises(ProgramError) as error:
        compile_program(f"{TABLES} CREATE VIEW v AS {query};", session=spark)
    assert why in str(error.value)

"""Functions written in Python, through the laws: against Spark's own expressions of the same meaning."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dbsp
from dbsp.circuits.errors import EvaluationError, ProgramError, StateError
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Way
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

EVENTS = table(
    "e", "k BIGINT, i INT, s STRING, d DOUBLE, m DECIMAL(10,2), ts TIMESTAMP, b BOOLEAN, a ARRAY<INT>"
)
FUNCTIONS = """
CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON DETERMINISTIC AS $$
  if x is None:  # it's ${nothing} to fill in; -- {
      return None
  return x * 2
$$;
CREATE FUNCTION shout(s STRING, n INT) RETURNS STRING LANGUAGE PYTHON PARAMETER STYLE ARROW HANDLER 'go' AS $$
import pyarrow.compute as pc

def go(text, number):
    return pc.if_else(pc.greater(number, 0), pc.utf8_upper(text), text)
$$;
CREATE FUNCTION ratio(a DOUBLE, b DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON PARAMETER STYLE PANDAS HANDLER 'ratio' AS $$
def ratio(batches):
    for a, b in batches:
        yield a / (b * 2)
$$;
CREATE FUNCTION counted(a ARRAY<INT>) RETURNS INT LANGUAGE PYTHON AS $$ return -1 if a is None else len(a) $$;
CREATE AGGREGATE FUNCTION known(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$
  return sum(value is not None for value in x)
$$;
CREATE AGGREGATE FUNCTION joined(s STRING, n INT) RETURNS ARRAY<STRING> LANGUAGE PYTHON PARAMETER STYLE ARROW AS $$
  return sorted(f"{a}{b}" for a, b in zip(s.to_pylist(), n.to_pylist()))
$$;
"""


@dbsp.udf(returns="BIGINT", arguments=["BIGINT", "BIGINT"])
def plus(x: pa.Array, y: pa.Array) -> pa.Array:
    return pc.add(x, y)


@dbsp.udf(returns="TIMESTAMP", arguments=["TIMESTAMP"], style="pandas", name="same_time")
def same(moments: Any) -> Any:
    return moments


@dbsp.udaf(returns="DECIMAL(20, 2)", arguments=["DECIMAL(10, 2)"], name="all_of")
def total(x: pa.Array) -> pa.Scalar:
    return pc.sum(x)


DECLARED = [plus.declared, same.declared, total.declared]

# ours, and what Spark is asked instead
# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "values": ("SELECT k, twice(i) AS a FROM e WHERE twice(k) > 2 OR i IS NULL", "SELECT k, CAST(i AS BIGINT) * 2 AS a FROM e WHERE k * 2 > 2 OR i IS NULL"),
    "arrow": ("SELECT k, shout(s, i) AS a, shout('ä', 1) AS b, plus(i, k) AS c FROM e", "SELECT k, if(i > 0, upper(s), if(i IS NULL, NULL, s)) AS a, 'Ä' AS b, i + k AS c FROM e"),
    "pandas": ("SELECT ratio(i, 4) AS a, same_time(ts) AS b FROM e WHERE i = i", "SELECT CAST(i AS DOUBLE) / 8 AS a, ts AS b FROM e WHERE i = i"),
    "nested": ("SELECT counted(a) AS n, transform(a, x -> twice(x)) AS t FROM e", "SELECT coalesce(size(a), -1) AS n, transform(a, x -> CAST(x AS BIGINT) * 2) AS t FROM e"),
    "keys and conditions": ("SELECT twice(i) AS t, count(*) AS n FROM e GROUP BY twice(i) HAVING plus(count(*), 1) > 2", "SELECT CAST(i AS BIGINT) * 2 AS t, count(*) AS n FROM e GROUP BY 1 HAVING count(*) > 1"),
    "join": ("SELECT x.i, y.k FROM e x LEFT JOIN e y ON twice(x.i) = y.k AND twice(y.i) >= 0", "SELECT x.i, y.k FROM e x LEFT JOIN e y ON x.i * 2 = y.k AND y.i >= 0"),
    "over aggregates": ("SELECT k, twice(max(i)) AS m, max(twice(i)) AS n FROM e GROUP BY k", "SELECT k, CAST(max(i) AS BIGINT) * 2 AS m, max(CAST(i AS BIGINT) * 2) AS n FROM e GROUP BY k"),
    "aggregate": ("SELECT k, known(i) AS n, joined(s, i) AS j, all_of(m) AS t FROM e GROUP BY k",
                  "SELECT k, count(i) AS n, sort_array(collect_list(coalesce(s, 'None') || coalesce(i, 'None'))) AS j, CAST(sum(m) AS DECIMAL(20,2)) AS t FROM e GROUP BY k"),
    "aggregate with DISTINCT and FILTER": ("SELECT k, known(DISTINCT i) AS n, known(i) FILTER (WHERE b) AS f FROM e GROUP BY k",
                  "SELECT k, count(DISTINCT i) AS n, if(count_if(b) = 0, NULL, count(i) FILTER (WHERE b)) AS f FROM e GROUP BY k"),
    "aggregate over windows": ("SELECT k, known(i) OVER (PARTITION BY k) AS n, known(i) FILTER (WHERE b) OVER (PARTITION BY k) AS f FROM e",
                  "SELECT k, count(i) OVER (PARTITION BY k) AS n, if(count_if(b) OVER (PARTITION BY k) = 0, NULL, count(if(b, i, NULL)) OVER (PARTITION BY k)) AS f FROM e"),
    "aggregate of everything": ("SELECT known(k) AS n, twice(known(i)) + 1 AS f FROM e", "SELECT if(count(*) = 0, NULL, count(k)) AS n, if(count(*) = 0, NULL, count(i) * 2 + 1) AS f FROM e"),
}
# fmt: on


def case_of(name: str, spark: Any) -> Case:
    ours, theirs = (Program((EVENTS,), (View("v", query, None),)) for query in QUERIES[name])
    return Case(theirs, compile_program(FUNCTIONS + ours.text, session=spark, functions=DECLARED))


@pytest.mark.parametrize("name", QUERIES)
def test_equal_to_spark(spark: Any, name: str) -> None:
    case = case_of(name, spark)
    run = seeded_run(len(name), case.program, steps=3, most=8)
    laws.incremental_equals_batch(case, run, Spark(spark))


@pytest.mark.parametrize("name", QUERIES)
def test_other_laws(spark: Any, name: str) -> None:
    case = case_of(name, spark)
    run = seeded_run(7, case.program, steps=4, most=5)
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)


@pytest.mark.parametrize("name", ["arrow", "aggregate"])
def test_on_spark(spark: Any, name: str) -> None:
    case = case_of(name, spark)
    run = seeded_run(3, case.program, steps=2, most=6)
    laws.the_way_changes_no_byte(case, run, Way(runner="spark", partitions=2, spark=spark))


# ---- errors


FAILING = {
    "CREATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$\n  return 6 // a\n$$;"
    "CREATE VIEW v AS SELECT f(x - 7) AS y FROM t": (
        "view 'v': f(x - 7) where x=7: [PYTHON_FUNCTION_FAILED] function 'f': ZeroDivisionError: "
        "integer division or modulo by zero (p.sql:2)"
    ),
    "CREATE AGGREGATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ return a[1] $$;"
    "CREATE VIEW v AS SELECT k, f(x) AS y FROM t GROUP BY k": (
        "view 'v': f(x) where k=2: [PYTHON_FUNCTION_FAILED] function 'f': IndexError: "
        "list index out of range (p.sql:1)"
    ),
    "CREATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ return 'x' $$;"
    "CREATE VIEW v AS SELECT f(x) AS y FROM t": (
        "view 'v': f(x): [PYTHON_FUNCTION_RESULT] function 'f' returned what is no int64: "
    ),
    "CREATE VIEW v AS SELECT text_of(x) AS y FROM t": (
        "view 'v': text_of(x): [PYTHON_FUNCTION_RESULT] function 'text_of' returned string, "
        "but is declared to return int64"
    ),
    "CREATE VIEW v AS SELECT short(x) AS y FROM t": (
        "view 'v': short(x): [PYTHON_FUNCTION_RESULT] function 'short' returned 1 values for 3 rows"
    ),
    "CREATE VIEW v AS SELECT one(x) AS y FROM t": (
        "view 'v': one(x): [PYTHON_FUNCTION_RESULT] function 'one' returned int instead of a pyarrow array"
    ),
}


@pytest.mark.parametrize("sql", FAILING)
def test_a_failing_function_fails_the_step(spark: Any, sql: str) -> None:
    wrong = {"text_of": lambda x: x.cast("string"), "short": lambda x: x[:1], "one": lambda x: 1}
    functions = [
        dbsp.udf(returns="BIGINT", arguments=["BIGINT"], name=name)(run).declared
        for name, run in wrong.items()
    ]
    text = f"CREATE TABLE t (k INT, x BIGINT); {sql}"
    program = compile_program(text, "p.sql", session=spark, functions=functions)
    with dbsp.Pipeline(program, runner="inline") as pipeline:
        pipeline.insert("t", [(1, 3), (1, 5), (2, 7)])
        with pytest.raises(EvaluationError) as raised:
            pipeline.step()
        assert str(raised.value).startswith(FAILING[sql])
        assert pipeline.last_step == 0


REFUSED = {
    "CREATE FUNCTION f(a INT) LANGUAGE PYTHON AS $$ $$": "1:26: function 'f' has no RETURNS TYPE: CREATE",
    "CREATE FUNCTION f() RETURNS INT LANGUAGE PYTHON AS $$ $$": "1:19: function 'f' has no parameters, so it is",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE SQL AS $$ $$": "1:47: LANGUAGE SQL is not supported; a function's",
    "CREATE FUNCTION f(a INT) RETURNS INT AS $$ $$": "1:41: function 'f' is not written in Python: CREATE",
    "CREATE FUNCTION f(a INT, a INT) RETURNS INT LANGUAGE PYTHON AS $$ $$": "1:26: 'a' can't be a parameter's name",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON NOT DETERMINISTIC AS $$ $$": "1:54: function 'f' must be DET",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON PARAMETER STYLE ARROW AS $$ $$": "1:79: PARAMETER STYLE ARROW needs",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON AS $$\nx = 1\n  return a $$": "3:3: function 'f': unexpected indent",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON HANDLER 'g' AS $$ x = 1 $$": "1:69: function 'f': its text defines no 'g'",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON HANDLER 'g' AS $$ import nothing_like_it $$": "1:69: function 'f': its text fails: Mod",
    "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON AS $$": "1:57: $$ is never closed",
    "CREATE FUNCTION upper(a INT) RETURNS INT LANGUAGE PYTHON AS $$ return a $$": "1:17: 'upper' is a function of Spark's",
    "CREATE FUNCTION f(a INTT) RETURNS INT LANGUAGE PYTHON AS $$ return a $$": '1:21: Unsupported data type "INTT"',
}
CALLS = {
    "SELECT f(x) FROM t": "column 1 calls 'f' and has no name; name it with AS",
    "SELECT f(x, 1) AS y FROM t": "The `f` requires 1 parameters but the actual number is 2",
    "SELECT g(x) AS y FROM t": "unknown function 'g'; the program's own: f",
    "SELECT ff(x) AS y FROM t": "unknown function 'ff'; the program's own: f; did you mean 'f'?",
    "SELECT f(true) AS y FROM t": "Cannot up cast ",
}


def test_only_columns_that_call_a_function_need_a_name(spark: Any) -> None:
    function = "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON AS $$ return a $$;"
    text = f"CREATE TABLE t (x INT); {function} CREATE VIEW v AS SELECT nullif(x, 1) FROM t"
    assert [column.name for column in compile_program(text, session=spark).views["v"].schema] == [
        "nullif(x, 1)"
    ]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_function_is_refused(spark: Any, text: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{text}; CREATE VIEW v AS SELECT 1 AS a", "p.sql", session=spark)
    assert str(raised.value).startswith(f"p.sql:{REFUSED[text]}")


@pytest.mark.parametrize("query", CALLS)
def test_what_is_no_call_is_refused(spark: Any, query: str) -> None:
    function = "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE PYTHON AS $$ return a $$;"
    with pytest.raises(ProgramError) as raised:
        compile_program(
            f"CREATE TABLE t (x INT); {function}\nCREATE VIEW v AS {query}", "p.sql", session=spark
        )
    assert CALLS[query] in str(raised.value)
    assert str(raised.value).startswith("p.sql:2:")


# ---- identity


def offset(by: int) -> Any:
    @dbsp.udf(returns="BIGINT", arguments=["BIGINT"])
    def moved(x: pa.Array) -> pa.Array:
        return pc.add(x, by)

    return moved


def test_what_a_function_computes_with_is_its_identity() -> None:
    assert offset(1).declared == offset(1).declared
    assert offset(1).declared != offset(2).declared
    assert plus.declared != same.declared


def test_state_belongs_to_its_functions(spark: Any, tmp_path: Any) -> None:
    text = "CREATE TABLE t (x BIGINT); CREATE VIEW v AS SELECT moved(x) AS y FROM t"
    open_ = {"sql": text, "state": tmp_path / "s", "spark": spark}
    for _ in range(2):
        with dbsp.Pipeline(**open_, functions=[offset(1)]) as pipeline:
            pipeline.insert("t", [(1,)])
            pipeline.step()
            assert {"y": 2} in pipeline["v"].rows()
    with pytest.raises(StateError):
        dbsp.Pipeline(**open_, functions=[offset(2)])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT {one} AS a",
        "SELECT {one} AS a LIMIT 1",
        "SELECT {one} AS a UNION ALL SELECT k FROM e",
        "SELECT {one} AS a FROM (SELECT DISTINCT k + 1 FROM e)",
        "SELECT {c} AS a, c FROM VALUES (1L), (2L), (NULL) AS u(c)",
        "SELECT c FROM VALUES (1L), (2L) AS u(c) WHERE {c} = 4",
        "SELECT k FROM e WHERE k IN (SELECT {c} FROM VALUES (1L), (2L) AS u(c))",
        "SELECT {c} AS a, count(*) AS n FROM VALUES (1L), (1L), (2L) AS u(c) GROUP BY {c}",
    ],
)
def test_constants_and_constant_rows_are_given_to_functions(spark: Any, query: str) -> None:
    program = "CREATE TABLE e (k BIGINT);" + FUNCTIONS + "CREATE VIEW v AS "
    ours = query.format(one="twice(1)", c="twice(c)")
    with dbsp.Pipeline(compile_program(program + ours, session=spark), runner="inline") as p:
        p.insert("e", [(2,), (4,), (4,)])
        p.step()
        found = p["v"].rows()
    spark.sql("SELECT * FROM VALUES (2L), (4L), (4L) AS e(k)").createOrReplaceTempView("e")
    theirs = spark.sql(query.format(one="2L", c="c * 2")).collect()
    assert sorted(map(str, found)) == sorted(str(row.asDict()) for row in theirs)

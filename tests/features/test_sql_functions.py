"""Functions written in SQL, through the laws: Spark defines and runs the same text."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import EvaluationError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING, d DOUBLE, m DECIMAL(10,2), ts TIMESTAMP, a ARRAY<INT>")
CUSTOMERS = table("c", "k BIGINT, s STRING, j INT", key=("k",))
TABLES = (EVENTS, CUSTOMERS)

# fmt: off
# ruff: noqa: E501  a function, a query a line
FUNCTIONS = (
    "next_one(x INT) RETURNS INT RETURN x + 1",
    "twice_next(x INT) RETURNS INT LANGUAGE SQL DETERMINISTIC CONTAINS SQL COMMENT 'of a function' RETURN next_one(x) * 2",
    "labelled(x INT DEFAULT 7, s STRING DEFAULT '-') RETURNS STRING RETURN s || ':' || x",
    "untyped(x INT, m DECIMAL(10, 2)) RETURN x * m",
    "seven() RETURNS INT RETURN 7",
    "narrow(x BIGINT) RETURNS TINYINT RETURN x",
    "share(x DOUBLE, y DOUBLE) RETURNS DOUBLE RETURN CASE WHEN y = 0 THEN NULL ELSE x / y END",
    "largest_below(x BIGINT) RETURNS INT RETURN (SELECT max(j) FROM c WHERE c.k < x)",
    "known(x BIGINT) RETURNS BOOLEAN RETURN EXISTS (SELECT 1 FROM c WHERE c.k = x)",
    "customers_of(x BIGINT) RETURNS TABLE (name STRING, j INT) RETURN SELECT s, j FROM c WHERE c.k <= x",
    "doubled(x INT) RETURNS TABLE (y INT, z INT COMMENT 'twice') RETURN SELECT x, x * 2",
    "grouped(least INT) RETURNS TABLE (k BIGINT, n BIGINT) RETURN SELECT k, count(*) FROM e WHERE i >= least GROUP BY k",
    "parts(s STRING) RETURNS ARRAY<STRING> RETURN transform(split(s, ''), x -> upper(x))",
)
QUERIES = {
    "one": "SELECT k, next_one(i) AS a, next_one(3) AS b FROM e",
    "of a function": "SELECT k, twice_next(i) AS a FROM e WHERE twice_next(k) > 2",
    "defaults and names": "SELECT labelled() AS a, labelled(i) AS b, labelled(s => s) AS c, labelled(s => s, x => i) AS d FROM e",
    "of inferred types": "SELECT untyped(i, m) AS a, seven() AS b, sum(untyped(i, m)) OVER (PARTITION BY k) AS c FROM e",
    "casts": "SELECT narrow(i) AS a, share(i, k) AS b, share(i, '3') AS c FROM e",
    "keys and aggregates": "SELECT next_one(i) AS n, count(*) AS c, max(next_one(k)) AS m FROM e GROUP BY next_one(i) HAVING next_one(count(*)) > 2",
    "joins": "SELECT e.k, c.j FROM e LEFT JOIN c ON next_one(e.i) = c.k AND seven() > c.j",
    "sub-queries": "SELECT k, largest_below(k) AS m, known(k) AS b FROM e; SELECT k FROM e WHERE known(i) OR largest_below(i) > 0",
    "tables": "SELECT * FROM grouped(0); SELECT g.k, c.j FROM grouped(least => 1) g JOIN c ON g.k = c.k",
    "lateral tables": "SELECT e.k, f.name FROM e, LATERAL customers_of(e.k) f; SELECT k, y, z FROM e, LATERAL doubled(e.i)",
    "lambdas": "SELECT k, parts(s) AS p, transform(a, x -> x + 1) AS t FROM e",
    "over a view": "SELECT k, next_one(i) AS i FROM e; SELECT twice_next(i) AS t, count(*) AS n FROM v GROUP BY 1",
}
# fmt: on


@pytest.fixture(scope="module")
def oracle(spark: Any) -> Spark:
    """Spark knows the functions, too."""
    for one in TABLES:
        columns = ", ".join(f"{column.name} {column.type}" for column in one.columns)
        spark.createDataFrame([], columns).createOrReplaceTempView(one.name)
    for function in FUNCTIONS:
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function}")
    return Spark(spark)


def case_of(name: str, spark: Any) -> Case:
    views = tuple(View(v, query, None) for v, query in zip("vw", QUERIES[name].split("; "), strict=False))
    program = Program(TABLES, views)
    tables = "".join(one.ddl for one in TABLES)
    functions = "".join(f"CREATE FUNCTION {function};\n" for function in FUNCTIONS)
    text = tables + functions + "".join(view.ddl for view in views)
    return Case(program, compile_program(text, session=spark))


@pytest.mark.parametrize("name", QUERIES)
def test_equal_to_spark(spark: Any, oracle: Spark, name: str) -> None:
    case = case_of(name, spark)
    run = seeded_run(len(name), case.program, steps=3, most=8)
    laws.incremental_equals_batch(case, run, oracle, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)


T = "CREATE TABLE t (x INT, s STRING); "


def test_a_program_means_what_its_functions_say(spark: Any) -> None:
    def fingerprint(body: str, name: str = "f", query: str = "f(x)") -> str:
        function = f"CREATE OR REPLACE TEMPORARY FUNCTION {name}(x INT) RETURNS INT RETURN {body}; "
        return compile_program(
            f"{T}{function}CREATE VIEW v AS SELECT {query} AS y FROM t", session=spark
        ).fingerprint

    assert fingerprint("x + 1") == fingerprint("x  +  1 /* the same */") == fingerprint("x + 1", "g", "g(x)")
    assert fingerprint("x + 1") == fingerprint("0", query="x + 1")
    assert fingerprint("x + 1") != fingerprint("x + 2")


def test_a_failing_function_fails_the_step(spark: Any) -> None:
    text = f"{T}CREATE FUNCTION f(x INT) RETURNS INT RETURN 6 DIV x; CREATE VIEW v AS SELECT f(x) AS y FROM t"
    with Pipeline(sql=text, spark=spark, runner="inline") as pipeline:
        pipeline.insert("t", [(0, "a")])
        with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
            pipeline.step()


REFUSED = {
    "CREATE FUNCTION upper(x INT) RETURN x": "1:51: 'upper' is a function of Spark's; choose another name",
    "CREATE FUNCTION f(x INT) RETURN x; CREATE FUNCTION F(x INT) RETURN x": (
        "1:86: function 'F' is defined twice"
    ),
    "CREATE FUNCTION f(x INT) RETURN y + 1": "1:67: unknown column 'y'",
    "CREATE FUNCTION f(x INT) RETURN\n  g(x)": "1:51: unknown function 'g'",
    "CREATE FUNCTION f(x INT) RETURN f(x)": "1:51: unknown function 'f'",
    "CREATE FUNCTION f(x INTT) RETURN x": '1:55: Unsupported data type "INTT"',
    "CREATE FUNCTION f(x INT) RETURN (SELECT max(x) FROM tt)": "1:87: unknown table 'tt'",
    "CREATE FUNCTION f(x INT) RETURN sum(x)": "1:51: User defined function is invalid: SQL scalar function",
    "CREATE FUNCTION f(x INT) RETURN 1 +": "1:70: syntax error at or near end of input",
    "CREATE FUNCTION f(x INT) RETURN DATE 'today'": "1:67: DATE 'today' would stay what it is when",
    "CREATE FUNCTION f(x INT) RETURN rand() + x; CREATE VIEW w AS SELECT f(x) AS y FROM t": (
        "1:96: rand() is not deterministic"
    ),
    "CREATE FUNCTION f(x INT) RETURN x; CREATE VIEW w AS SELECT f(x, 1) AS y FROM t": (
        "1:94: The `f` requires 1 parameters but the actual number is 2"
    ),
    "CREATE FUNCTION f(x INT) RETURN 1 DIV 0; CREATE VIEW w AS SELECT f(x) AS y FROM t": (
        "1:93: Division by zero."
    ),
    "CREATE FUNCTION f(s STRING) RETURN s; CREATE FUNCTION g(s STRING) RETURNS TABLE (w STRING) "
    "RETURN SELECT w FROM explode(split(f(s), '')) AS q(w)": (
        "1:161: Using SQL function `f` in what a table function is given is not supported; call it in a sub-query "
        "beneath, as FROM (SELECT f(x) AS y FROM t)"
    ),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_wrong_is_said_where_it_stands(spark: Any, sql: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{T}{sql}; CREATE VIEW v AS SELECT x FROM t", "p.sql", session=spark)
    assert str(raised.value).startswith(f"p.sql:{REFUSED[sql]}")

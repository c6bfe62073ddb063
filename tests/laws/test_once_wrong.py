"""Queries that once crashed, or were answered wrongly: each equals Spark, step by step."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import Program, View, table
from tests.generators.strategies import Change, Run
from tests.laws.laws import Case, Running
from tests.laws.test_mutated_programs import difference
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

TABLES = (
    table("t", "k INT, x INT, s STRING, dt DATE, ts TIMESTAMP, d DOUBLE, ys ARRAY<INT>"),
    table("u", "k INT, x INT, s STRING"),
)
_TS = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
_US = [(1, 5, "a"), (1, 6, "b"), (2, 7, None)]
RUN: Run = [
    {
        "t": [
            Change("insert", (1, 2, "ab", date(2024, 1, 2), _TS, 1.5, [32, 97])),
            Change("insert", (1, 3, "B", None, None, None, None)),
        ],
        "u": [Change("insert", row) for row in _US],
    },
    {
        "t": [Change("insert", (2, None, None, date(2024, 1, 2), _TS, 0.0, [3]))],
        "u": [Change("retract", _US[0]), Change("insert", (3, 8, "z"))],
    },
]
QUERIES = """
SELECT aggregate(ys, (0 AS sum, 0 AS n), (acc, x) -> (acc.sum + x, acc.n + 1), acc -> acc.sum / acc.n) FROM t
SELECT aggregate(ys, named_struct('a',0,'b',0), (acc, x) -> named_struct('b',acc.a+x,'a',acc.b+1), acc -> acc) FROM t
SELECT named_struct('a',x,'b',k) FROM t UNION ALL SELECT named_struct('b',x,'a',k) FROM u
SELECT named_struct('a',x,'b',k) FROM t UNION SELECT named_struct('b',x,'a',k) FROM u
SELECT t.x FROM t JOIN u ON named_struct('a',t.k,'b',t.k) = named_struct('c',u.k,'d',u.k)
SELECT t.x FROM t WHERE named_struct('a',t.k,'b',t.x) IN (SELECT named_struct('c',u.k,'d',u.x) FROM u)
SELECT t.x FROM t WHERE named_struct('a',t.k,'b',t.x) NOT IN (SELECT named_struct('c',u.k,'d',u.x) FROM u)
SELECT t.x FROM t WHERE named_struct('a',t.k,'b',t.x) IN (named_struct('c',1,'d',2), named_struct('e',1,'d',3))
SELECT lag(named_struct('a',x),1,named_struct('b',7)) OVER (PARTITION BY k ORDER BY d) FROM t
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k=t.k LIMIT 1)
SELECT k, (SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY x) r FROM u WHERE u.k=t.k) q) FROM t
SELECT k FROM t WHERE EXISTS (SELECT row_number() OVER (ORDER BY x) FROM u WHERE u.k=t.k)
SELECT k FROM t WHERE x IN (SELECT row_number() OVER (ORDER BY x) + 1 FROM u WHERE u.k=t.k)
SELECT t.k,y.r FROM t, LATERAL (SELECT sum(x) OVER (ORDER BY x) r FROM u WHERE u.k=t.k) y
SELECT count(*) OVER () FROM t
SELECT rank() OVER (ORDER BY 1), count(*) OVER () FROM t
SELECT k, count(*) OVER (PARTITION BY 1) FROM t
SELECT 1 FROM (SELECT * EXCEPT (k,x,s) FROM u)
SELECT count(*) FROM (SELECT * EXCEPT (k,x,s) FROM u)
SELECT DISTINCT * FROM (SELECT * EXCEPT (k,x,s) FROM u)
SELECT 1 FROM (SELECT * EXCEPT (k,x,s) FROM u) a, (SELECT * EXCEPT (k,x,s) FROM u) b
SELECT INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND FROM t
SELECT CAST(INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND AS STRING), x FROM t
SELECT to_date(dt,'yyyy-MM-dd') FROM t
SELECT to_date(ts,'yyyy-MM-dd') FROM t
SELECT to_timestamp(dt,'yyyy-MM-dd') FROM t
SELECT to_timestamp(ts,'yyyy-MM-dd') FROM t
SELECT try_to_timestamp(ts,'yyyy-MM-dd') FROM t
SELECT to_timestamp_ntz(ts,'yyyy-MM-dd') FROM t
SELECT to_timestamp_ntz(dt,'yyyy-MM-dd') FROM t
SELECT to_timestamp_ltz(dt,'yyyy-MM-dd') FROM t
SELECT to_timestamp_ltz(ts,'yyyy-MM-dd') FROM t
SELECT try_to_date(ts,'yyyy-MM-dd') FROM t
SELECT unix_timestamp(ts,'yyyy-MM-dd'), to_unix_timestamp(dt,'yyyy-MM-dd'), unix_timestamp(dt) FROM t
SELECT date_format(dt,'yyyy'), from_unixtime(x,'yyyy') FROM t
SELECT concat_ws(s, 'a', NULL) FROM t
SELECT concat_ws(s, NULL) FROM t
SELECT concat_ws(s, array('a','b'), 'c') FROM t
SELECT concat_ws(s, s, array('a',NULL), 'c') FROM t
SELECT concat_ws(s) FROM t
SELECT concat_ws(NULL, s) FROM t
SELECT concat_ws(',', array('a','b')) FROM t
SELECT 1 AS c FROM t WHERE 1/(x-2)=1 HAVING 1<2
SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE 1/(x-5) > 0 HAVING 1 < 2)
SELECT unbase64(s || 'cd') FROM t
SELECT unbase64(s || ' ab cdef= = ') FROM t
SELECT try_to_binary(s || ' ab cdef= = ', 'base64') FROM t
SELECT unbase64(s) FROM t
SELECT * FROM (SELECT k, rank() OVER (ORDER BY 1) r FROM t) WHERE r < 2
SELECT * FROM (SELECT row_number() OVER (ORDER BY 1) r FROM t) WHERE r < 2
SELECT from_base32(s || 'CDEFGH77A') FROM t
""".strip().splitlines()
# of what nobody reads
UNREAD = """
SELECT count(*) FROM (SELECT 10 / d FROM t)
SELECT count(*) FROM (SELECT 10 / d FROM t UNION ALL SELECT x FROM u)
SELECT u.k FROM u, (SELECT 10 / d FROM t)
SELECT count(*) FROM (SELECT 10 / d FROM t) LEFT JOIN (SELECT x / 0 FROM u) ON true
SELECT count(*) FROM (SELECT 10 / d, explode(ys) FROM t)
SELECT count(*) FROM (SELECT k, sum(10 / d) FROM t GROUP BY k)
SELECT k, (SELECT count(*) FROM (SELECT 10 / d FROM t)) FROM u
SELECT count(*) FROM (SELECT 10 / d AS a, row_number() OVER (ORDER BY x) AS r FROM t)
""".strip().splitlines()
REFUSED = {
    "SELECT * EXCEPT (k, x, s) FROM u": "view 'v' has no columns",
    "FROM u |> DROP k, x, s": "view 'v' has no columns",
    "SELECT unbase64(' ab cdef= = ') FROM t": "Spark can't compute a constant: Input byte array has wrong",
}
# any rows will do: how many there are is said
LIMITED = {
    "SELECT (SELECT s FROM u WHERE u.k = t.k LIMIT 1) FROM t": [2, 3],
    "SELECT k FROM t WHERE x IN (SELECT x - 4 FROM u WHERE u.k = t.k LIMIT 2)": [1, 1],
    "SELECT k FROM t WHERE 6 IN (SELECT x FROM u WHERE u.k = t.k LIMIT 2)": [2, 2],
    "SELECT t.k, y.x FROM t, LATERAL (SELECT x FROM u WHERE u.k = t.k LIMIT 1) y": [2, 3],
    "SELECT row_number() OVER (ORDER BY 1) FROM t": [2, 3],
}


@pytest.fixture(scope="module")
def oracle(spark: Any) -> Spark:
    return Spark(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_equals_spark(spark: Any, oracle: Spark, query: str) -> None:
    program = Program(TABLES, (View("v", query, None),))
    assert difference(spark, oracle, program, RUN) is None


@pytest.mark.parametrize("query", UNREAD)
def test_what_nobody_reads_fails_nowhere(spark: Any, oracle: Spark, query: str) -> None:
    # Spark computes all of rows that it is given by its driver, as no table's are
    rules, local = "spark.sql.optimizer.excludedRules", "ConvertToLocalRelation"
    spark.conf.set(rules, f"org.apache.spark.sql.catalyst.optimizer.{local}")
    try:
        test_equals_spark(spark, oracle, query)
    finally:
        spark.conf.unset(rules)
    case = Case.of(Program(TABLES, (View("v", query, None),)), spark)
    with Running(case) as running:  # neither side failed
        for delta in RUN:
            running.step(delta)
        assert running.rows("v")


@pytest.mark.parametrize("query", REFUSED)
def test_refused(spark: Any, query: str) -> None:
    with pytest.raises(ProgramError, match=REFUSED[query]):
        compile_program(Program(TABLES, (View("v", query, None),)).text, session=spark)


@pytest.mark.parametrize("query", LIMITED)
def test_any_rows(spark: Any, query: str) -> None:
    case = Case.of(Program(TABLES, (View("v", query, None),)), spark)
    with Running(case) as running:
        for delta, count in zip(RUN, LIMITED[query], strict=True):
            running.step(delta)
            assert len(running.rows("v")) == count

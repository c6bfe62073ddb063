"""A step that raises changes nothing, whatever raised; errors name what failed."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import DataError, EvaluationError
from dbsp.sql.compiler.load import compile_program
from tests.generators.programs import program, table
from tests.generators.strategies import Change, Run
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Running, Way
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

EVENTS = table("e", "k BIGINT, i INT, s STRING")
FUNCTIONS = """
CREATE FUNCTION half(x INT) RETURNS INT LANGUAGE PYTHON AS $$
  if x > 3:
      raise ValueError(x)
  return x // 2
$$;
CREATE AGGREGATE FUNCTION few(x INT) RETURNS INT LANGUAGE PYTHON AS $$
  if len(x) > 1 and max(x) > 3:
      raise ValueError(x)
  return len(x)
$$;
"""
LARGE = "sum(CAST(i AS BIGINT) * 4611686018427387904)"
FAILING = {
    "DIVIDE_BY_ZERO": ("SELECT k / i AS q FROM e", (1, 0, "1")),
    "ARITHMETIC_OVERFLOW": ("SELECT i + 2147483646 AS x FROM e", (1, 2, "1")),
    "CAST_INVALID_INPUT": ("SELECT CAST(s AS INT) AS x FROM e", (1, 1, "a")),
    "DIVIDE_BY_ZERO in a join": ("SELECT l.k FROM e l JOIN e r ON l.k = r.k AND 1 / r.i > 0", (1, 0, "1")),
    "DIVIDE_BY_ZERO in a condition": ("SELECT k FROM e WHERE 1 / i > 0", (1, 0, "1")),
    "DIVIDE_BY_ZERO in an aggregate": ("SELECT k, sum(1 / i) AS s FROM e GROUP BY k", (1, 0, "1")),
    "DIVIDE_BY_ZERO over an aggregate": ("SELECT k, 1 / sum(i) AS s FROM e GROUP BY k", (2, 0, "1")),
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": ("SELECT i, (SELECT s FROM e WHERE k = 1) AS x FROM e", (1, 2, "2")),
    "SCALAR_SUBQUERY_TOO_MANY_ROWS of a key": (
        "SELECT k, (SELECT r.i FROM e r WHERE r.k = l.k) AS x FROM e l",
        (1, 2, "2"),
    ),
    "ARITHMETIC_OVERFLOW of a sum": (
        "SELECT sum(CAST(i AS BIGINT) * 4611686018427387904) AS s FROM e",
        (1, 1, "1"),
    ),
    "DIVIDE_BY_ZERO within OVER": ("SELECT k, sum(1 / i) OVER (PARTITION BY k) AS s FROM e", (1, 0, "1")),
    "ARITHMETIC_OVERFLOW of a sum OVER": (
        f"SELECT k, i, {LARGE} OVER (PARTITION BY k) AS s FROM e",
        (1, 1, "1"),
    ),
    "PYTHON_FUNCTION_FAILED": ("SELECT k, half(i) AS h FROM e", (1, 7, "1")),
    "PYTHON_FUNCTION_FAILED in an aggregate": ("SELECT k, sum(half(i)) AS h FROM e GROUP BY k", (1, 7, "1")),
    "PYTHON_FUNCTION_FAILED over a group": ("SELECT k, few(i) AS h FROM e GROUP BY k", (1, 7, "1")),
    "PYTHON_FUNCTION_FAILED over a frame": (
        "SELECT k, i, few(i) OVER (PARTITION BY k ORDER BY i) AS h FROM e",
        (1, 7, "1"),
    ),
}
NAMED = {
    "DIVIDE_BY_ZERO": "view 'v': k / i where k=1, i=0: [DIVIDE_BY_ZERO]",
    "ARITHMETIC_OVERFLOW of a sum": "view 'v': sum(CAST(i AS BIGINT) * 4611686018427387904): [",
    "DIVIDE_BY_ZERO within OVER": "view 'v': 1 / i where i=0: [DIVIDE_BY_ZERO]",
    "ARITHMETIC_OVERFLOW of a sum OVER": f"view 'v': {LARGE} OVER (PARTITION BY k) where k=1, ",
    "PYTHON_FUNCTION_FAILED": "view 'v': half(i) where i=7: [PYTHON_FUNCTION_FAILED] function 'half': Val",
    "PYTHON_FUNCTION_FAILED over a group": "view 'v': few(i) where k=1: [PYTHON_FUNCTION_FAILED] func",
    "PYTHON_FUNCTION_FAILED over a frame": "view 'v': few(i) OVER (PARTITION BY k ORDER BY i) where k=1, i=7",
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("way", ["plain", "everything at once"])
def test_an_expression_that_fails(spark: Any, name: str, way: str) -> None:
    query, bad = FAILING[name]
    views = program([EVENTS], v=query, other="SELECT count(*) AS n FROM e")
    case = Case(views, compile_program(FUNCTIONS + views.text, session=spark))
    with Running(case, WAYS.get(way, Way())) as running, Running(case) as untouched:
        good = {"e": [Change("insert", (1, 1, "1"))]}
        assert running.step(good) == untouched.step(good)
        for _ in range(2):
            running.pipeline.insert("e", [(3, 1, "7"), bad])
            with pytest.raises(
                EvaluationError, match=rf"^view 'v': .*\[{name.split(maxsplit=1)[0]}"
            ) as raised:
                running.pipeline.step()
            assert str(raised.value).startswith(NAMED.get(name, ""))
            # it can be tried again, and fails again
            with pytest.raises(EvaluationError):
                running.pipeline.step()
            running.pipeline.discard()
        assert running.rows("v") == untouched.rows("v")
        assert running.pipeline.last_step == 1
        more = {"e": [Change("insert", (2, 1, "2")), Change("retract", (1, 1, "1"))]}
        assert running.step(more) == untouched.step(more)


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("way", ["plain", "seven partitions", "everything at once"])
def test_rows_that_cancel_are_not_evaluated(spark: Any, name: str, way: str) -> None:
    """The contents never held them, however they came and went within the step."""
    query, bad = FAILING[name]
    views = program([EVENTS], v=query)
    case = Case(views, compile_program(FUNCTIONS + views.text, session=spark))
    gone = [Change("retract", bad), Change("insert", (3, -1, "7")), Change("insert", bad, 2)]
    with Running(case, WAYS.get(way, Way())) as running, Running(case) as untouched:
        first = {"e": [Change("insert", (1, 1, "1"))]}
        assert running.step(first) == untouched.step(first)
        both = {"e": [*gone, Change("retract", bad)]}
        assert running.step(both) == untouched.step({"e": [Change("insert", (3, -1, "7"))]})
        running.pipeline.insert("e", [bad] * 4)
        with pytest.raises(EvaluationError):
            running.pipeline.step()


MEETING = {
    "a value": "SELECT l.k, 1 / (l.i - r.i) AS q FROM l JOIN r ON l.k = r.k",
    "a condition": "SELECT l.k FROM l JOIN r ON l.k = r.k AND 1 / (l.i - r.i) > 0",
    "a condition without keys": "SELECT l.k FROM l JOIN r ON 1 / (l.i - r.i) > 0",
    "an outer join's condition": "SELECT l.k, r.i FROM l LEFT JOIN r ON l.k = r.k AND 1 / (l.i - r.i) > 0",
    "EXISTS": "SELECT k FROM l WHERE EXISTS (SELECT 1 FROM r WHERE l.k = r.k AND 1 / (l.i - r.i) > 0)",
    "an aggregate": "SELECT l.k, sum(1 / (l.i - r.i)) AS q FROM l JOIN r ON l.k = r.k GROUP BY l.k",
    "UNION ALL": "SELECT 1 / i AS q FROM (SELECT l.i - r.i AS i FROM l JOIN r ON l.k = r.k UNION ALL "
    "SELECT i + 100 FROM l) u",
}


@pytest.mark.parametrize("name", MEETING)
@pytest.mark.parametrize("way", ["plain", "seven partitions", "four-bit hashes"])
def test_rows_that_never_met_are_not_evaluated(spark: Any, name: str, way: str) -> None:
    """One side comes in the step in which the other side goes."""
    tables = [table("l", "k BIGINT, i INT"), table("r", "k BIGINT, i INT", key=("k",))]
    case = Case.of(program(tables, v=MEETING[name]), spark)
    run: Run = [
        {"r": [Change("upsert", (1, 5)), Change("upsert", (2, 1))]},
        {"l": [Change("insert", (1, 5)), Change("insert", (2, 7))], "r": [Change("upsert", (1, 6))]},
        {"l": [Change("retract", (1, 5))], "r": [Change("upsert", (1, 5))]},
    ]
    laws.incremental_equals_batch(case, run, Spark(spark), WAYS.get(way, Way()))


def test_a_bag_names_the_row_that_is_not_there(spark: Any) -> None:
    case = Case.of(program([EVENTS], v="SELECT k FROM e"), spark)
    with Running(case, Way(partitions=3)) as running:
        running.pipeline.insert("e", [(1, 1, "a")])
        running.pipeline.delete("e", [(1, 1, "a"), (1, 1, "a"), (5, None, "b")])
        with pytest.raises(
            DataError, match=r"^step 1: table 'e': can't retract the row \(k=1, i=1, s=a\): it"
        ):
            running.pipeline.step()
        running.pipeline.discard()
        running.pipeline.step()
        assert running.rows("v") == []


def test_within_a_step_order_does_not_matter_in_a_bag(spark: Any) -> None:
    case = Case.of(program([EVENTS], v="SELECT k FROM e"), spark)
    with Running(case) as running:
        running.pipeline.delete("e", [(1, 1, "a")])
        running.pipeline.insert("e", [(1, 1, "a")])
        assert not any(map(len, running.pipeline.step().values()))

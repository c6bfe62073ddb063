"""First rows in orders whose codes tie: text that begins alike, days, and values that many rows have.

Few rows stand for many here (`conftest.py`). Where an order leaves rows tied, the columns that are shown are
all in it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.features.test_features import EVENTS
from tests.generators.programs import Program, View
from tests.generators.strategies import seeded_run
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

_FROM = "(SELECT *, concat('same ', s) AS t FROM e)"
# fmt: off
# ruff: noqa: E501  a query a line
QUERIES = {
    "extremes": f"SELECT k, min(t) AS a, max(t) AS b, min(struct(t, i)) AS c, max(struct(t, s)) AS d FROM {_FROM} GROUP BY k",
    "by text": f"SELECT k, max_by(struct(t, i), struct(t, i)) AS a, min_by(t, t) AS b, max_by(t, t) FILTER (WHERE b) AS c FROM {_FROM} GROUP BY k",
    "of all": f"SELECT min(t) AS a, max(t) AS b, array_contains(collect_set(t), any_value(t) IGNORE NULLS) AS c FROM {_FROM}",
    "numbered": f"SELECT * FROM (SELECT k, t, i, row_number() OVER (PARTITION BY k ORDER BY t DESC, i) AS n FROM {_FROM}) WHERE n <= 2",
    "numbered, NULLs first": f"SELECT * FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY t NULLS FIRST) AS n FROM {_FROM}) WHERE n <= 3",
    "numbered, NULLs first, descending": f"SELECT * FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY t DESC NULLS FIRST) AS n FROM {_FROM}) WHERE n <= 2",
    "numbered, NULLs last": f"SELECT * FROM (SELECT k, t, dt, row_number() OVER (PARTITION BY k ORDER BY t NULLS LAST, dt DESC) AS n FROM {_FROM}) WHERE n <= 2",
    "numbered in days": "SELECT * FROM (SELECT k, dt, i, row_number() OVER (PARTITION BY k ORDER BY dt DESC, i) AS n FROM e) WHERE n <= 3",
    "numbered by what is alike": "SELECT * FROM (SELECT k, b, row_number() OVER (PARTITION BY k ORDER BY b DESC) AS n FROM e) WHERE n <= 2",
    "ranked": f"SELECT * FROM (SELECT k, t, i, rank() OVER (PARTITION BY k ORDER BY t) AS n FROM {_FROM}) WHERE n <= 2",
    "densely ranked": f"SELECT * FROM (SELECT k, t, i, dense_rank() OVER (PARTITION BY k ORDER BY t DESC) AS n FROM {_FROM}) WHERE n <= 2",
    "limited": f"SELECT t, i FROM {_FROM} ORDER BY t, i LIMIT 3 OFFSET 1",
    "first values": f"SELECT k, i, first_value(t) OVER (PARTITION BY k ORDER BY t) AS a, last_value(t) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS b FROM {_FROM}",
    "extremes of partitions": f"SELECT k, i, min(t) OVER (PARTITION BY k) AS a, max(t) OVER (PARTITION BY k) AS b FROM {_FROM}",
}
# fmt: on


def program_of(name: str) -> Program:
    return Program((EVENTS,), (View("v", QUERIES[name], None),))


@pytest.mark.parametrize("name", QUERIES)
def test_equal_to_spark(spark: Any, name: str) -> None:
    program = program_of(name)
    case = Case.of(program, spark)
    for seed in range(3):
        laws.incremental_equals_batch(case, seeded_run(seed, program, steps=3, most=12), Spark(spark))


@pytest.mark.parametrize("name", QUERIES)
def test_other_laws(spark: Any, name: str) -> None:
    program = program_of(name)
    case = Case.of(program, spark)
    for seed in range(4):
        run = seeded_run(100 + seed, program, steps=5, most=12)
        laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
        laws.retracting_all_leaves_nothing(case, run)

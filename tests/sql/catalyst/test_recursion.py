"""WITH RECURSIVE, by DuckDB; and what may not be done with a relation that defines itself."""

from __future__ import annotations

import pytest

from dbsp.sql.catalyst.recursion import LEVELS, level_before, obstacle
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Levels, Scan, SetOperation, Union
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import INT, T, U, column, positive, schema
from tests.sql.recorded import check_refused, check_rows, nodes_of, plan_of

COUNTING = (
    "WITH RECURSIVE q(a, n) AS (SELECT a, 0 FROM t UNION ALL SELECT a, n + 1 FROM q WHERE n < a) "
    "SELECT a, n FROM q"
)
CHAIN = (
    "WITH RECURSIVE q(a, b, n) AS (SELECT a, b, 0 FROM t UNION ALL SELECT q.a, u.d, n + 1 FROM q "
    "JOIN u ON q.b = u.c WHERE n < 3) SELECT a, b, n FROM q"
)


@pytest.mark.parametrize("query", [COUNTING, CHAIN], ids=["counting", "chain"])
def test_rows(query: str) -> None:
    check_rows(query)


def test_how_many_levels() -> None:
    assert [levels.limit for levels in nodes_of(plan_of(COUNTING), Levels)] == [LEVELS]
    text = COUNTING.replace("q(a, n)", "q(a, n) MAX RECURSION LEVEL 7")
    assert [levels.limit for levels in nodes_of(plan_of(text), Levels)] == [7]


def test_a_later_level_may_have_nulls() -> None:
    scan = level_before((Field("n", INT, nullable=False),))
    assert scan == Scan(LEVEL, (Field("n", INT),))


def join(kind: str) -> Join:
    return Join(T, U, kind, (column(0),), (column(0),), (False,), None, T.schema)


@pytest.mark.parametrize(
    "plan", [T, Filter(T, positive(0)), Distinct(T), Union((T, U), T.schema), join("semi")]
)
def test_what_only_adds_rows(plan: Plan) -> None:
    assert obstacle(plan, {"t"}) is None


@pytest.mark.parametrize(
    ("plan", "what"),
    [
        (Aggregate(T, (), (AggregateCall("count", (), INT, False),), schema("n")), "an aggregate"),
        (Distinct(Filter(join("anti"), positive(0))), "ANTI JOIN"),
        (SetOperation(T, U, "except", T.schema), "SetOperation"),
    ],
)
def test_what_takes_rows_back(plan: Plan, what: str) -> None:
    assert obstacle(plan, {"t"}) == (what, "t")
    assert obstacle(plan, {"another"}) is None


@pytest.mark.parametrize(
    ("term", "error"),
    [
        (
            "SELECT n + 1 FROM q WHERE n NOT IN (SELECT a FROM t EXCEPT SELECT n FROM q)",
            "87: EXCEPT in the recursive term of WITH RECURSIVE can't be maintained; use it outside",
        ),
        (
            "(SELECT n + 1 FROM q WHERE n < 3 UNION ALL SELECT a FROM t)",
            "1: a branch of the recursive term doesn't refer to the recursion",
        ),
    ],
)
def test_refused(term: str, error: str) -> None:
    check_refused(f"WITH RECURSIVE q(n) AS (SELECT a FROM t UNION ALL {term}) SELECT n FROM q", error)

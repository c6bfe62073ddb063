"""Joins by OR, by DuckDB; and when one is taken apart."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.sql.catalyst.joins.disjunctions import alternatives, is_key
from dbsp.sql.plans.nodes import Join
from tests.sql.hand_made import BOOL, INT, call, column, positive
from tests.sql.recorded import check_rows, nodes_of, plan_of

OR = "t.a = u.a OR t.b = u.b AND u.c > 0"
WIDTH = 2  # of the left side
LESS = call("less_than", column(0), column(2), type_=BOOL)


def equal(first: int, second: int) -> Call:
    return call("equal_to", column(first), column(second), type_=BOOL)


def any_of(*terms: Expression) -> Expression:
    first, *rest = terms
    return call("or", first, any_of(*rest), type_=BOOL) if rest else first


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT t.a, t.b, t.c AS e, u.a AS f, u.b AS g FROM t JOIN u ON {OR}",
        f"SELECT t.a, t.b, t.c AS e, u.a AS f, u.b AS g FROM t LEFT JOIN u ON {OR}",
        f"SELECT t.a, t.b, t.c AS e, u.a AS f, u.b AS g FROM t FULL JOIN u ON {OR}",
        f"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE {OR})",
        f"SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE {OR})",
        f"SELECT a FROM t WHERE d = 1 OR EXISTS (SELECT 1 FROM u WHERE {OR})",
        "SELECT * FROM t WHERE a NOT IN (SELECT b FROM u WHERE b > 0)",
        "SELECT * FROM t WHERE a NOT IN (SELECT b FROM u)",
        "SELECT * FROM t WHERE (a, b) NOT IN (SELECT c, d FROM u WHERE c > 1 AND d > 1)",
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_rows(query: str, seed: int) -> None:
    check_rows(query, seed=seed)


def test_each_alternative_has_its_keys() -> None:
    joins = nodes_of(plan_of(f"SELECT t.a FROM t JOIN u ON {OR}"), Join)
    assert all(len(join.left_keys) == 1 for join in joins)
    assert len(joins) == 2


def test_alternatives_with_a_key_come_first() -> None:
    keyed, one_sided = equal(0, 2), positive(1)
    assert alternatives(any_of(one_sided, keyed), WIDTH) == [[keyed], [one_sided]]
    both = call("and", any_of(equal(0, 2), equal(1, 3)), positive(0), type_=BOOL)
    assert alternatives(both, WIDTH) == [[equal(0, 2), positive(0)], [equal(1, 3), positive(0)]]


def test_an_equality_that_is_null_has_a_side_that_is() -> None:
    key = call("equal_to", column(0), Column(2, INT, nullable=False), type_=BOOL)
    null = call("is_null", key, type_=BOOL)
    found = alternatives(any_of(key, null), WIDTH)
    assert [[str(term) for term in terms] for terms in found] == [["equal_to(#0, #2)"], ["is_null(#0)"]]


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(equal(0, 2), id="no alternative"),
        pytest.param(any_of(equal(0, 2), LESS), id="every pair"),
        pytest.param(any_of(*(equal(0, 2) for _ in range(17))), id="too many"),
    ],
)
def test_what_stays_one_join(condition: Expression) -> None:
    assert alternatives(condition, WIDTH) == []


def test_a_key_equates_the_sides() -> None:
    assert is_key(equal(0, 2), WIDTH)
    assert is_key(equal(3, 1), WIDTH)
    for term in (
        equal(0, 1),
        positive(0),
        call("equal_to", column(0), call("add", column(1), column(2)), type_=BOOL),
    ):
        assert not is_key(term, WIDTH)

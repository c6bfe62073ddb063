"""Joins made of pairs that the clock chooses: with rows of no pair, by DuckDB."""

from __future__ import annotations

import pytest

from dbsp.sql.catalyst.clock.timed_joins import narrowed, without_pairs
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import Join, TemporalFilter, TimedProjection
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import BOOL, T, U, assert_as_duckdb, call, column
from tests.sql.recorded import nodes_of, plan_of

LEFT, RIGHT = Relation(T, (1, 2, 3, 4)), Relation(U, (11, 12, 13, 14))
LESS = call("less_than", column(1), column(5), type_=BOOL)
ON = "t.a = u.a AND t.b < u.b"
EXISTS = f"EXISTS (SELECT 1 FROM u WHERE {ON})"
IN_SQL = {
    "inner": f"SELECT * FROM t JOIN u ON {ON}",
    "left": f"SELECT * FROM t LEFT JOIN u ON {ON}",
    "full": f"SELECT * FROM t FULL JOIN u ON {ON}",
    "semi": f"SELECT * FROM t WHERE {EXISTS}",
    "anti": f"SELECT * FROM t WHERE NOT {EXISTS}",
    "existence": f"SELECT *, {EXISTS} FROM t",
}


def joined(kind: str) -> Join:
    key = (column(0),)
    return Join(T, U, kind, key, key, (False,), LESS, join_schema(kind, T.schema, U.schema))


@pytest.mark.parametrize("kind", IN_SQL)
def test_with_what_has_no_part_in_any_pair(kind: str) -> None:
    pairs = Relation(joined("inner"), (*LEFT.ids, *RIGHT.ids))
    found = without_pairs(kind, LEFT, RIGHT, pairs)
    verify(found.plan)
    assert found.plan.schema == joined(kind).schema
    assert found.ids == (LEFT.ids if kind in ("semi", "anti", "existence") else pairs.ids)
    assert_as_duckdb(found.plan, IN_SQL[kind])


@pytest.mark.parametrize("kind", IN_SQL)
def test_columns_that_only_served_the_condition_go(kind: str) -> None:
    """Both sides have a column more, of which a flag is made."""
    wide = [
        Relation(Join(one.plan, U, "semi", (), (), (), None, one.plan.schema), one.ids)
        for one in (LEFT, RIGHT)
    ]
    both = join_schema(kind, T.schema, U.schema)
    of_pairs = kind in ("inner", "left", "full")
    ids = (*LEFT.ids, *RIGHT.ids) if of_pairs else LEFT.ids
    plan = Join(wide[0].plan, wide[1].plan, kind, (column(0),), (column(0),), (False,), LESS, both)
    found = narrowed(kind, LEFT, RIGHT, Relation(plan, ids), 4)
    verify(found.plan)
    expected = joined(kind).schema if kind != "inner" else T.schema
    assert [f.name for f in found.plan.schema] == [f.name for f in expected]


def test_a_condition_of_one_side_is_a_column_of_it() -> None:
    query = "SELECT l.k, r.s FROM e l LEFT JOIN e r ON l.k = r.k AND r.ts > now()"
    (join,) = nodes_of(plan_of(query), Join)
    assert nodes_of(join.right, TemporalFilter)
    assert not nodes_of(join.left, TemporalFilter)
    (outer,) = nodes_of(plan_of(query.replace("r.ts >", "l.ts >")), Join)
    assert nodes_of(outer.left, TimedProjection)
    assert not nodes_of(outer.right, TimedProjection)


def test_a_condition_of_both_sides_is_of_their_pairs() -> None:
    query = "SELECT l.k, r.s FROM e l LEFT JOIN e r ON l.k = r.k AND greatest(l.ts, r.ts) > now()"
    kinds = {join.kind for join in nodes_of(plan_of(query), Join)}
    assert kinds == {"inner", "anti"}

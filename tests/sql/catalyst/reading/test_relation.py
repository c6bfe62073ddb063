"""A plan with Catalyst's ids: a relation has a column that nobody reads only where it has no other."""

from __future__ import annotations

from dbsp.sql.catalyst.reading.relation import ONE_ROW, Relation, with_columns, without_columns
from dbsp.sql.plans.nodes import Join
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import T, random_bags, rows_of


def test_ids_have_their_columns_places() -> None:
    assert Relation(T, (17, 4, 9, 8)).position == {17: 0, 4: 1, 9: 2, 8: 3}


def test_rows_remain_where_no_column_does() -> None:
    found = without_columns(T)
    verify(found.plan)
    bags = random_bags(0)
    assert rows_of(found.plan, bags) == {(True,): len(bags["t"])}
    assert with_columns(found) == found


def test_beside_columns_nobody_reads_it() -> None:
    schema = join_schema("inner", T.schema, ONE_ROW.schema)
    beside = Relation(Join(T, ONE_ROW, "inner", (), (), (), None, schema), (1, 2, 3, 4, -1))
    found = with_columns(beside)
    verify(found.plan)
    assert found.ids == (1, 2, 3, 4)
    assert found.plan.schema == T.schema
    own = Relation(T, (1, 2, 3, 4))
    assert with_columns(own) is own

"""Which plans never retract."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project, Scan, Union, Values
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.schemas import Field

SCHEMA = (Field("a", pa.int64()),)
GROWS, CHANGES = Scan("grows", SCHEMA), Scan("changes", SCHEMA)
A = Column(0, pa.int64())
TABLES = {"grows": True, "changes": False}


def join(left: Scan, right: Scan, kind: str = "inner") -> Join:
    schema = join_schema(kind, SCHEMA, SCHEMA)
    return Join(left, right, kind, (A,), (A,), (False,), None, schema)


def test_linear_operators_distinct_and_joins_pass_it_on() -> None:
    joins = (join(GROWS, GROWS), join(GROWS, GROWS, "semi"))
    for plan in (GROWS, Distinct(GROWS), Filter(GROWS, Literal(True, pa.bool_())), *joins):
        assert plan.append_only(TABLES), plan
    assert Union((GROWS, Project(GROWS, (A,), SCHEMA)), SCHEMA).append_only(TABLES)
    assert Values(((Literal(1, pa.int64()),),), SCHEMA).append_only(TABLES)


def test_one_input_that_retracts_is_enough() -> None:
    for plan in (CHANGES, Distinct(CHANGES), join(GROWS, CHANGES), join(CHANGES, GROWS)):
        assert not plan.append_only(TABLES), plan
    assert not Union((GROWS, CHANGES), SCHEMA).append_only(TABLES)


def test_a_first_match_retracts_what_was_said_of_the_row_without() -> None:
    for kind in ("left", "full", "anti", "existence"):
        assert not join(GROWS, GROWS, kind).append_only(TABLES), kind


def test_a_group_replaces_its_row() -> None:
    count = AggregateCall("count", (), pa.int64(), False)
    assert not Aggregate(GROWS, (A,), (count,), (*SCHEMA, Field("n", pa.int64()))).append_only(TABLES)

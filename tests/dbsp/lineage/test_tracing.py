"""Every operator says what its rows follow from."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.lineage.finding import Found
from dbsp.lineage.relational import empty
from dbsp.lineage.tracing import _RULES, traced
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.schemas import Field

# leaves; what is found as a union of projections; what is told level by level; what isn't found at all
ELSEWHERE = {p.Scan, p.Values, p.Expand, p.Levels, p.ArrivalJoin}


def test_each_kind_of_plan_has_a_rule() -> None:
    assert {getattr(p, name) for name in p.__all__} - ELSEWHERE == _RULES.keys()


def test_a_leaf_follows_from_nothing() -> None:
    schema = (Field("a", pa.int64()),)
    assert traced(Found(p.Values((), schema), empty(schema)), empty(schema), None) == []


def test_without_a_rule_it_is_an_error() -> None:
    schema = (Field("a", pa.int64()),)
    below = Found(p.Scan("t", schema), empty(schema))
    with pytest.raises(AssertionError, match="Levels: nothing says what its rows follow from"):
        traced(
            Found(p.Levels(below.plan, below.plan, 9, schema), empty(schema), (below,)), empty(schema), None
        )

"""Where NOW() is maintained in a query, and where it isn't."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.catalyst.clock.temporal import default_value
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.nodes import Aggregate, Filter, TemporalFilter, TimedProjection
from dbsp.sql.text.tokens import Slice
from tests.sql.hand_made import INT
from tests.sql.recorded import check_refused, nodes_of, plan_of
from tests.sql.text.reading import source_of


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("ts > now() - INTERVAL 5 MINUTES", 1),
        ("ts BETWEEN now() - INTERVAL 1 HOUR AND now()", 2),
        ("ts <= current_timestamp() AND k > 3", 1),
        ("day = current_date()", 2),
        ("now() - ts < INTERVAL 1 DAY", 1),
    ],
)
def test_conditions_that_a_row_meets_for_a_time(where: str, bounds: int) -> None:
    plan = plan_of(f"SELECT k FROM e WHERE {where}")
    (visible,) = nodes_of(plan, TemporalFilter)
    assert len(visible.bounds) == bounds
    assert len(nodes_of(plan, Filter)) == ("k > 3" in where)


def test_other_conditions_are_of_the_rows_that_the_clock_passes() -> None:
    (phases,) = nodes_of(plan_of("SELECT k FROM e WHERE ts < now() OR k > 3"), TimedProjection)
    assert phases.condition is not None
    assert len(phases.changes.crossings) == 1


def test_values_are_columns_and_equal_ones_are_one() -> None:
    query = "SELECT k, ts < now() AS late, NOT (ts < now()) AS early, hour(now()) AS h FROM e"
    (phases,) = nodes_of(plan_of(query), TimedProjection)
    assert len(phases.expressions) <= 3
    assert len(phases.changes.crossings) == 1
    assert len(phases.changes.readings) == 1


def test_one_row_may_have_the_clock_itself() -> None:
    plan = plan_of("SELECT count(*) AS n, now() AS at FROM e")
    assert nodes_of(plan, Aggregate)
    (phases,) = nodes_of(plan, TimedProjection)
    assert phases.changes.restless


def test_a_filter_of_an_aggregate_reads_it_below() -> None:
    query = "SELECT k, count(*) FILTER (WHERE ts > now()) AS n FROM e GROUP BY k"
    (group,) = nodes_of(plan_of(query), Aggregate)
    assert nodes_of(group, TimedProjection)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT k, now() AS at FROM e", "11: now() here would change rows in every step: not supported"),
        (
            "SELECT k FROM e WHERE second(now()) > k",
            "23: not supported: second(now()) > k: it isn't clear when",
        ),
        ("SELECT k FROM e ORDER BY k LIMIT minute(now())", ""),
    ],
)
def test_refused(query: str, error: str) -> None:
    check_refused(query, error)


def default(item: dict[str, Any], below: str = "OneRowRelation") -> Any:
    """Of `SELECT item`."""
    query = Query(source_of("d"), Slice("d", 0), ["long", "timestamp"])
    node = {"op": "Project", "k": [{"op": below}], "o": {"projectList": [{"t": 0, "n": True, **item}]}}
    return default_value(query, {"plan": node, "forbidden": []}, "t.d")


def test_a_default_is_a_constant_or_of_the_clock() -> None:
    assert default({"c": "Literal", "v": 3, "s": [900, 901]}) == Literal(3, INT)
    assert default({"c": "BoundReference", "t": 1, "o": {"ordinal": -1}}) == Column(0, CLOCK.type, False)
    assert default({"c": "Literal", "v": None}) is None
    assert default({"c": "NoSuchThing", "k": [], "o": {}}) is None
    assert default({"c": "Literal", "v": 3}, below="LogicalRDD") is None

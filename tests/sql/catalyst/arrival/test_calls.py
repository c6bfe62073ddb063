"""Which aggregates go by the arrival of their input, and what keeps them from it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst.arrival.calls import by_arrival
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Distinct
from tests.sql.catalyst.arrival.test_arrived import NODE, QUERY
from tests.sql.hand_made import INT, T, column

LISTED = AggregateCall("collect_list", (column(1),), pa.list_(INT), False)
FIRST = AggregateCall("first", (column(1),), INT, True, options=(("ignoreNulls", False),))
COUNT = AggregateCall("count", (), INT, False)


def test_those_that_follow_it_share_it() -> None:
    plan, (listed, first, count), _ = by_arrival(QUERY, NODE, T, [LISTED, FIRST, COUNT], {0, 1, 2})
    assert plan.arriving() == {"t"}
    assert (first.function, count) == ("min_by", COUNT)
    assert listed.arguments[1] == first.arguments[0] == replace(column(4), nullable=False)
    assert listed.option("order") == ((1, False, False),)


def test_lists_of_which_nobody_sees_the_order_stay_as_they_are() -> None:
    plan, calls, _ = by_arrival(QUERY, NODE, T, [LISTED, COUNT], {1})
    assert (plan, calls) == (T, [LISTED, COUNT])
    plan, calls, _ = by_arrival(QUERY, NODE, T, [LISTED, FIRST], {1})
    assert (plan.arriving(), calls[0]) == ({"t"}, LISTED)


def test_without_an_arrival_there_are_lists_and_no_first() -> None:
    plan, calls, _ = by_arrival(QUERY, NODE, Distinct(T), [LISTED], {0})
    assert (plan, calls) == (Distinct(T), [LISTED])
    with pytest.raises(ProgramError, match="the order of arrival"):
        by_arrival(QUERY, NODE, Distinct(T), [LISTED, FIRST], {0, 1})

"""Top: the first rows of each partition, and what it needs of them."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Top
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import T, call, column

BY_D = SortOrder(column(3), descending=True)
RANKED = Top(T, (column(0),), (BY_D,), "rank", 3, True, (*T.schema, Field("r", pa.int32(), False)))
FIRST = Top(T, (column(0), column(1)), (BY_D,), "row_number", 1, False, T.schema)


def test_the_first_row_of_a_partition_is_told_by_it() -> None:
    assert FIRST.stream_key({"t": None}) == (0, 1)
    assert replace(FIRST, partition=()).stream_key({"t": None}) == ()
    for several in (
        replace(FIRST, size=2),
        replace(FIRST, ranking="rank"),
        replace(FIRST, partition=(call("abs", column(0)),)),
    ):
        assert several.stream_key({"t": (2,)}) == (2,)


def test_a_row_in_between_pushes_one_out() -> None:
    assert not FIRST.append_only({"t": True})
    assert FIRST.obstacle({"t"}) == "Top"
    assert FIRST.monotonic({"t": {3: (column(3),)}}) == {}


def test_partition_and_order_are_needed_a_rank_only_if_it_is_read() -> None:
    narrower, position = RANKED.pruned({1})
    verify(narrower)
    assert isinstance(narrower, Top)
    assert ([field.name for field in narrower.schema], narrower.ranked) == (["a", "b", "d"], False)
    assert position[1] == 1
    narrower, position = RANKED.pruned({4})
    verify(narrower)
    assert narrower.schema[position[4]].name == "r"


def test_spelling_and_names() -> None:
    assert RANKED.spelled == "top 3 by a, rank() ordered by d DESC"
    assert RANKED.named().schema[-1].name == "rank"
    assert RANKED.cost == "touched partitions, the first 3 rows of each"


@pytest.mark.parametrize(
    "broken", [replace(RANKED, order=()), replace(RANKED, ranked=False), replace(FIRST, ranked=True)]
)
def test_a_rank_and_what_it_orders_by(broken: Top) -> None:
    with pytest.raises(AssertionError, match="Top: a rank, and what it orders by"):
        broken.verify()


def test_what_its_input_asks_for_is_never_null() -> None:
    assert RANKED.asked_for({"t": {2}}) == {2}
    assert RANKED.never_null({"t": {2}}) == {2, 4}

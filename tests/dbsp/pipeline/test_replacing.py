"""`replace`: afterwards the table is the rows, and no more was queued for that than their difference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.sql.plans.nodes import Scan
from tests.dbsp.build import VOTES, pipeline, program, table, view

VOTE = st.tuples(st.integers(0, 2) | st.none(), st.integers(0, 1))
NAMES = st.dictionaries(st.integers(0, 3), st.sampled_from([None, "", "a", "b"]))


@given(st.lists(st.lists(VOTE, max_size=6), max_size=4))
def test_a_bag_is_the_rows_that_replace_it(contents: list[list[tuple[int | None, int]]]) -> None:
    before: Counter[Any] = Counter()
    with pipeline() as p:
        for rows in contents:
            p.replace("votes", [{"user_id": user, "story_id": story} for user, story in rows])
            wanted = Counter(rows)
            assert p.queued.get("votes", 0) == len((wanted - before) + (before - wanted))
            changes = p.step()
            assert Counter(tuple(row.values()) for row in p["all_votes"].rows()) == wanted
            assert sum(abs(w) for _, w in changes["all_votes"].rows()) == sum(
                ((wanted - before) + (before - wanted)).values()
            )
            before = wanted


@given(st.lists(NAMES, max_size=4))
def test_a_keyed_table_is_the_rows_that_replace_it(contents: list[dict[int, str | None]]) -> None:
    before: dict[int, str | None] = {}
    with pipeline() as p:
        for rows in contents:
            p.replace("customer", pa.table(_columns(rows)))
            assert p.queued.get("customer", 0) == len({key for key, _ in before.items() ^ rows.items()})
            p.step()
            assert {row["id"]: row["name"] for row in p["customers"].rows()} == rows
            before = rows


def _columns(rows: dict[int, str | None]) -> dict[str, pa.Array]:
    return {
        "id": pa.array([*rows], pa.int64()),
        "name": pa.array([*rows.values()], pa.string()),
        "joined": pa.nulls(len(rows), pa.timestamp("us")),
    }


def test_two_rows_of_a_key_are_refused() -> None:
    with pipeline() as p:
        rows = [{"id": key, "name": None, "joined": None} for key in (4, 5, 6, 5)]
        with pytest.raises(DataError, match=r"table 'customer', row 3: row 1 has the same key, .*5.*; a key"):
            p.replace("customer", rows)
        assert p.queued == {}


def test_what_is_queued_is_not_replaced() -> None:
    with pipeline() as p:
        p.insert("votes", [(1, 1)])
        with pytest.raises(DataError, match="table 'votes' has rows queued; make a step, or `discard` them"):
            p.replace("votes", [])
        p.step()
        p.replace("votes", [])
        p.insert("votes", [(2, 2)])  # comes after
        p.step()
        assert p["all_votes"].rows() == [{"user_id": 2, "story_id": 2}]


@pytest.mark.parametrize(("name", "why"), [("event", "is append-only"), ("loose", "is unchecked")])
def test_what_is_not_kept_can_t_be_compared(name: str, why: str) -> None:
    made = program(
        [table("event", VOTES, append_only=True), table("loose", VOTES, unchecked=True)],
        [view("a", Scan("event", VOTES)), view("b", Scan("loose", VOTES))],
    )
    with pipeline(program=made) as p, pytest.raises(DataError, match=f"table '{name}' {why}"):
        p.replace(name, [])


@pytest.mark.spark
def test_a_frame(spark: Any) -> None:
    with pipeline(spark=spark) as p:
        p.insert("votes", [(1, 1), (2, 2)])
        p.step()
        p.replace("votes", spark.createDataFrame([(3, 3), (1, 1)], "user_id BIGINT, story_id BIGINT"))
        p.step()
        assert p["all_votes"].rows() == [{"user_id": 1, "story_id": 1}, {"user_id": 3, "story_id": 3}]

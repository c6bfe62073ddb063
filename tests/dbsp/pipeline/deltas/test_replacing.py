"""`replace`: afterwards the table is the rows, and no more was queued for that than their difference."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.running.spark.runner import SparkRunner
from dbsp.sql.plans.nodes import Scan
from tests.dbsp.build import VOTES, pipeline, program, table, view

VOTE = st.tuples(st.integers(0, 2) | st.none(), st.integers(0, 1))
NAMES = st.dictionaries(st.integers(0, 3), st.sampled_from([None, "", "a", "b"]))


@given(st.lists(st.lists(VOTE, max_size=6), max_size=4), st.integers(1, 4))
def test_a_bag_is_the_rows_that_replace_it(
    contents: list[list[tuple[int | None, int]]], partitions: int
) -> None:
    before: Counter[Any] = Counter()
    with pipeline(partitions=partitions) as p:
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


@given(st.lists(NAMES, max_size=4), st.integers(1, 4))
def test_a_keyed_table_is_the_rows_that_replace_it(
    contents: list[dict[int, str | None]], partitions: int
) -> None:
    before: dict[int, str | None] = {}
    with pipeline(partitions=partitions) as p:
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
        with pytest.raises(DataError, match=r"table 'customer': several rows have the key id=5; a key has"):
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


def test_nothing_is_left_of_a_comparison(tmp_path: Path) -> None:
    with pipeline(tmp_path / "state") as p:
        p.insert("votes", [(1, 1), (2, 2)])
        p.step()
        stored = set(os.listdir(p.store.segments.root))
        p.replace("votes", [(1, 1), (2, 2)])
        assert p.queued == {}
        with pytest.raises(DataError, match="several rows"):
            p.replace("customer", [{"id": 1}, {"id": 1}])
        assert set(os.listdir(p.store.segments.root)) == stored
        p.replace("votes", [(3, 3)])
        p.discard()
        assert set(os.listdir(p.store.segments.root)) == stored


@pytest.mark.spark
@pytest.mark.parametrize("small", [-1, 10**9])
def test_the_driver_holds_references_alone(spark: Any, small: int, tmp_path: Path) -> None:
    """Two tasks a level, and one: it maps no segment, neither of the table nor of what is queued."""
    with pipeline(tmp_path / "state") as p:
        p.insert("votes", [(number, number % 7) for number in range(1000)])
        p.insert("customer", [{"id": number, "name": str(number % 5)} for number in range(1000)])
        p.step()
    with pipeline(tmp_path / "state", spark=spark, partitions=3) as p:
        p.runner = SparkRunner(spark, small)
        p._replacing.runner = p.runner
        votes = spark.range(3, 1003).selectExpr("id AS user_id", "id % 7 AS story_id")
        p.replace("votes", votes)
        names = spark.range(0, 1000).selectExpr("id * 2 AS id", "CAST(id * 2 % 5 AS STRING) AS name")
        p.replace("customer", names.selectExpr("*", "CAST(NULL AS TIMESTAMP) AS joined"))
        assert p.queued == {"votes": 6, "customer": 1000}
        assert all(isinstance(rows, Chunk) for _, rows in p._position.queue.parts)
        assert not p.store.segments._files
        p.step()
        assert sorted(tuple(row.values()) for row in p["all_votes"].rows()) == [
            (number, number % 7) for number in range(3, 1003)
        ]
        assert sorted((row["id"], row["name"]) for row in p["customers"].rows()) == [
            (number, str(number % 5)) for number in range(0, 2000, 2)
        ]


@pytest.mark.spark
def test_a_frame(spark: Any) -> None:
    with pipeline(spark=spark) as p:
        p.insert("votes", [(1, 1), (2, 2)])
        p.step()
        p.replace("votes", spark.createDataFrame([(3, 3), (1, 1)], "user_id BIGINT, story_id BIGINT"))
        p.step()
        assert p["all_votes"].rows() == [{"user_id": 1, "story_id": 1}, {"user_id": 3, "story_id": 3}]

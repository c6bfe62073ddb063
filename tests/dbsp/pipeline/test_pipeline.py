"""The pipeline: what is queued, what a step makes of it, and how it is looked at."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

import dbsp
from dbsp.circuits.errors import DataError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from tests.dbsp.build import VOTES, pipeline, program, table, view
from tests.dbsp.pipeline.seen import changed, files, rows


def test_the_votes(p):
    p.insert("votes", [(1, 1), (2, 1), (3, 2)])
    first = p.step()
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]
    p.delete("votes", [{"user_id": 1, "story_id": 1}])
    assert changed(p.step(), "counts") == [(1, 1, 1), (1, 2, -1)]
    assert rows(p["counts"]) == [(1, 1), (2, 1)]
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]


def test_steps_are_numbered_and_may_be_empty(p):
    assert p.last_step == 0
    assert [p.step().step, p.step().step, p.last_step] == [1, 2, 2]
    assert len(p.step()["counts"]) == 0


def test_changes_as_arrow(p):
    p.insert("votes", [(1, 2)])
    assert p.step()["all_votes"].to_arrow().to_pylist() == [{"user_id": 1, "story_id": 2, "__weight": 1}]
    empty = p.step()["counts"].to_arrow()
    assert (empty.num_rows, empty.schema.names) == (0, ["story_id", "n", "__weight"])


def test_metrics(p):
    p.insert("votes", [(1, 1), (2, 1)])
    p.upsert("customer", [{"id": 1}])
    metrics = p.step().metrics
    assert metrics.rows_in == {"votes": 2, "customer": 1, "event": 0}
    assert metrics.rows_out == {"all_votes": 2, "counts": 1, "customers": 1, "events": 0}
    assert (metrics.late_rows, metrics.waterlines) == (0, {})
    assert metrics.seconds >= sum(metrics.level_seconds.values()) > 0
    keyed = next(name for name in metrics.state_rows if "Upsert customer" in name)
    assert metrics.state_rows[keyed] == 1
    assert metrics.state_bytes[keyed] > 0
    assert len(repr(metrics)) < 500


def test_changes_are_a_mapping_of_output_views(p):
    changes = p.step()
    assert list(changes) == ["all_votes", "counts", "customers", "events"]
    assert "hidden" not in changes
    assert changes.get("nothing") is None
    assert changes["COUNTS"] is changes["counts"]
    with pytest.raises(ProgramError, match="unknown view 'nothing'; views: all_votes, counts"):
        changes["nothing"]


def test_state_doesn_t_grow_when_nothing_changes(p):
    p.insert("votes", [(user, user % 3) for user in range(50)])
    p.step()
    for _ in range(30):
        p.step()
    assert len(files(p)["commits"] - {"last"}) == 10
    assert len(files(p)["segments"]) <= 2


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_partitions_don_t_show(partitions):
    with pipeline(partitions=partitions) as p:
        for step in range(3):
            p.insert("votes", [(user, user % 7) for user in range(step, 40)])
            p.upsert("customer", [{"id": user, "name": str(step)} for user in range(step, 9)])
            changes = p.step()
        assert changed(changes, "customers")[0] == (2, "1", None, -1)
        votes = Counter(user % 7 for step in range(3) for user in range(step, 40))
        assert rows(p["counts"]) == sorted(votes.items())


def test_negative_contents_can_t_be_listed():
    compiled = program([table("votes", VOTES, unchecked=True)], [view("v", Scan("votes", VOTES))])
    with pipeline(program=compiled) as p:
        p.delete("votes", [(1, 1)])
        assert changed(p.step(), "v") == [(1, 1, -1)]
        with pytest.raises(DataError, match=r"view 'v' has the row .* -1 times"):
            p["v"].rows()


def test_the_package_exports_what_it_says():
    assert dbsp.Pipeline is Pipeline
    assert issubclass(dbsp.EvaluationError, dbsp.DataError)
    with pytest.raises(AttributeError, match="no attribute 'Pipelin'"):
        _ = dbsp.Pipelin


@pytest.mark.spark
def test_contents_as_a_dataframe(spark):
    with pipeline(spark=spark) as p:
        p.insert("votes", [(1, 2), (1, 2)])
        p.insert("customer", [(7, "a", datetime(2024, 1, 1, tzinfo=UTC))])
        p.step()
        assert [tuple(row) for row in p["all_votes"].to_spark().collect()] == [(1, 2), (1, 2)]
        assert p["customers"].to_spark().toArrow().to_pylist() == p["customers"].rows()

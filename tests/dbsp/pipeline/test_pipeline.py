"""The pipeline: what is queued, what a step makes of it, and how it is looked at."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import dbsp
from dbsp.circuits.errors import DataError, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from tests.dbsp.build import VOTES, pipeline, program, table, view
from tests.dbsp.pipeline.seen import changed, rows


def test_the_votes(p):
    p.insert("votes", [(1, 1), (2, 1), (3, 2)])
    first = p.step()
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]
    p.delete("votes", [{"user_id": 1, "story_id": 1}])
    assert changed(p.step(), "counts") == [(1, 1, 1), (1, 2, -1)]
    assert rows(p["counts"]) == [(1, 1), (2, 1)]
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]


def test_changes_as_arrow(p):
    p.insert("votes", [(1, 2)])
    assert p.step()["all_votes"].to_arrow().to_pylist() == [{"user_id": 1, "story_id": 2, "__weight": 1}]
    empty = p.step()["counts"].to_arrow()
    assert (empty.num_rows, empty.schema.names) == (0, ["story_id", "n", "__weight"])


def test_changes_are_a_mapping_of_output_views(p):
    changes = p.step()
    assert list(changes) == ["all_votes", "counts", "customers", "events"]
    assert "hidden" not in changes
    assert changes.get("nothing") is None
    assert changes["COUNTS"] is changes["counts"]
    with pytest.raises(ProgramError, match="unknown view 'nothing'; views: all_votes, counts"):
        changes["nothing"]


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

"""What a step counted is what it did."""

from __future__ import annotations

from pathlib import Path

import dbsp
from tests.dbsp.build import pipeline


def test_rows_are_counted_in_and_out_and_where_they_are_kept(tmp_path: Path) -> None:
    p: dbsp.Pipeline
    with pipeline(tmp_path / "state") as p:
        p.store.durable = False
        p.insert("votes", [(1, 1), (2, 1), (3, 2)])
        p.insert("customer", [(1, "Ada", None)])
        first = p.step().metrics
        p.delete("votes", [(1, 1)])
        second = p.step().metrics
    assert (first.rows_in["votes"], first.rows_in["customer"]) == (3, 1)
    assert (first.rows_out["all_votes"], first.rows_out["counts"], first.rows_out["events"]) == (3, 2, 0)
    assert (second.rows_in, second.rows_out["counts"]) == ({"votes": 1, "customer": 0, "event": 0}, 2)
    assert (first.late_rows, first.waterlines, first.collected) == (0, {}, 0)
    assert 0 < sum(first.level_seconds.values()) <= first.phases["tasks"] < first.seconds
    assert first.phases.keys() == {"plan", "tasks", "commit"}  # it has no sink to deliver to
    counted = next(output.node for output in first.circuit.outputs if output.view == "counts")
    assert (first.put_out[counted], second.put_out[counted]) == (2, 2)
    assert first.put_out.keys() == set(range(len(first.circuit.nodes)))
    assert 0 < sum(first.spent.values()) <= sum(first.level_seconds.values())
    assert first.state_rows.keys() == first.state_bytes.keys()
    assert sum(first.state_rows.values()) >= 3 + 1 + 2  # votes, customers, counts

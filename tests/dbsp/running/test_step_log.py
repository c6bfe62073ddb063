"""A step in the log: a record for whoever wants INFO."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE votes (story BIGINT);
CREATE VIEW counts AS SELECT story, count(*) AS n FROM votes GROUP BY story;
CREATE VIEW stories AS SELECT DISTINCT story FROM votes;
"""


def test_a_step_is_a_record_with_its_numbers(caplog: pytest.LogCaptureFixture) -> None:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        pipeline.insert("votes", [(1,), (1,), (2,)])
        with caplog.at_level(logging.INFO, "dbsp"):
            changes = pipeline.step()
    (record,) = caplog.records
    fields: dict[str, Any] = record.fields  # type: ignore[attr-defined]
    assert record.getMessage().startswith("step 1: 3 rows in, 4 out, ")
    assert (fields["step"], fields["rows_in"], fields["rows_out"]) == (
        1,
        {"votes": 3},
        {"counts": 2, "stories": 2},
    )
    assert fields["phases"].keys() == {"plan", "tasks", "commit"}
    assert fields["seconds"] == pytest.approx(changes.metrics.seconds, abs=1e-5)
    assert "late" not in fields


def test_who_wants_warnings_gets_none(caplog: pytest.LogCaptureFixture) -> None:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline, caplog.at_level(logging.WARNING, "dbsp"):
        pipeline.insert("votes", [(1,)])
        pipeline.step()
    assert caplog.records == []

"""A plan as a person reads it."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.plans.shown.explain import explain_view
from tests.sql.compiling import compiled


@pytest.mark.spark
def test_operators_stand_above_their_inputs_with_their_cost(spark: Any) -> None:
    program = compiled(
        "CREATE LOCAL VIEW big AS SELECT id, kind, ts FROM event WHERE id > 100;"
        "CREATE VIEW named AS SELECT c.name, count(*) AS n FROM big e JOIN customer c ON e.id = c.id "
        "GROUP BY c.name",
        spark,
    )
    assert explain_view(program, "big").splitlines() == [
        "local view big (id BIGINT NOT NULL, kind STRING, ts TIMESTAMP)",
        "  stream key: a row id: rows are only added",
        "  rows: only added",
        "  filter id > 100   [linear]",
        "    scan event",
    ]
    lines = explain_view(program, "named").splitlines()
    assert lines[1:4] == [
        "  stream key: name",
        "  rows: added and taken back",
        "  partitions: by name",
    ]
    assert [line.split("   ")[-1].strip() for line in lines[4:8]] == [
        "[linear]",
        "[touched groups]",
        "[linear]",
        "[lookup of changed keys, two traces]",
    ]


@pytest.mark.spark
def test_what_is_known_of_its_times_and_how_many_there_are(spark: Any) -> None:
    program = compiled(
        "CREATE TABLE seen (at TIMESTAMP LATENESS INTERVAL 5 SECONDS, x INT);"
        "CREATE VIEW hours AS SELECT date_trunc('HOUR', at) AS hour, count(*) AS n FROM seen GROUP BY 1;"
        "CREATE VIEW n AS SELECT count(*) AS n FROM seen",
        spark,
    )
    assert explain_view(program, "hours").splitlines()[1:5] == [
        "  stream key: hour",
        "  rows: added and taken back",
        "  event time: hour >= trunc_timestamp('HOUR', seen.at)",
        "  partitions: by hour",
    ]
    assert explain_view(program, "n").splitlines()[1:4] == [
        "  stream key: none needed: one row at most",
        "  rows: one at most, which is replaced",
        "  partitions: one",
    ]

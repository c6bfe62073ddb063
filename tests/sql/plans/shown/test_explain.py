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
        "  filter id > 100   [linear]",
        "    scan event",
    ]
    lines = explain_view(program, "named").splitlines()
    assert lines[1] == "  stream key: name"
    assert [line.split("   ")[-1].strip() for line in lines[2:6]] == [
        "[linear]",
        "[touched groups]",
        "[linear]",
        "[lookup of changed keys, two traces]",
    ]

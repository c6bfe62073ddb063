"""`dbsp explain`: what a delta costs is said where it isn't linear."""

from __future__ import annotations

import re

import pytest

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.shown.boxes import boxes
from dbsp.views.explained.program import explain_program

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE t (k BIGINT, x INT);
CREATE TABLE c (k BIGINT, s STRING, PRIMARY KEY (k));
CREATE VIEW joined AS SELECT t.x, c.s FROM t JOIN c ON t.k = c.k WHERE t.x > 0;
CREATE VIEW grouped AS SELECT k, sum(x) AS s FROM t GROUP BY k;
CREATE VIEW running AS SELECT k, x, sum(x) OVER (PARTITION BY k ORDER BY x) AS s FROM t;
CREATE VIEW different AS SELECT DISTINCT x FROM t;
"""


def test_costs(spark: object) -> None:
    program = compile_program(PROGRAM, session=spark)  # type: ignore[arg-type]
    costs = {re.match(r"\w+", box.title)[0]: box.cost for box in boxes(program)}  # type: ignore[index]
    assert {name: cost for name, cost in costs.items() if cost} == {
        "Upsert": "lookup",
        "NonNegative": "lookup",
        "Join": "lookup",
        "Distinct": "lookup",
        "Aggregate": "touched groups",
        "Window": "rows from the first changed one on",
    }
    text = explain_program(program, "running", "text")
    assert re.search(r"Window .*\[rows from the first changed one on\]\n", text)
    assert not re.search(r"Filter .*\[", text)

"""One trace for distinct arguments under several conditions. `test_aggregate` has the laws of its results."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.operators.streams import Integrate
from tests.sql.compiling import compiled

TWICE = "count(DISTINCT id) FILTER (WHERE kind = 'a') AS a, sum(DISTINCT id) FILTER (WHERE kind = 'b') AS b"


def traces(results: str, spark: Any) -> int:
    program = compiled(f"CREATE VIEW v AS SELECT ts AS t, {results} FROM event GROUP BY ts", spark)
    return sum(isinstance(node.operator, Integrate) for node in program.circuit.nodes)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("results", "more"),
    [
        # the distinct arguments, and what is added up of them
        pytest.param("count(DISTINCT id) AS a", 2, id="one"),
        pytest.param("count(DISTINCT id) AS a, avg(DISTINCT id) AS b", 2, id="the same condition"),
        pytest.param(TWICE, 2, id="two conditions"),
        pytest.param(f"{TWICE}, count(DISTINCT id) AS c", 2, id="three conditions"),
        pytest.param(f"{TWICE}, count(DISTINCT ts) AS c", 4, id="other arguments"),
    ],
)
def test_traces(results: str, more: int, spark: Any) -> None:
    assert traces(results, spark) == traces("count(*) AS n", spark) + more

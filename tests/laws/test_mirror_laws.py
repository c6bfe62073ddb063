"""A column that decreases is its negative that increases: the mirrored program's changes, step by step.

The mirrored program has -x for x, in its tables and its rows, and its queries are written for that: so it
needs nothing that is known of falling columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from tests.effort import examples

pytestmark = pytest.mark.spark

# per view: the query over columns that fall, and the one over their negatives that rise
VIEWS: dict[str, tuple[str, str]] = {
    "groups": (
        "SELECT x, k, count(*) AS n, sum(y) AS s FROM a GROUP BY x, k",
        "SELECT x, k, count(*) AS n, sum(y) AS s FROM a GROUP BY x, k",
    ),
    "shifted groups": (
        "SELECT x + 3 AS x, max(k) AS k FROM a GROUP BY x + 3",
        "SELECT x - 3 AS x, max(k) AS k FROM a GROUP BY x - 3",
    ),
    "negative groups": (
        "SELECT 2 - x AS v, count(*) AS n FROM a GROUP BY 2 - x",
        "SELECT 2 + x AS v, count(*) AS n FROM a GROUP BY 2 + x",
    ),
    "halves": (
        "SELECT floor(-x / 2) AS v, count(*) AS n FROM a GROUP BY floor(-x / 2)",
        "SELECT floor(x / 2) AS v, count(*) AS n FROM a GROUP BY floor(x / 2)",
    ),
    "ceilings": (
        "SELECT ceil(x / 4) AS x, count(*) AS n FROM a GROUP BY ceil(x / 4)",
        "SELECT floor(x / 4) AS x, count(*) AS n FROM a GROUP BY floor(x / 4)",
    ),
    "greatest": (
        "SELECT greatest(x, x + 1) AS x, count(*) AS n FROM a GROUP BY greatest(x, x + 1)",
        "SELECT least(x, x - 1) AS x, count(*) AS n FROM a GROUP BY least(x, x - 1)",
    ),
    "sets": (
        "SELECT x, k, count(*) AS n FROM a GROUP BY GROUPING SETS ((x), (x, k))",
        "SELECT x, k, count(*) AS n FROM a GROUP BY GROUPING SETS ((x), (x, k))",
    ),
    "distinct": ("SELECT DISTINCT x, y FROM a", "SELECT DISTINCT x, y FROM a"),
    "joined": ("SELECT a.x, a.k, b.k AS l FROM a JOIN b ON a.x = b.x",) * 2,
    "outer": ("SELECT a.x, a.k, b.k AS l FROM a LEFT JOIN b ON a.x = b.x AND a.k = b.k",) * 2,
    "band": (
        "SELECT a.x, b.k AS l FROM a JOIN b ON a.k = b.k AND a.x BETWEEN b.x - 2 AND b.x",
        "SELECT a.x, b.k AS l FROM a JOIN b ON a.k = b.k AND a.x BETWEEN b.x AND b.x + 2",
    ),
    "band alone": (
        "SELECT a.x, b.k AS l FROM a JOIN b ON a.x >= b.x - 1 AND a.x < b.x + 2",
        "SELECT a.x, b.k AS l FROM a JOIN b ON a.x <= b.x + 1 AND a.x > b.x - 2",
    ),
    "semi": ("SELECT x, y FROM a LEFT SEMI JOIN b ON a.x = b.x",) * 2,
    "anti": ("SELECT x, y FROM a LEFT ANTI JOIN b ON a.x = b.x",) * 2,
    "except": ("SELECT x, k FROM a EXCEPT SELECT x, k FROM b",) * 2,
    "union": ("SELECT x, count(*) AS n FROM (SELECT x FROM a UNION ALL SELECT x FROM b) GROUP BY x",) * 2,
    "rolling": (
        "SELECT x, y, count(*) OVER (PARTITION BY k ORDER BY x DESC RANGE 2 PRECEDING) AS n FROM a",
        "SELECT x, y, count(*) OVER (PARTITION BY k ORDER BY x RANGE 2 PRECEDING) AS n FROM a",
    ),
    "rolling ahead": (
        "SELECT x, y, sum(y) OVER (ORDER BY x DESC RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS s FROM a",
        "SELECT x, y, sum(y) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS s FROM a",
    ),
    "ranks": (
        "SELECT x, y, row_number() OVER (PARTITION BY x ORDER BY y, k) AS n FROM a",
        "SELECT x, y, row_number() OVER (PARTITION BY x ORDER BY y DESC, k) AS n FROM a",
    ),
    "filtered": (
        "SELECT x, count(*) AS n FROM (SELECT y AS x, x AS u FROM a WHERE y <= x) GROUP BY x",
        "SELECT x, count(*) AS n FROM (SELECT y AS x, x AS u FROM a WHERE y >= x) GROUP BY x",
    ),
    "trigger": (
        "SELECT x, count(*) AS n FROM a GROUP BY x TRIGGER ON WATERMARK",
        "SELECT x, count(*) AS n FROM a GROUP BY x TRIGGER ON WATERMARK",
    ),
    "stream": (
        "SELECT STREAM x, count(*) AS n FROM a GROUP BY x",
        "SELECT STREAM x, count(*) AS n FROM a GROUP BY x",
    ),
    "stream of an expression": (
        "SELECT STREAM 3 - x AS v, count(*) AS n FROM a GROUP BY 3 - x",
        "SELECT STREAM 3 + x AS v, count(*) AS n FROM a GROUP BY 3 + x",
    ),
    "stream in order": (
        "SELECT STREAM x, y FROM a ORDER BY x DESC",
        "SELECT STREAM x, y FROM a ORDER BY x",
    ),
    "stream of two": (
        "SELECT STREAM a.x, b.k AS l FROM a JOIN b ON a.k = b.k AND a.x BETWEEN b.x - 1 AND b.x",
        "SELECT STREAM a.x, b.k AS l FROM a JOIN b ON a.k = b.k AND a.x BETWEEN b.x AND b.x + 1",
    ),
}
# of a type: the lateness, and what is added to whole numbers
TYPES = {"BIGINT": ("1", 0), "DECIMAL(6,1)": ("0.5", Decimal("0.5")), "DOUBLE": ("1.5", 0.25)}
NEGATIVE = {"x", "y", "s"}
Changes = dict[str, Counter[tuple[tuple[str, Any], ...]]]


@cache
def compiled(data_type: str, streams: bool, falling: bool, session: Any) -> Compiled:
    kind = "STREAM" if streams else "TABLE"
    late = f"LATENESS {TYPES[data_type][0]}{' DECREASING' * falling}"
    columns = f"(k INT NOT NULL, x {data_type} {late}, y {data_type})"
    lines = [f"CREATE {kind} {name} {columns};" for name in "ab"]
    for name, sides in VIEWS.items():
        if ("STREAM" in sides[0]) == streams:
            lines.append(f"CREATE VIEW `{name}` AS {sides[not falling]};")
    return compile_program("\n".join(lines), session=session)


class Side:
    """One of the two programs as it runs."""

    def __init__(self, program: Compiled, sign: int) -> None:
        self.pipeline, self.sign = Pipeline(program), sign

    def step(self, rows: Sequence[tuple[str, int, Any, Any, int]], furthest: Any) -> tuple[Changes, int]:
        """(the changes with what falls, the rows in all traces). rows: table, k, x, y, weight."""
        for table, k, x, y, weight in rows:
            row = [(k, x if x is None else self.sign * x, self.sign * y)]
            (self.pipeline.insert if weight > 0 else self.pipeline.delete)(table, row)
        if furthest is not None:
            self.pipeline.advance("a", "x", self.sign * furthest)
        changes = self.pipeline.step()
        found: Changes = {
            view: Counter({self._falling(row): weight for row, weight in changes[view].rows()})
            for view in VIEWS.keys() & changes.keys()
        }
        return found, sum(changes.metrics.state_rows.values())

    def _falling(self, row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        return tuple(
            (name, self.sign * value if name in NEGATIVE and value is not None else value)
            for name, value in row.items()
        )


@st.composite
def runs(draw: st.DrawFn, data_type: str, streams: bool) -> list[tuple[list[Any], Any]]:
    """Steps of rows whose x falls, and of what ADVANCE says."""
    part, there, steps = TYPES[data_type][1], [], []
    for number in range(draw(st.integers(1, 7))):
        rows: list[Any] = []
        for _ in range(draw(st.integers(0, 5))):
            if there and not streams and draw(st.integers(0, 3)) == 0:
                table, k, x, y = there.pop(draw(st.integers(0, len(there) - 1)))
                rows.append((table, k, x, y, -1))
                continue
            table, k = draw(st.sampled_from("ab")), draw(st.integers(0, 1))
            x = draw(st.none() | st.integers(-2, 3))
            row = (table, k, x if x is None else x - 2 * number + part, draw(st.integers(-3, 3)) + part)
            there.append(row)
            rows.append((*row, 1))
        furthest = 3 - 2 * number + part if draw(st.integers(0, 4)) == 0 else None
        steps.append((rows, furthest))
    return steps


@pytest.mark.parametrize("streams", [False, True], ids=["tables", "streams"])
@pytest.mark.parametrize("data_type", TYPES)
@examples(12)
@given(data=st.data())
def test_what_falls_is_what_rises_mirrored(
    spark: Any, data_type: str, streams: bool, data: st.DataObject
) -> None:
    run = data.draw(runs(data_type, streams))
    falling = Side(compiled(data_type, streams, True, spark), 1)
    rising = Side(compiled(data_type, streams, False, spark), -1)
    for number, step in enumerate(run, 1):
        (found, kept), (expected, as_many) = falling.step(*step), rising.step(*step)
        for view, changes in expected.items():
            assert found[view] == changes, f"step {number} of view {view}: {run}"
        assert kept == as_many, f"step {number} keeps another state: {run}"

"""What is needed of a table's rows, by query. That no other counts is what test_narrowing.py asks DuckDB."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.steps.evaluation import before_its_trace, needed
from dbsp.queries.needs import Is, Meets, needs, values_of
from dbsp.queries.plans import Plans
from dbsp.views.view import Contents

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([pa.field("k", pa.int64(), nullable=False), ("n", pa.int32()), ("s", pa.string())])
HELD = {name: Contents(name, SCHEMA, []).columns for name in ("v", "w")}


def needed_of(spark: Any, query: str, table: str) -> set[object]:
    """Per need its columns, and what they are, or that they meet something."""
    circuit = Plans(lambda: spark, "UTC").of(query, HELD).circuit
    ends = [before_its_trace(circuit, output.node) for output in circuit.outputs]
    found = needs(circuit, needed(circuit, ends), ends)[circuit.sources[table]]
    shown = set[object]()
    for need in found:
        columns = ",".join(SCHEMA.names[i] for i in need.columns)
        if isinstance(need, Meets):
            assert len(need.others) == len(need.columns)
            shown.add(columns)
        if isinstance(need, Is):
            shown.add((columns, *map(tuple, zip(*values_of(need).to_pydict().values(), strict=True))))
    return shown


@pytest.mark.parametrize(
    ("query", "table", "expected"),
    [
        ("SELECT s FROM v WHERE k = 1 + 2 AND s = 'x'", "v", {("k,s", (3, "x"))}),
        ("SELECT s FROM v WHERE n IN (1, 2)", "v", {("n", (1,), (2,))}),
        ("SELECT s FROM v WHERE n = 1 OR k = 1", "v", set()),
        ("SELECT v.s FROM v JOIN w ON v.k = w.k AND v.s = w.s", "v", {"k,s"}),
        ("SELECT v.s FROM v JOIN w ON v.n = w.k", "v", {"n"}),  # in a wider type
        ("SELECT v.s FROM v JOIN w ON v.n + 1 = w.k", "v", set()),
        ("SELECT v.s FROM v LEFT JOIN w ON v.k = w.k", "v", set()),
        ("SELECT v.s, w.s FROM v LEFT JOIN w ON v.k = w.k", "w", {"k"}),
        ("SELECT v.s, w.s FROM v LEFT JOIN w ON v.k = w.k AND v.n < w.n", "w", {"k"}),
        ("SELECT v.s, w.s FROM v FULL JOIN w ON v.k = w.k", "w", set()),
        ("SELECT s FROM v WHERE n IN (SELECT n FROM w)", "v", {"n"}),
        ("SELECT s FROM v WHERE k NOT IN (SELECT k FROM w)", "v", set()),
        ("SELECT s FROM v WHERE k NOT IN (SELECT k FROM w)", "w", {"k"}),
        ("SELECT s FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.k = v.k AND w.n <> v.n + v.k)", "v", {"k"}),
        ("SELECT s FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.k = v.k AND w.n < v.n)", "v", {"k"}),
        ("SELECT s FROM v WHERE EXISTS (SELECT 1 FROM w WHERE w.k = v.k AND w.n < v.n)", "w", {"k"}),
        ("SELECT s FROM v WHERE n = (SELECT max(n) FROM w)", "v", {"n"}),
        ("SELECT s FROM v WHERE 1 / n > 0 AND k IN (SELECT k FROM w)", "v", set()),
        ("SELECT max(s) AS s FROM v WHERE k = 1 GROUP BY n", "v", {("k", (1,))}),
        ("SELECT s FROM v WHERE k = 1 UNION ALL SELECT s FROM v WHERE n = 1", "v", set()),
    ],
)
def test_what_is_needed_of_rows(spark: Any, query: str, table: str, expected: set[object]) -> None:
    assert needed_of(spark, query, table) == expected


def test_what_is_needed_of_a_row_of_a_join_is_needed_of_its_side(spark: Any) -> None:
    query = "SELECT v.s FROM v JOIN w ON v.k = w.n WHERE v.s IN (SELECT s FROM w WHERE k = 1)"
    assert needed_of(spark, query, "v") == {"k", "s"}


def test_nothing_is_needed_of_what_a_recursion_reads(spark: Any) -> None:
    query = (
        "WITH RECURSIVE r AS (SELECT k FROM v WHERE n = 1 UNION ALL SELECT w.k FROM w JOIN r ON w.n = r.k) "
        "SELECT k FROM r"
    )
    assert needed_of(spark, query, "w") == set()

"""`_row_id` of tables that only grow: step · 2³² + the row's place in the step, whatever tasks read it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.effort import examples

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE t (x INT, y INT) WITH (append_only = true);
CREATE TABLE u (x INT, `_ROW_ID` INT) WITH (append_only = true);
CREATE VIEW ids AS SELECT x, _row_id AS id, y FROM t;
CREATE VIEW everything AS SELECT * FROM t WHERE _row_id IS NOT NULL;
CREATE VIEW latest AS SELECT x, max_by(y, t._row_id) AS y FROM t GROUP BY x;
CREATE VIEW earlier AS SELECT a.y AS one, b.y AS other
  FROM t a JOIN t b ON a.x = b.x AND a._row_id < b._row_id;
CREATE VIEW again AS WITH c AS (SELECT *, _row_id AS id FROM t)
  SELECT p.y, q.x FROM c p LEFT JOIN c q ON p.id = q.id + 1;
CREATE VIEW own AS SELECT _row_id + 1 AS next FROM u;
"""
rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), max_size=4)


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Any:
    return compile_program(PROGRAM, session=spark)


def held(pipeline: Pipeline, view: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in pipeline[view].rows()), key=str)


@examples(15)
@given(steps=st.lists(rows, min_size=1, max_size=4), partitions=st.integers(1, 3))
def test_it_is_where_the_row_came(compiled: Any, steps: list[list[tuple[int, int]]], partitions: int) -> None:
    known: dict[int, tuple[int, int]] = {}
    with Pipeline(compiled, runner="inline", partitions=partitions) as p:
        for number, came in enumerate(steps, 1):
            p.insert("t", came)
            p.insert("u", came)
            p.step()
            known |= {(number << 32) + place: row for place, row in enumerate(came)}
            expected: dict[str, list[tuple[Any, ...]]] = {
                "ids": [(x, id_, y) for id_, (x, y) in known.items()],
                "everything": [*known.values()],
                "latest": [(x, y) for x, y in dict(known.values()).items()],
                "earlier": [
                    (known[i][1], known[j][1]) for i in known for j in known
                    if i < j and known[i][0] == known[j][0]
                ],
                "again": [(y, known[i - 1][0] if i - 1 in known else None) for i, (_, y) in known.items()],
                "own": [(y + 1,) for _, y in known.values()],
            }  # fmt: skip
            for view, wanted in expected.items():
                assert held(p, view) == sorted(wanted, key=str), view


@pytest.mark.parametrize("kind", ["", "PRIMARY KEY"])
def test_rows_that_may_go_have_none(spark: Any, kind: str) -> None:
    text = f"CREATE TABLE t (x INT {kind}); CREATE VIEW v AS SELECT _row_id FROM t;"
    with pytest.raises(ProgramError, match="unknown column '_row_id'; rows of append-only tables have one"):
        compile_program(text, session=spark)

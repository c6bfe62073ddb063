"""An expression that fails on a row says of which dataset it is, and where that is defined."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import EvaluationError

pytestmark = pytest.mark.spark

FIRST = "CREATE MATERIALIZED VIEW m0 AS SELECT k, n FROM src;\n"
DIVIDED = "CREATE MATERIALIZED VIEW m1 AS\n  SELECT k, 10 DIV (n - 3) AS x FROM src;\n"
READER = "CREATE MATERIALIZED VIEW a AS SELECT x FROM m1;\n"
COUNTED = (
    "CREATE TEMPORARY VIEW t (CONSTRAINT c EXPECT (10 DIV (n - 3) > 0)) AS SELECT n FROM src;\n"
    "CREATE MATERIALIZED VIEW m2 AS SELECT n FROM t;\n"
)
PLACE = (
    r"^definitions/definitions\.sql:{}:1: {}{} 'spark_catalog\.declared_\d+\.{}'.*: .*where n=3: .*DIVIDE_BY"
)


@pytest.mark.parametrize(
    ("more", "views", "line", "name"),
    [(DIVIDED, "view", 2, "m1"), (READER + DIVIDED, "views", 3, "m1"), (COUNTED, "view", 2, "t without c")],
    ids=["of itself", "read by another", "of an expectation"],
)
def test_its_dataset_and_place(project, more, views, line, name):
    project.sql("CREATE TABLE src (k STRING, n INT) USING parquet", "INSERT INTO src VALUES ('a', 3)")
    project.run(FIRST)
    with pytest.raises(
        EvaluationError, match=PLACE.format(line, "the program can't be changed: ", views, name)
    ):
        project.run(FIRST + more)  # of a back-fill
    with pytest.raises(EvaluationError, match=PLACE.format(line, "", views, name)):
        project.run(FIRST + more, full_refresh_all=True)  # of a step

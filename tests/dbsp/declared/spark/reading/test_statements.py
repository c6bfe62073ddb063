"""Places, queries and expectations are those of the statement that a definition was made by."""

from __future__ import annotations

import pytest

from dbsp.declared.project.datasets import Place

pytestmark = pytest.mark.spark

SQL = """CREATE MATERIALIZED VIEW last AS
  SELECT count(*) AS n FROM first;
/* a view */ CREATE TEMPORARY VIEW v AS SELECT * FROM first;
CREATE MATERIALIZED VIEW first COMMENT 'AS' AS SELECT t.a FROM t;
CREATE STREAMING TABLE st (CONSTRAINT c EXPECT (a > 0));
CREATE FLOW cdc AS INSERT INTO st BY NAME SELECT a FROM STREAM s;"""


def test_what_a_statement_says_is_found_where_it_says_it(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE s (a INT) USING parquet")
    known = {dataset.name.split("`")[-2]: dataset for dataset in project.plan(SQL).project.datasets}
    file = "definitions/definitions.sql"
    assert known["last"].flows[0].place == Place(file, 2, 3)
    assert known["v"].flows[0].query == "SELECT * FROM first"
    assert known["v"].place == Place(file, 3, 14)
    assert known["first"].flows[0].query == "SELECT t.a FROM t"
    assert known["st"].flows[0].query == "SELECT a FROM STREAM s"
    assert [len(known[name].expectations) for name in ("st", "first")] == [1, 0]


def test_what_python_defines_is_where_its_function_is(project):
    text = "from pyspark import pipelines as dp\n\n@dp.materialized_view\ndef m(): return spark.range(3)\n"
    project.write(text, "definitions.py")
    known = {dataset.name.split("`")[-2]: dataset for dataset in project.plan("").project.datasets}
    assert (known["m"].place.file, known["m"].expectations) == ("definitions/definitions.py", ())
    assert known["m"].flows[0].place.line in (3, 4)

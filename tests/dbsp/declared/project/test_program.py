"""A project's program: what the compiler refuses is said of the author's own place."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.program import view_name
from tests.dbsp.declared.build import Small

pytestmark = pytest.mark.spark

SQL = """-- sources of everything
CREATE MATERIALIZED VIEW good AS SELECT a, count(*) AS n FROM t GROUP BY a;

CREATE MATERIALIZED VIEW bad AS
  SELECT a,
         rand() AS x   -- at random
  FROM t;
CREATE MATERIALIZED VIEW worse AS SELECT g.n, uuid() AS u FROM bad JOIN good g ON bad.a = g.a;
CREATE MATERIALIZED VIEW fine AS SELECT max(x) AS x FROM bad JOIN good ON bad.a = {name}.good.a;
CREATE STREAMING TABLE several;
CREATE FLOW one AS INSERT INTO several BY NAME SELECT b, a FROM STREAM(s);
CREATE FLOW two AS INSERT INTO several BY NAME SELECT CAST(a AS INT) AS a, a + 1 AS c FROM STREAM(s);
"""


@pytest.fixture
def tables(project: Small):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE s (a INT, b STRING) USING parquet")
    return project


def test_what_cant_be_maintained_is_said_of_its_own_place(tables):
    planned = tables.plan(SQL.format(name=tables.database))
    refused = {name.split("`")[-2]: why for name, why in planned.compiled.refused.items()}
    assert set(refused) == {"bad", "worse"}
    assert refused["bad"].startswith("definitions/definitions.sql:6:10: rand() is not deterministic")
    assert refused["worse"].startswith("definitions/definitions.sql:8:47: uuid() is not deterministic")


def test_flows_are_added_by_name(tables):
    program = tables.plan(SQL.format(name=tables.database)).compiled.program
    view = program.views[f"spark_catalog.{tables.database}.several"]
    assert [(column.name, str(column.type)) for column in view.schema] == [
        ("b", "string"),
        ("a", "int32"),
        ("c", "int32"),
    ]
    assert view.append_only


def test_a_streaming_table_is_one_that_only_grows(tables):
    kept = (
        "CREATE STREAMING TABLE x AS SELECT a FROM STREAM(s);\n"
        "CREATE MATERIALIZED VIEW m AS SELECT a, count(*) AS n FROM x GROUP BY a;\n"
    )
    assert tables.plan(kept).compiled.refused == {}
    refused = (
        "CREATE STREAMING TABLE x AS\nSELECT a, b FROM STREAM(s) WHERE a NOT IN (SELECT a FROM t);\n"
        "CREATE MATERIALIZED VIEW m AS SELECT a FROM t;"
    )
    (why,) = tables.plan(refused).compiled.refused.values()
    assert why.startswith("definitions/definitions.sql:2:")
    assert "would take rows back" in why


def test_settings_that_change_what_queries_mean_are_refused(tables):
    with pytest.raises(
        ProgramError, match=r"the pipeline's configuration: SET spark.sql.ansi.enabled = false"
    ):
        tables.plan("SET spark.sql.ansi.enabled = false; CREATE MATERIALIZED VIEW m AS SELECT 1 AS a;")


def test_nothing_that_can_be_kept_is_an_error(tables):
    with pytest.raises(ProgramError, match=r"definitions.sql:1:41: rand\(\) is not deterministic"):
        tables.plan("CREATE MATERIALIZED VIEW m AS SELECT a, rand() AS x FROM t;")


def test_names():
    assert view_name("`a`.`b``c`") == "a.b`c"

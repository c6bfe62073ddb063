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
        "CREATE STREAMING TABLE x AS\nSELECT a, max(b) AS b FROM STREAM(s) GROUP BY a;\n"
        "CREATE MATERIALIZED VIEW m AS SELECT a FROM t;"
    )
    (why,) = tables.plan(refused).compiled.refused.values()
    assert why.startswith("definitions/definitions.sql:2:")
    assert "would take rows back" in why


def test_rows_of_a_stream_meet_what_is_no_stream_when_they_come(tables):
    sql = (
        "CREATE STREAMING TABLE x AS SELECT s.a, t.a AS met FROM STREAM(s) LEFT JOIN t ON s.a = t.a;"
        "CREATE TEMPORARY VIEW v AS SELECT * FROM STREAM s WHERE a IN (SELECT met FROM x);"
        "CREATE STREAMING TABLE y AS SELECT a FROM STREAM v;"
        "CREATE STREAMING TABLE z AS SELECT a FROM STREAM y;"
        "CREATE STREAMING TABLE twice AS SELECT one.a FROM STREAM s AS one JOIN s AS two ON one.a = two.a;"
    )
    planned = tables.plan(sql)
    meets = {one.name.split("`")[-2]: planned.compiled.meets_tables(one) for one in planned.project.stored}
    assert meets == {"x": True, "y": True, "z": False, "twice": True}
    assert [(table.name, table.relation, table.streamed) for table in planned.project.tables] == [
        (
            f"`spark_catalog`.`{tables.database}`.`s`",
            f"`spark_catalog`.`{tables.database}`.`s as it is`",
            False,
        ),
        (f"`spark_catalog`.`{tables.database}`.`s`", f"`spark_catalog`.`{tables.database}`.`s`", True),
        (f"`spark_catalog`.`{tables.database}`.`t`", f"`spark_catalog`.`{tables.database}`.`t`", False),
    ]
    both = (
        "CREATE STREAMING TABLE x AS SELECT a FROM STREAM(s);"
        "CREATE STREAMING TABLE y AS SELECT x.a FROM STREAM(x) AS x JOIN x AS o ON x.a = o.a;"
    )
    (why,) = tables.plan(both).compiled.refused.values()
    assert "x' is read by STREAM and without in one query" in why


def test_expectations_have_their_places(tables):
    sql = (
        "CREATE OR REFRESH MATERIALIZED VIEW m (CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW)\n"
        "AS SELECT a FROM t;\n"
        "CREATE MATERIALIZED VIEW n (a INT,\n"
        "  CONSTRAINT d EXPECT (aa > 0) ON VIOLATION FAIL UPDATE) AS SELECT a FROM t;"
    )
    planned = tables.plan(sql)
    (why,) = planned.compiled.refused.values()
    assert why.startswith("definitions/definitions.sql:4:24: unknown column 'aa'")
    changes = (
        "CREATE STREAMING TABLE c (CONSTRAINT d EXPECT (a > 0) ON VIOLATION DROP ROW) "
        "FLOW AUTO CDC FROM STREAM s KEYS (a) SEQUENCE BY b;"
    )
    with pytest.raises(
        ProgramError, match=r"definitions.sql:1:27: not supported yet: an expectation of AUTO CDC"
    ):
        tables.plan(changes)


def test_settings_that_change_what_queries_mean_are_refused(tables):
    with pytest.raises(
        ProgramError,
        match=r"the pipeline's configuration, or spark_conf of a flow: SET spark.sql.ansi.enabled = false",
    ):
        tables.plan("SET spark.sql.ansi.enabled = false; CREATE MATERIALIZED VIEW m AS SELECT 1 AS a;")


def test_nothing_that_can_be_kept_is_an_error(tables):
    with pytest.raises(ProgramError, match=r"definitions.sql:1:41: rand\(\) is not deterministic"):
        tables.plan("CREATE MATERIALIZED VIEW m AS SELECT a, rand() AS x FROM t;")


def test_names():
    assert view_name("`a`.`b``c`") == "a.b`c"

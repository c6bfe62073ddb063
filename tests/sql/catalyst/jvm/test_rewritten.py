"""Constants of a session, relations of constants and counter_diff: what Spark itself says."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import EvaluationError, ProgramError, StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

CONSTANTS = (
    "version(), current_user() AS u, user() AS v, session_user() AS w, current_catalog(), current_schema(), "
    "current_database() AS d, current_path(), current_timezone(), length(current_user) + 1 AS n"
)


def rows(spark: Any, program: str) -> list[tuple[Any, ...]]:
    """Of its view v."""
    with Pipeline(compile_program(program, session=spark), runner="inline", spark=spark) as p:
        p.step()
        return sorted(tuple(row.values()) for row in p["v"].rows())


def fresh(spark: Any) -> Any:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", spark.conf.get("spark.sql.session.timeZone"))
    return session


def test_constants_are_those_of_a_new_session(spark: Any) -> None:
    wanted = [tuple(row) for row in fresh(spark).sql(f"SELECT {CONSTANTS}").collect()]
    assert rows(spark, f"CREATE VIEW v AS SELECT {CONSTANTS}") == wanted
    # a column of that name is the column
    program = "CREATE TABLE t (user STRING); CREATE VIEW v AS SELECT user FROM t WHERE user <> session_user"
    with Pipeline(compile_program(program, session=spark), runner="inline", spark=spark) as p:
        p.insert("t", [("me",), (wanted[0][1],)])
        p.step()
        assert p["v"].rows() == [{"user": "me"}]


def test_the_schema_is_the_one_in_use(spark: Any) -> None:
    session = fresh(spark)
    session.sql("CREATE SCHEMA IF NOT EXISTS `2of`")
    try:
        session.sql("USE `2of`")
        asked = "SELECT current_schema(), current_database() AS d, current_path(), current_catalog()"
        wanted = [tuple(row) for row in session.sql(asked).collect()]
    finally:
        session.sql("DROP SCHEMA `2of`")
    program = "CREATE TABLE t (i INT); USE `2of`; CREATE VIEW v AS " + asked
    (view,) = compile_program(program, session=spark).views.values()
    assert view.name == "2of.v"
    assert [tuple(value.value for value in row) for row in view.plan.rows] == wanted  # type: ignore[attr-defined]
    with pytest.raises(ProgramError, match=r"current_schema\(\) depends on the session.*USE catalog.schema"):
        compile_program("USE CATALOG c; CREATE VIEW v AS SELECT current_schema() AS s", session=spark)


def test_another_user_has_another_program(spark: Any, tmp_path: Any) -> None:
    text = "CREATE TABLE t (i INT); CREATE VIEW v AS SELECT i, current_user() AS u FROM t"
    program = compile_program(text, session=spark)
    # who reads the state has the program of who writes it
    assert compile_program(program.told, session=spark).fingerprint == program.fingerprint
    theirs = compile_program(f"{text}; SET current_user = 'another'", session=spark)
    assert not theirs.told
    assert theirs.fingerprint != program.fingerprint
    with Pipeline(program, state=tmp_path, runner="inline", spark=spark) as p:
        p.insert("t", [(1,)])
        p.step()
    with pytest.raises(StateError, match="v"):
        Pipeline(theirs, state=tmp_path, runner="inline", spark=spark)
    with Pipeline(theirs, state=tmp_path, runner="inline", spark=spark, evolve=True) as p:
        assert p["v"].rows() == [{"i": 1, "u": "another"}]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM sql_keywords()",
        "SELECT count(*), count_if(reserved) AS r FROM sql_keywords() WHERE keyword LIKE 'A%'",
        "SELECT name, pad_attribute, icu_version FROM collations() WHERE name LIKE 'UTF8%' OR name < 'am'",
        "SELECT c.name, k.keyword FROM collations() c JOIN sql_keywords() k ON c.language = lower(k.keyword)",
        "SELECT l, k.keyword FROM VALUES ('ADD'), ('x') q(l), LATERAL sql_keywords() k WHERE l = keyword",
    ],
)
def test_relations_of_constants(spark: Any, query: str) -> None:
    wanted = sorted(tuple(row) for row in fresh(spark).sql(query).collect())
    assert wanted or "c.language" in query
    assert rows(spark, f"CREATE VIEW v AS {query}") == wanted


@pytest.mark.parametrize(
    ("values", "condition"),
    [
        ([(1, 5, "2024-01-01"), (2, -1, "2024-01-02")], "COUNTER_DIFF_NEGATIVE_COUNTER_VALUE"),
        (
            [(1, 5, "2024-01-02"), (2, None, "2024-01-03"), (3, 9, "2024-01-01")],
            "COUNTER_DIFF_START_TIME_DECREASED",
        ),
    ],
)
def test_counters_that_fail(spark: Any, values: list[tuple[Any, ...]], condition: str) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415  only where there is a session

    query = "SELECT i, counter_diff(c, CAST(s AS TIMESTAMP)) OVER (ORDER BY i) AS d FROM t"
    given = spark.createDataFrame(values, "i INT, c INT, s STRING")
    with pytest.raises(PySparkException) as theirs:
        spark.sql(query.replace("FROM t", "FROM {t}"), t=given).collect()
    assert theirs.value.getCondition() == condition
    program = f"CREATE TABLE t (i INT, c INT, s STRING); CREATE VIEW v AS {query}"
    with Pipeline(compile_program(program, session=spark), runner="inline", spark=spark) as p:
        p.insert("t", values[:1])
        p.step()
        p.insert("t", values[1:])
        with pytest.raises(EvaluationError) as ours:
            p.step()
    assert ours.value.condition == condition

"""USE, SET and what is ignored: a note where it says nothing, an error where it would change meanings."""

from __future__ import annotations

import pytest

from tests.sql.recorded import check_program_refused, compiled

PROGRAM = "CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a FROM t; "


@pytest.mark.parametrize("setting", ["spark.sql.ansi.enabled = TRUE", "spark.sql.caseSensitive = false"])
def test_what_a_program_has_anyway_needs_no_word(setting: str) -> None:
    assert compiled(f"SET {setting}; {PROGRAM}").notes == ()


@pytest.mark.parametrize("key", ["spark.sql.shuffle.partitions", "spark.executor.memory"])
def test_how_spark_runs_is_noted(key: str) -> None:
    (note,) = compiled(f"SET {key} = 4; {PROGRAM}").notes
    assert note.startswith("p.sql:1:")
    assert note.endswith(f"SET {key} is ignored: it says how Spark runs, not what queries mean")


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("spark.sql.ansi.enabled = false", "a program's is true"),
        ("spark.sql.session.timeZone = CET", "a program's is UTC"),
        ("spark.sql.legacy.timeParserPolicy = LEGACY", "a program has Spark's default"),
    ],
)
def test_what_queries_mean_stays(setting: str, why: str) -> None:
    error = f"SET {setting} would change what queries mean, and {why}; leave it out"
    check_program_refused(f"{PROGRAM}\nSET {setting}", f"2:1: {error}")


def test_state_must_be_bounded_where_the_program_says_so() -> None:
    table = "CREATE TABLE t (a INT PRIMARY KEY, b INT);"
    keyed = f"{table} CREATE VIEW v AS SELECT b, count(*) AS n FROM t GROUP BY b;"
    assert "v" in compiled(f"SET strict = true; {keyed}").views
    bag = keyed.replace(" PRIMARY KEY", "")
    assert "v" in compiled(f"SET strict = true; SET strict = false; {bag}").views
    error = "1:1: SET strict = true, and 3 states can grow without bound: "
    check_program_refused(f"SET strict = true; {bag}", error)
    check_program_refused(f"{PROGRAM}\nSET strict = maybe", "2:1: SET strict = true, or false")


def test_names_belong_to_the_schema_in_use() -> None:
    program = compiled("USE s; CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a FROM s.t")
    assert [*program.tables, *program.views] == ["s.t", "s.v"]

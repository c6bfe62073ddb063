"""What came too late of tables that are gone is gone, too; of others it goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TABLE = (
    "CREATE TABLE {0} (ts TIMESTAMP LATENESS INTERVAL 1 HOUR, n INT);\n"
    "CREATE VIEW v_{0} AS SELECT * FROM {0};\n"
)
A, B, C = map(TABLE.format, "abc")


def hour(n: int) -> datetime:
    return datetime(2024, 1, 1, n, tzinfo=UTC)


def opened(spark: Any, state: Path, text: str) -> Pipeline:
    return Pipeline(sql=text, state=state, spark=spark, runner="inline", evolve=True)


def late(p: Pipeline) -> list[tuple[str, str]]:
    return sorted((row["relation"], row["row"]) for row in p["late_rows"].rows())


@pytest.fixture
def state(spark: Any, tmp_path: Path) -> Path:
    """Of a and b, each with a row that came too late."""
    with opened(spark, tmp_path, A + B) as p:
        for at in (9, 7):
            for table in "ab":
                p.insert(table, [(hour(at), at)])
            p.step()
        assert [relation for relation, _ in late(p)] == ["a", "b"]
    return tmp_path


@pytest.mark.parametrize("more", ["", C])
def test_a_table_goes_and_the_others_late_rows_stay(spark: Any, state: Path, more: str) -> None:
    """Also where another comes in the same change."""
    with opened(spark, state, A + B) as p:
        then = late(p)
    with opened(spark, state, A + more) as p:
        assert late(p) == then[:1]
        changed = p.changes_of("late_rows", p.last_step).rows()
        assert [(row["relation"], weight) for row, weight in changed] == [("b", -1)]
        p.insert("a", [(hour(6), 6)])
        p.step()
        assert [relation for relation, _ in late(p)] == ["a", "a"]
    with opened(spark, state, A + B) as p:  # as a new table
        assert [relation for relation, _ in late(p)] == ["a", "a"] and not p["v_b"].rows()


def test_where_it_may_be_called_late_otherwise_it_is_refused(spark: Any, state: Path) -> None:
    """A column of the table that stays is another: what a row is, isn't what it was."""
    program = compile_program(A.replace("n INT", "n BIGINT"), session=spark)
    (why,) = dbsp.plan(program, state).refused
    assert "view 'late_rows' can't be computed from what is there (LATENESS: which rows came too late)" in why
    with pytest.raises(StateError, match="late_rows"):
        opened(spark, state, A.replace("n INT", "n BIGINT"))

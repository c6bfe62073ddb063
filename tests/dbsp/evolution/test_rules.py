"""Which rows are looked at when a program says more of them than the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import DataError, StateError
from dbsp.circuits.operators.inputs.checks import Checks
from dbsp.circuits.operators.inputs.tables import OneOfEach, Upsert
from dbsp.commands.query import query_state
from dbsp.evolution.change import Change
from dbsp.sql.compiler.load import compile_program
from dbsp.state.store import Store

pytestmark = pytest.mark.spark

TEXT = "CREATE TABLE t (a INT, b INT{}){}; CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;"


def change(spark: Any, state: Path, columns: str, more: str = "") -> Change:
    store, before = Store.read(state)
    assert store.last is not None
    return Change(compile_program(TEXT.format(columns, more), session=spark), before, store.last)


@pytest.fixture
def state(spark: Any, tmp_path: Path) -> Path:
    with dbsp.Pipeline(
        sql=TEXT.format(", CHECK (a > 0)", ""), spark=spark, state=tmp_path, runner="inline"
    ) as p:
        p.insert("t", [(1, 2)])
        p.step()
    return tmp_path


def test_rows_are_looked_at_by_what_is_new(spark: Any, state: Path) -> None:
    found = change(spark, state, ", CHECK (a > 0), CONSTRAINT c CHECK (b < 5)")
    ((node, operators),) = found.checked.items()
    assert [type(one) for one in operators] == [Checks]
    assert [check.said for one in operators if isinstance(one, Checks) for check in one.checks] == [
        "CHECK c (b < 5)"
    ]
    assert found.missing == [node]
    assert "CHECK c (b < 5), by which its rows are looked at" in "\n".join(found.plan.lines())


def test_a_key_and_a_condition(spark: Any, state: Path) -> None:
    found = change(spark, state, ", PRIMARY KEY (a), CHECK (b < 5)")
    ((node, operators),) = found.checked.items()
    assert [type(one) for one in operators] == [OneOfEach, Checks]
    assert isinstance(found.circuit.nodes[node].operator, Upsert)


PLAIN, NOT_NULL, KEY, DEFAULT = (
    "id INT{}",
    "id INT NOT NULL{}",
    "id INT{}, PRIMARY KEY (id)",
    "id INT DEFAULT 5{}",
)
OVER = """
CREATE TABLE t ({});
CREATE TABLE u (id INT, y INT);
CREATE VIEW kept AS SELECT x, id FROM t;
CREATE VIEW counted AS SELECT x, count(id) AS n, max(id + x) AS m FROM t GROUP BY x;
CREATE VIEW met AS SELECT t.id, u.y FROM t LEFT JOIN u ON t.id = u.id;
CREATE VIEW ranked AS SELECT id, row_number() OVER (PARTITION BY x ORDER BY id) AS r FROM t;
CREATE VIEW there AS SELECT DISTINCT id FROM t WHERE id NOT IN (SELECT id FROM u WHERE id IS NOT NULL);
"""


def over(columns: str) -> str:
    return OVER.format(columns.format(", x INT"))


def opened(spark: Any, columns: str, state: Path | None = None) -> dbsp.Pipeline:
    kept = {} if state is None else {"state": state, "evolve": True}
    return dbsp.Pipeline(sql=over(columns), spark=spark, runner="inline", **kept)


def fed(p: dbsp.Pipeline, numbers: range) -> dbsp.Pipeline:
    p.insert("t", [(n, n % 3) for n in numbers])
    p.insert("u", [(n, n) for n in numbers if n % 2])
    p.step()
    return p


@pytest.fixture
def with_null(spark: Any, tmp_path: Path) -> Path:
    """Of a state that had a row without an id in its first step."""
    with opened(spark, PLAIN, tmp_path) as p:
        p.insert("t", [(None, 1)])
        fed(p, range(1, 9))
        p.delete("t", [(None, 1)])
        p.step()
    return tmp_path


@pytest.mark.parametrize("columns", [NOT_NULL, KEY, DEFAULT])
def test_a_column_is_never_null_from_a_step_on(spark: Any, with_null: Path, columns: str) -> None:
    with opened(spark, columns, with_null) as p, opened(spark, columns) as anew:
        fed(anew, range(1, 9))
        for numbers in (range(20, 23), range(23, 24)):
            for view in p.views:
                assert sorted(p[view].rows(), key=str) == sorted(anew[view].rows(), key=str), view
            fed(p, numbers)
            fed(anew, numbers)


@pytest.mark.parametrize("columns", [NOT_NULL, KEY, DEFAULT])
def test_a_row_without_a_value_is_named(spark: Any, tmp_path: Path, columns: str) -> None:
    with opened(spark, PLAIN, tmp_path) as p:
        p.insert("t", [(None, 1), (1, 1)])
        p.step()
    plan = dbsp.plan(compile_program(over(columns), session=spark), tmp_path)
    assert "NOT NULL of column 'id', by which its rows are looked at" in str(plan)
    why = "table 't': NOT NULL of column 'id' isn't met: id=NULL; take such rows back first"
    with pytest.raises(dbsp.StateError, match=why):
        opened(spark, columns, tmp_path)
    with opened(spark, PLAIN, tmp_path) as p:
        assert len(p["kept"].rows()) == 2


@pytest.mark.parametrize("columns", [NOT_NULL, DEFAULT])
def test_rows_that_nothing_holds_may_have_no_value(spark: Any, tmp_path: Path, columns: str) -> None:
    text = "CREATE TABLE t ({}) WITH (append_only = true); CREATE VIEW n AS SELECT count(*) AS n FROM t;"
    with dbsp.Pipeline(
        sql=text.format(PLAIN.format(", x INT")), spark=spark, state=tmp_path, runner="inline"
    ) as p:
        p.insert("t", [(None, 1)])
        p.step()
    changed = compile_program(text.format(columns.format(", x INT")), session=spark)
    (why,) = dbsp.plan(changed, tmp_path).refused
    assert (
        "'id' is never NULL now, and nothing holds the rows that were, which may have none; leave it" in why
    )


def test_what_was_null_before_is_null_in_what_is_asked_of_then(spark: Any, with_null: Path) -> None:
    with opened(spark, NOT_NULL, with_null) as p:
        select = "SELECT count(*) AS n, count(id) AS known FROM kept WHERE id IS NULL"
        assert p.sql(select, as_of=1).rows() == [{"n": 1, "known": 0}]
        assert p.sql(select).rows() == [{"n": 0, "known": 0}]
        then = "SELECT count(*) AS n FROM kept FOR SYSTEM_TIME AS OF 1 WHERE id IS NULL"
        assert p.sql(then).rows() == [{"n": 1}]
        assert [p.view("kept", as_of=step).schema.field("id").nullable for step in (1, 3)] == [True, False]
        each = p.changes("kept", since=1, each=True)
        assert each.schema.field("id").nullable
        assert {"x": 1, "id": None, "__weight": -1, "__step": 2} in each.to_pylist()
        assert p.changes("kept", since=1).to_pylist() == [{"x": 1, "id": None, "__weight": -1}]
    lines = query_state(str(with_null), "SELECT count(*) AS n FROM kept WHERE id IS NULL", 1, "json")
    assert list(lines) == ['{"n": 1}']


@pytest.mark.parametrize(
    "columns", ["", ", CHECK (a > 0), c INT GENERATED ALWAYS AS (a + b)", ", CONSTRAINT x CHECK (a > 0)"]
)
def test_nothing_is_looked_at_where_nothing_is_new(spark: Any, state: Path, columns: str) -> None:
    assert change(spark, state, columns).checked == {}


@pytest.mark.parametrize("late", ["", " LATENESS 1"])
@pytest.mark.parametrize("view", ["SELECT * FROM t", "SELECT b, count(*) AS n FROM t GROUP BY b, a"])
@pytest.mark.parametrize("rule", [", CHECK (b < 5)", " NOT NULL"])
def test_rows_of_an_append_only_table_are_looked_at_where_something_holds_them(
    spark: Any, tmp_path: Path, rule: str, view: str, late: str
) -> None:
    """Else a CHECK is of those that come, and NOT NULL, which plans rely on, is refused."""
    text = "CREATE TABLE t (a INT{}, b INT{}) WITH (append_only = true); CREATE VIEW v AS {};"
    state = tmp_path / "state"
    with dbsp.Pipeline(sql=text.format(late, "", view), spark=spark, state=state, runner="inline") as p:
        p.insert("t", [(1, 2), (1, None if "NULL" in rule else 7)])
        p.step()
    program = compile_program(text.format(late, rule, view), session=spark)
    plan, holds = dbsp.plan(program, state), "*" in view.split("FROM", maxsplit=1)[0].replace("count(*)", "")
    lines = "\n".join(plan.lines())
    assert ("by which its rows are looked at" in lines) == holds
    if holds:
        with pytest.raises(StateError, match="isn't met: b="):
            dbsp.Pipeline(program, spark=spark, state=state, runner="inline", evolve=True)
        with dbsp.Pipeline(program, spark=spark, state=tmp_path / "new", runner="inline") as p:
            p.insert("t", [(1, 2)])
            p.step()
    elif "NULL" in rule:
        assert "nothing holds the rows that were" in lines
    else:
        assert "by which rows are looked at that come from now on, as nothing holds its others" in lines
        evolved = dbsp.Pipeline(program, spark=spark, state=state, runner="inline", evolve=True)
        with evolved as p, pytest.raises(DataError, match="CHECK"):
            p.insert("t", [(1, 7)])


@pytest.mark.parametrize("rule", [", CHECK (b < 5)", " NOT NULL"])
def test_a_table_whose_rows_are_as_the_rule_says_goes_on(spark: Any, tmp_path: Path, rule: str) -> None:
    """What holds the rows stays as it is."""
    text = "CREATE TABLE t (a INT, b INT{}) WITH (append_only = true); CREATE VIEW v AS SELECT * FROM t;"
    with dbsp.Pipeline(sql=text.format(""), spark=spark, state=tmp_path, runner="inline") as p:
        p.insert("t", [(1, 2)])
        p.step()
    program = compile_program(text.format(rule), session=spark)
    assert dbsp.plan(program, tmp_path).lines()[-1] == "1 traces kept, 0 back-filled from 1 rows, 0 dropped"
    with dbsp.Pipeline(program, spark=spark, state=tmp_path, runner="inline", evolve=True) as p:
        p.insert("t", [(3, 4)])
        p.step()
        assert p["v"].rows() == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]

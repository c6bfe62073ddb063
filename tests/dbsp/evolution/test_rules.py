"""Which rows are looked at when a program says more of them than the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.operators.inputs.checks import Checks
from dbsp.circuits.operators.inputs.tables import OneOfEach, Upsert
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


@pytest.mark.parametrize(
    "columns", ["", ", CHECK (a > 0), c INT GENERATED ALWAYS AS (a + b)", ", CONSTRAINT x CHECK (a > 0)"]
)
def test_nothing_is_looked_at_where_nothing_is_new(spark: Any, state: Path, columns: str) -> None:
    assert change(spark, state, columns).checked == {}

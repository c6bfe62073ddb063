"""Joins on arrival: the stream isn't stored, the table lies by its key, and NULL keys meet nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.operators.joins.lookup import Lookup
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.plans.nodes import ArrivalJoin
from dbsp.sql.plans.nodes.join import join_schema
from tests.circuits.engine import Engine
from tests.sql.hand_made import BOOL, T, U, by_duckdb, call, column, delta_of, random_bags, table
from tests.sql.lowering.lowered import circuit_of, inputs_of, nodes_of

QUERIES = {
    "inner": "SELECT t.*, u.* FROM t JOIN u ON {on}",
    "left": "SELECT t.*, u.* FROM t LEFT JOIN u ON {on}",
    "semi": "SELECT * FROM t WHERE EXISTS (SELECT * FROM u WHERE {on})",
    "anti": "SELECT * FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE {on})",
}


def joined(kind: str, null_safe: bool = False, residual: Any = None) -> ArrivalJoin:
    keys = ((call("add", column(0), column(1)),), (column(0),), (null_safe,))
    return ArrivalJoin(T, U, kind, *keys, residual, join_schema(kind, T.schema, U.schema))


@pytest.mark.parametrize("null_safe", [False, True])
@pytest.mark.parametrize("kind", QUERIES)
def test_each_step_is_the_query_over_its_new_rows(kind: str, null_safe: bool, tmp_path: Path) -> None:
    """The oracle: DuckDB, of the step's rows and all of the table. The table shrinks again."""
    condition = f"t.a + t.b {'IS NOT DISTINCT FROM' if null_safe else '='} u.a AND t.c < u.d"
    residual = call("less_than", column(2), column(7), type_=BOOL)
    engine = Engine(circuit_of(joined(kind, null_safe, residual)), tmp_path)
    bags = random_bags(len(kind))
    rows, held = bags["t"], bags["u"]
    steps = ((rows[:7], held[:10], [], held[:10]), (rows[7:], [], held[5:10], held[:5]))
    for new, come, gone, there in steps:
        change = engine.step({"t": delta_of(T, new, [], 1), "u": delta_of(U, come, gone, -1)})["v0"]
        expected = by_duckdb(QUERIES[kind].format(on=condition), {"t": new, "u": there})
        found: Counter[tuple[Any, ...]] = Counter()
        columns = [column.to_pylist() for column in change.rows.columns]
        for row, weight in zip(zip(*columns, strict=True), change.weights.tolist(), strict=True):
            found[row] += weight
        assert found == expected


def test_only_the_table_is_kept() -> None:
    growing = (table(T, append_only=True), table(U, append_only=True))
    circuit = circuit_of(joined("inner"), tables=growing)
    (node,) = nodes_of(circuit, Lookup)
    arriving, kept = inputs_of(circuit, node)
    assert not arriving.is_trace
    assert isinstance(kept, Integrate)
    assert len(nodes_of(circuit, Integrate)) == 2  # the table's, and the view's


def test_rows_without_a_key_are_neither_stored_nor_looked_up() -> None:
    """(But where NULL is a key of its own.)"""
    assert len(nodes_of(circuit_of(joined("inner")), Filter)) == 2
    assert not nodes_of(circuit_of(joined("inner", null_safe=True)), Filter)
    assert len(nodes_of(circuit_of(joined("anti")), Filter)) == 3  # and the rows that meet nothing

"""Rows one by one and as a set, by DuckDB; and the nodes that they become."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Literal
from dbsp.circuits.operators.linear import Constant, Map
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering, Relation
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import (
    INT,
    T,
    U,
    by_duckdb,
    call,
    column,
    literal,
    positive,
    project,
    random_bags,
    rows_of,
    schema,
)
from tests.sql.lowering.lowered import circuit_of, inputs_of, nodes_of, operators

AB, CD = project(T, column(0), column(1)), project(U, column(2), column(3))
LIST = call("create_array", column(0), column(1), type_=pa.list_(INT))
PLANS: list[tuple[Plan, str]] = [
    (p.Filter(AB, positive(0)), "SELECT a, b FROM t WHERE a > 0"),
    (p.Union((AB, CD), AB.schema), "SELECT a, b FROM t UNION ALL SELECT c, d FROM u"),
    (p.Distinct(AB), "SELECT DISTINCT a, b FROM t"),
    *(
        (p.SetOperation(AB, CD, kind, AB.schema), f"SELECT a, b FROM t {kind} SELECT c, d FROM u")
        for kind in ("intersect", "intersect all", "except", "except all")
    ),
    (
        p.Expand(T, ((column(0), literal(1)), (column(1), literal(None))), schema("x", "g")),
        "SELECT a, 1 FROM t UNION ALL SELECT b, NULL FROM t",
    ),
    (
        p.Generate(T, (2,), LIST, schema("c", "e")),
        "SELECT c, a FROM t UNION ALL SELECT c, b FROM t",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("plan", "query"), PLANS, ids=[query for _, query in PLANS])
def test_rows(plan: Plan, query: str) -> None:
    bags = random_bags(len(query))
    assert rows_of(plan, bags) == by_duckdb(query, bags)


def test_constant_rows() -> None:
    values = p.Values(
        ((literal(1), Literal("x", pa.string())), (literal(None), Literal(None, pa.string()))),
        (Field("n", INT), Field("s", pa.string())),
    )
    both = p.Union(
        (p.Project(T, (column(0), Literal("t", pa.string())), values.schema), values), values.schema
    )
    bags = random_bags(0)
    assert rows_of(both, bags) == Counter([(row[0], "t") for row in bags["t"]]) + Counter(
        [(1, "x"), (None, None)]
    )
    (constant,) = operators(circuit_of(values), Constant)
    assert constant.rows.to_pylist() == [{"n": 1, "s": "x"}, {"n": None, "s": None}]


def test_both_sides_of_a_set_operation_lie_by_whole_rows() -> None:
    circuit = circuit_of(p.SetOperation(T, U, "except", T.schema))
    (node,) = nodes_of(circuit, SetOperation)
    assert inputs_of(circuit, node) == [Integrate((0, 1, 2, 3))] * 2


def test_a_scan_is_its_tables_node() -> None:
    circuit = circuit_of(T, project(T, *map(column, range(4))))
    assert circuit.output("v0").node == circuit.output("v1").node
    assert not operators(circuit, Map)


def test_an_order_of_arrival_that_nobody_keeps_is_our_bug() -> None:
    lowering = Lowering(KINDS)
    lowering.relations["t"] = Relation(0, False, None)
    with pytest.raises(AssertionError, match="nothing says when rows of t arrive"):
        lowering.plan(p.Scan("t", (*T.schema, Field("arrival", INT)), arrival=True))

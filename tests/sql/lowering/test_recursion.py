"""Recursion: reachability and levels by a brute force, and the loop that they are."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.joins.join import Join
from dbsp.circuits.operators.recursion import Earliest, Recurrence
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from tests.circuits.engine import Engine
from tests.sql.hand_made import (
    Bag,
    T,
    call,
    column,
    delta_of,
    literal,
    positive,
    project,
    random_bags,
    rows_of,
    schema,
    table,
    view,
)
from tests.sql.lowering.lowered import circuit_with, operators

# of the rows of t, an edge from a to b
PATHS = schema("from", "to")
EDGES = project(T, column(0), column(1), names="ft")
EDGES = p.Project(EDGES.input, EDGES.expressions, PATHS)


def further(scan: p.Scan, kind: str = "inner") -> Plan:
    """Paths, and an edge more: paths.to = edges.from."""
    both = join_schema(kind, PATHS, PATHS)
    joined = p.Join(scan, EDGES, kind, (column(1),), (column(0),), (False,), None, both)
    return p.Project(joined, (column(0), column(3 if kind == "inner" else 1)), PATHS)


def recursive(query: Plan, limit: int = 100) -> View:
    return view("paths", query, component=("paths",), max_iterations=limit)


def reached(edges: Bag) -> set[tuple[Any, ...]]:
    paths = {(a, b) for a, b, *_ in edges}
    while True:
        more = {(a, d) for a, b in paths for c, d, *_ in edges if b == c and b is not None}
        if more <= paths:
            return paths
        paths |= more


ALL_PATHS = p.Distinct(p.Union((EDGES, further(p.Scan("paths", PATHS))), PATHS))


def rows_of_view(circuit: Circuit, bags: dict[str, Bag]) -> set[tuple[Any, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(circuit, Path(folder))
        engine.step({"t": delta_of(T, bags["t"][:8], bags["u"][:3], 1)})
        engine.step({"t": delta_of(T, bags["t"][8:], bags["u"][:3], -1)})
        found = engine.view("paths")
    assert (found.weights == 1).all()
    return set(zip(*(column.to_pylist() for column in found.rows.columns), strict=True))


@pytest.mark.parametrize("seed", range(2))
def test_what_is_reached(seed: int) -> None:
    circuit = circuit_with([recursive(ALL_PATHS)], (table(T),))
    bags = random_bags(seed)
    assert rows_of_view(circuit, bags) == reached(bags["t"])


def test_a_view_is_distinct_by_its_own_iterations() -> None:
    circuit = circuit_with([recursive(ALL_PATHS)], (table(T),))
    assert len(operators(circuit, Earliest)) == 1
    assert not operators(circuit, Distinct)
    (loop,) = circuit.loops
    assert {type(circuit.nodes[i].operator) for i in loop.body} >= {Recurrence, Join, Earliest}
    # all of a loop is in one partition
    inside = [circuit.nodes[i].operator for i in loop.body]
    assert all(trace.gathered for trace in inside if isinstance(trace, Integrate))


def test_a_semi_join_with_the_recursion_is_made_of_pairs() -> None:
    query = p.Distinct(p.Union((EDGES, further(p.Scan("paths", PATHS), "semi")), PATHS))
    bags = random_bags(3)
    circuit = circuit_with([recursive(query)], (table(T),))
    assert rows_of_view(circuit, bags) == {(a, b) for a, b, *_ in bags["t"]}


def levels(limit: int) -> p.Levels:
    """1, and a number more as long as it is below c of some row: WITH RECURSIVE counts copies."""
    anchor = project(T, literal(0), column(2), names="nc")
    term = p.Filter(
        project(p.Scan(LEVEL, anchor.schema), call("add", column(0), literal(1)), column(1), names="nc"),
        call("less_than", column(0), column(1), type_=positive(0).type),
    )
    return p.Levels(anchor, term, limit, anchor.schema)


def test_levels_are_added_up() -> None:
    bags = random_bags(4)
    expected = Counter((n, row[2]) for row in bags["t"] for n in range(max(row[2] or 0, 1)))
    assert rows_of(levels(9), bags) == expected


def test_more_levels_than_allowed_are_an_error() -> None:
    with pytest.raises(DataError, match=r"RECURSION_LEVEL_LIMIT_EXCEEDED.* after 2 levels"):
        rows_of(levels(2), {"t": [(0, 0, 3, 0)]})

"""Recursion: the least fixed point after every step, whatever was inserted and deleted, however it is run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import Map, Union
from dbsp.circuits.operators.recursion import ITERATION_FIELD, Earliest, Recurrence
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.circuits.engine import Engine, Options, trace
from tests.generators.columns.zsets import Naive, zset_of
from tests.laws.operators_laws import OPTIONS, check, circuit_of, hash_seeds, options

EDGES = pa.schema([("a", pa.int64()), ("b", pa.int64())])
INSIDE = EDGES.append(ITERATION_FIELD)
START = Literal(0, pa.int32())


def column(i: int) -> Column:
    return Column(i, INSIDE.field(min(i, 2)).type)


def gathered(b: CircuitBuilder, node: int, *columns: int) -> int:
    return b.add(Integrate(columns, gathered=True), node)


def entering(
    b: CircuitBuilder, edges: int, recurrences: int, limit: int = 1000
) -> tuple[int, int, list[int]]:
    """(edges at iteration 0, their trace by source, the recursive relations)."""
    there = b.placed(edges, ())
    base = b.add(Map((column(0), column(1), START), INSIDE), there)
    names = [f"r{i}" for i in range(recurrences)]
    inside = [
        b.add(Recurrence(len(b.loops), name, INSIDE, limit, f"{name} goes on"), there) for name in names
    ]
    return base, gathered(b, there, 0), inside


def step_along(b: CircuitBuilder, paths: int, edges: int) -> int:
    """paths(a, b) ⋈ edges(b, c) as (a, c)."""
    columns = ((LEFT, 0), (RIGHT, 1), (LEFT, 2))
    return b.add(Join((1,), (0,), columns), gathered(b, paths, 1), edges)


def distinct(b: CircuitBuilder, *parts: int) -> int:
    union = b.add(Union(INSIDE), *parts) if len(parts) > 1 else parts[0]
    return b.add(Earliest(), gathered(b, union, 0, 1))


def closure(b: CircuitBuilder, edges: int, limit: int = 1000) -> int:
    base, by_source, (paths,) = entering(b, edges, 1, limit)
    grown = distinct(b, base, step_along(b, paths, by_source))
    return b.loop([(grown, paths)], [grown])[0]


def doubling(b: CircuitBuilder, edges: int) -> int:
    """paths = edges ∪ paths ⋈ paths: both sides are in the recursion."""
    base, _, (paths,) = entering(b, edges, 1)
    columns = ((LEFT, 0), (RIGHT, 1), (LEFT, 2), (RIGHT, 2))
    pairs = b.add(Join((1,), (0,), columns), gathered(b, paths, 1), gathered(b, paths, 0))
    later: Expression = Call("greatest", (column(2), column(3)), pa.int32())
    grown = distinct(b, base, b.add(Map((column(0), column(1), later), INSIDE), pairs))
    return b.loop([(grown, paths)], [grown])[0]


def odd_and_even(b: CircuitBuilder, edges: int) -> list[int]:
    """odd = edges ∪ even ⋈ edges, even = odd ⋈ edges: pairs with a walk of odd, of even length."""
    base, by_source, (odd, even) = entering(b, edges, 2)
    grown_odd = distinct(b, base, step_along(b, even, by_source))
    grown_even = distinct(b, step_along(b, odd, by_source))
    return b.loop([(grown_odd, odd), (grown_even, even)], [grown_odd, grown_even])


def walks(edges: Naive) -> tuple[Naive, Naive]:
    """By the book: pairs with a walk of odd, of even length."""
    there = {(a, b) for (_, a, b), weight in edges.items() if weight > 0}
    sides: tuple[set[Any], set[Any]] = (set(there), set())
    size = -1
    while size != len(sides[0]) + len(sides[1]):
        size = len(sides[0]) + len(sides[1])
        for mine, other in (sides, sides[::-1]):
            other |= {(a, d) for a, b in mine for c, d in there if b == c}
    odd, even = (Naive(map(identity, side)) for side in sides)
    return odd, even


def paths(edges: Naive) -> Naive:
    odd, even = walks(edges)
    return Naive({*odd, *even})


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, ZSet]]:
    """Deltas of a bag of edges that is never negative: chains, cycles and loops of few nodes."""
    held: Naive = Naive()
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        delta: Naive = Naive()
        for edge in draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)):
            there = held[edge] + delta[edge]
            delta[edge] += draw(st.sampled_from([-there, -1, 1, 2] if there else [1, 2]))
        held.update(delta)
        steps.append({"e": edges_of(delta.items())})
    return steps


def edges_of(edges: Iterable[tuple[Any, int]]) -> ZSet:
    return zset_of(EDGES, list(edges))


@given(graphs(), options, hash_seeds)
def test_transitive_closure(stream: Any, way: Options, seed: int) -> None:
    check(circuit_of({"e": EDGES}, closure, seed), stream, paths, way)


@given(graphs(), options, hash_seeds)
def test_both_sides_recursive(stream: Any, way: Options, seed: int) -> None:
    check(circuit_of({"e": EDGES}, doubling, seed), stream, paths, way)


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@given(stream=graphs(), way=options, seed=hash_seeds)
def test_mutual_recursion(side: int, stream: Any, way: Options, seed: int) -> None:
    circuit = circuit_of({"e": EDGES}, lambda b, e: odd_and_even(b, e)[side], seed)
    check(circuit, stream, lambda e: walks(e)[side], way)


@pytest.mark.slow
@given(graphs(), options)
def test_a_recursion_over_another(stream: Any, way: Options) -> None:
    """The walks of the reachability graph are the pairs again, and a loop is a node like any other."""
    check(circuit_of({"e": EDGES}, lambda b, e: closure(b, closure(b, e))), stream, paths, way)


def chain(length: int) -> ZSet:
    return edges_of(((i, i + 1), 1) for i in range(length))


@pytest.mark.slow
@pytest.mark.parametrize("way", OPTIONS)
def test_a_long_chain_cut_and_mended(way: Options) -> None:
    cut = edges_of([((30, 31), 1)])
    check(circuit_of({"e": EDGES}, closure), [{"e": d} for d in (chain(60), -cut, cut)], paths, way)


def engine(limit: int, root: str) -> Engine:
    return Engine(circuit_of({"e": EDGES}, lambda b, e: closure(b, e, limit)), Path(root))


def test_the_limit_of_iterations() -> None:
    with tempfile.TemporaryDirectory() as root:
        engine(5, root).step({"e": chain(5)})
    with tempfile.TemporaryDirectory() as root:
        running = engine(5, root)
        running.step({"e": chain(5)})
        with pytest.raises(DataError, match="r0 goes on; nothing of this step was kept"):
            running.step({"e": edges_of([((5, 6), 1)])})
        # what would have gone beyond the limit but is taken back in time doesn't count
        running.step({"e": edges_of([((5, 6), 1), ((0, 1), -1)])})


def test_one_edge_costs_its_own_paths() -> None:
    """A thousand chains of ten: cutting one of them reads and writes what that chain has."""
    many = edges_of(((100 * c + i, 100 * c + i + 1), 1) for c in range(1000) for i in range(10))
    with tempfile.TemporaryDirectory() as root:
        running = Engine(circuit_of({"e": EDGES}, closure), Path(root), Options(small=0))
        running.step({"e": many})
        before = sum(running.state.rows().values())
        assert len(running.step({"e": edges_of([((505, 506), -1)])})["v"]) == 6 * 5
        assert sum(running.state.rows().values()) - before < 5 * 6 * 5


def test_a_circuit_without_a_loop_has_none() -> None:
    builder = CircuitBuilder()
    circuit: Circuit = circuit_of({"e": EDGES}, closure)
    assert len(circuit.loops) == 1 and not builder.build().loops
    assert circuit.gathered and trace(builder, builder.add(Recurrence(0, "r", INSIDE, 1, "")), (0,))

"""The law every operator obeys: its incremental form is D ∘ lift(Q) ∘ I, however it is run.

I(Q^Δ(d)) = Q(I(d))  after every step

And what it says of itself holds: insertions make it retract nothing where it says so, and a column of its
output takes no more values than the column it comes from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.progress.proofs.lineage import origin
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, output, source
from tests.generators.columns.zsets import Naive, naive_of, plus, zsets

Deltas = Mapping[str, ZSet]
Query = Callable[..., Naive]

# what must not matter
OPTIONS = [
    Options(),
    Options(small=0),
    Options(small=1 << 60),
    Options(partitions=3),
    Options(partitions=2, small=0, reopened=True, parts=3),
]
options = st.sampled_from(OPTIONS)
hash_seeds = st.sampled_from([0, FOUR_BITS])


@st.composite
def streams(draw: st.DrawFn, tables: Mapping[str, pa.Schema], steps: int = 4, size: int = 6) -> list[Deltas]:
    """A few deltas of each table, some of them empty; in one of four streams nothing is retracted."""
    deltas = [
        {name: draw(zsets(schema, size)) for name, schema in tables.items()}
        for _ in range(draw(st.integers(1, steps)))
    ]
    if draw(st.integers(0, 3)) < 3:
        return deltas
    return [{name: ZSet(d.rows, np.abs(d.weights)) for name, d in delta.items()} for delta in deltas]


def circuit_of(tables: Mapping[str, pa.Schema], build: Callable[..., int], seed: int = 0) -> Circuit:
    """A circuit with one view `v` over sources; build(builder, *sources) adds the operator."""
    builder = CircuitBuilder(seed)
    sources = [source(builder, name, schema) for name, schema in tables.items()]
    output(builder, "v", build(builder, *sources))
    return builder.build()


def check(circuit: Circuit, stream: Sequence[Deltas], query: Query, options: Options) -> None:
    """After every step the view is the query over the integrals of the sources."""
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit, Path(root), options)
        held: dict[str, Naive] = {name: Naive() for name in circuit.sources}
        view = Naive()
        node = circuit.output("v").node
        grows = node not in circuit.retracting(circuit.sources.values())
        for deltas in stream:
            change = engine.step(deltas)["v"]
            grows = grows and all((delta.weights >= 0).all() for delta in deltas.values())
            assert not grows or (change.weights >= 0).all(), "an operator says that it retracts nothing"
            view = plus(view, naive_of(change))
            held = {name: plus(held[name], naive_of(deltas[name])) for name in held}
            expected = query(*held.values())
            assert view == expected
            assert naive_of(engine.view("v")) == expected
            _check_origins(circuit, node, view, held)
        nothing = {name: ZSet.empty(delta.schema) for name, delta in stream[-1].items()}
        assert not len(engine.step(nothing)["v"]), "empty in, empty out"
        engine.step({name: -_total(name, stream) for name in held})
        assert naive_of(engine.view("v")) == query(*(Naive() for _ in held))
        # runs that were never merged still list what cancels
        if options.small and not len(engine.view("v")):
            assert not sum(engine.state.rows().values()), "nothing in, nothing kept"


def _check_origins(circuit: Circuit, node: int, view: Naive, held: Mapping[str, Naive]) -> None:
    """A column takes no more values than where it comes from, but for NULL beside rows without a match."""
    for column in range(len(circuit.nodes[node].schema)):
        found = origin(circuit, node, column)
        if found is not None:
            table, name = found
            source = circuit.nodes[circuit.sources[table]].schema.get_field_index(name)
            values = {row[1:][column] for row in view} - {None}
            assert len(values) <= len({row[1:][source] for row in held[table]}), f"column {column} of {found}"


def _total(name: str, stream: Sequence[Deltas]) -> ZSet:
    parts = [deltas[name] for deltas in stream]
    return ZSet.sum(parts[0].schema, parts)

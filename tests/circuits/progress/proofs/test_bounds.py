"""What is proved of each stream holds: no row of a later delta lies below the bound."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.mirror import column_at, column_of
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import Map, Negate, Union
from dbsp.circuits.progress.limits import least_bound, waterline_row
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.progress.waterline import Lateness
from tests.circuits.engine import Engine, source, trace
from tests.effort import examples
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import streams

INT = pa.int64()
SCHEMA = pa.schema([("k", INT), ("t", INT)])
R, S = Lateness("r.t", 1, INT, 1), Lateness("s.t", 1, INT, 2)
K, T = Column(0, INT), Column(1, INT)
ANSI = (("evalMode", "ANSI"),)
LATER = Call("add", (T, Literal(10, INT)), INT, True, ANSI)
FALLING = Call("subtract", (Literal(0, INT), T), INT, True, ANSI)


def chain() -> tuple[Circuit, dict[str, int]]:
    """Streams over two tables whose second columns have a lateness, by name."""
    builder = CircuitBuilder(lateness=[R, S])
    r = builder.add(OnTime("r", (R,)), source(builder, "r", SCHEMA))
    s = builder.add(OnTime("s", (S,)), source(builder, "s", SCHEMA))
    mapped = builder.add(Map((LATER, FALLING), SCHEMA), r)
    both = builder.add(Union(SCHEMA), r, s)
    joined = builder.add(
        Join((1,), (1,), ((LEFT, 0), (LEFT, 1), (RIGHT, 0))), trace(builder, r, (1,)), trace(builder, s, (1,))
    )
    gone = builder.add(Negate(), mapped)
    names = {"r": r, "mapped": mapped, "both": both, "joined": joined, "gone": gone}
    for name, node in names.items():
        kept = trace(builder, node)
        builder.output(name, builder.nodes[kept].inputs[0], kept)
    return builder.build(), names


def test_bounds_of_every_node() -> None:
    circuit, names = chain()
    proved = all_bounds(circuit)
    of_r, of_s = (Column(0, INT),), (Column(1, INT),)
    assert len(proved) == len(circuit.nodes)
    assert all(not proved[i] for i in circuit.sources.values()), "anything may come before the late filter"
    assert proved[names["r"]] == {1: of_r}
    assert proved[names["both"]] == {1: (*of_r, *of_s)}
    assert proved[names["joined"]] == {1: (*of_r, *of_s)}
    assert set(proved[names["mapped"]]) == set(proved[names["gone"]]) == {0, ~1}


@examples(12)
@given(streams({"r": SCHEMA, "s": SCHEMA}, steps=5))
def test_no_later_row_lies_below_its_bound(stream: list[dict[str, object]]) -> None:
    circuit, names = chain()
    proved = all_bounds(circuit)
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit, Path(root))
        for deltas in stream:
            row = waterline_row(circuit.lateness, engine.state.waterlines)
            small = {n: zset_of(SCHEMA, _within(d)) for n, d in deltas.items()}
            changes = engine.step(small)
            for name, node in names.items():
                for column, bound in proved[node].items():
                    least = least_bound(bound, row)
                    looked_at = column_at(column, changes[name].schema.types[column_of(column)])
                    values = evaluate(looked_at, changes[name].rows).drop_null().to_pylist()
                    assert least is None or all(value >= least.as_py() for value in values), name


def _within(delta: object) -> list[tuple[tuple[int | None, ...], int]]:
    """The rows, of values far from where arithmetic overflows."""
    rows = zip(*(c.to_pylist() for c in delta.rows.columns), strict=True)  # type: ignore[attr-defined]
    small = (tuple(None if v is None else v % 7 for v in row) for row in rows)
    return list(zip(small, delta.weights.tolist(), strict=True))  # type: ignore[attr-defined]


def test_nothing_is_proved_without_a_lateness() -> None:
    builder = CircuitBuilder()
    builder.add(Negate(), source(builder, "r", SCHEMA))
    assert all_bounds(builder.build()) == [{}, {}]

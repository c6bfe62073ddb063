"""What is stored of a view: the sum of its deltas, and whose it is when it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.errors import DamagedChunk
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.inputs.tables import AppendOnly
from dbsp.circuits.operators.linear import Negate
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.steps.contents import Owner, changes, contents, is_pending, open_chunk
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, output, source, trace
from tests.effort import examples
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of
from tests.laws.operators_laws import Deltas, options, streams

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])


def kept_and_logged() -> Circuit:
    """A table as a view in a trace, and one that only grows as a view in a log."""
    builder = CircuitBuilder()
    table = builder.placed(source(builder, "t", SCHEMA), (0, 1))
    builder.output("kept", table, builder.add(Integrate((0, 1)), table, name="kept"))
    grows = builder.add(AppendOnly("u"), source(builder, "u", SCHEMA))
    builder.output("logged", grows, None)
    return builder.build()


@examples(15)
@given(streams({"t": SCHEMA}), options)
def test_contents_are_the_sum_of_changes(
    tmp_path_factory: pytest.TempPathFactory, stream: list[Deltas], way: Options
) -> None:
    engine = Engine(kept_and_logged(), tmp_path_factory.mktemp("c"), way)
    total = {"kept": Naive(), "logged": Naive()}
    for deltas in stream:
        grows = ZSet(deltas["t"].rows, np.abs(deltas["t"].weights))
        found = engine.step({"t": deltas["t"], "u": grows})
        for view, delta in (("kept", deltas["t"]), ("logged", grows)):
            total[view] = plus(total[view], naive_of(delta))
            assert naive_of(found[view]) == naive_of(delta)
            held = engine.view(view)
            assert naive_of(held) == total[view]
            assert len(held) == len(total[view]), "consolidated"


def test_without_a_step_there_is_nothing(tmp_path: Path) -> None:
    engine = Engine(kept_and_logged(), tmp_path)
    assert contents(engine.circuit, engine.state, "kept", engine.segments).schema == SCHEMA
    assert not len(changes(engine.circuit, "logged", [], engine.segments))
    assert not is_pending(engine.circuit, engine.state, engine.segments), "no view waits for anything"


def test_a_chunk_is_read_when_it_is_looked_into(tmp_path: Path) -> None:
    engine = Engine(kept_and_logged(), tmp_path)
    engine.step({"t": zset_of(SCHEMA, [((1, "a"), 1), ((2, "b"), 1)])})
    (chunk,) = engine.state.spines[engine.circuit.output("kept").kept].live
    (tmp_path / chunk.segment).write_bytes(b"")
    engine = Engine(engine.circuit, tmp_path)
    batch = open_chunk(engine.circuit, engine.circuit.output("kept").kept, chunk, engine.segments)
    assert len(batch) == 2
    with pytest.raises(DamagedChunk, match="the chunk of 'kept' at byte 0 ends early"):
        _ = batch.rows


def test_owners_in_words() -> None:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    mine = trace(builder, table)
    output(builder, "v", builder.add(Distinct(), mine, name="v"))
    output(builder, "w", builder.add(Negate(), mine))
    lonely = trace(builder, builder.add(Negate(), table))
    circuit = builder.build()
    assert str(Owner(circuit, table)) == "'t', for views 'v', 'w'"
    assert str(Owner(circuit, mine)) == "views 'v', 'w'", "by those whose rows come from it"
    assert str(Owner(circuit, circuit.output("v").kept)) == "'v'"
    assert str(Owner(circuit, circuit.output("w").node)) == "view 'w'"
    assert str(Owner(circuit, circuit.output("w").kept)) == "view 'w'"
    assert str(Owner(circuit, lonely)) == "Integrate"

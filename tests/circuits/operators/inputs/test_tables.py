"""Tables: bags don't go below zero, append-only ones don't retract, keyed ones keep the last row of a key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import AbsentRow, DataError, SharedKey
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, OneOfEach, Upsert
from dbsp.circuits.operators.linear import SEQUENCE, Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.testing.bags import identity
from tests.circuits.engine import Engine, Options, output, trace
from tests.generators.columns.zsets import Naive, Row, kinds, naive_of, plus, rows_of, schemas, zset_of
from tests.laws.operators_laws import circuit_of, hash_seeds, options, streams


@st.composite
def one(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"t": schema}, steps=5))


@given(one(), options, hash_seeds)
def test_a_delta_below_zero_is_refused_and_leaves_the_state(
    tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options, seed: int
) -> None:
    schema, stream = case
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(NonNegative("t"), trace(b, t)), seed)
    engine = Engine(circuit, tmp_path_factory.mktemp("n"), way)
    held = Naive()
    for deltas in stream:
        after = plus(held, naive_of(deltas["t"]))
        if any(weight < 0 for weight in after.values()):
            before = engine.state
            with pytest.raises(DataError, match="table 't': can't retract the row"):
                engine.step(deltas)
            assert engine.state is before
        else:
            engine.step(deltas)
            held = after
        assert naive_of(engine.view("v")) == held


@given(one(), options, hash_seeds)
def test_two_rows_of_a_key_are_refused_and_leave_the_state(
    tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options, seed: int
) -> None:
    """By the first column, in which values are few."""
    schema, stream = case
    builder = CircuitBuilder(seed)
    builder.sources["t"] = table = builder.add(Source("t", schema))
    kept = builder.add(Integrate((0,)), builder.placed(table, (0,)))
    output(builder, "v", builder.add(OneOfEach("t", (0,)), kept))
    engine = Engine(builder.build(), tmp_path_factory.mktemp("k"), way)
    held = Naive()
    for deltas in stream:
        after = plus(held, naive_of(deltas["t"]))
        of_key: Counter[Any] = Counter()
        for row, weight in after.items():
            of_key[row[1]] += weight  # after a mark
        if all(count in (0, 1) for count in of_key.values()):
            engine.step(deltas)
            held = after
        else:
            before = engine.state
            with pytest.raises(SharedKey, match=r"table 't' has -?[0-9]+ rows with the key"):
                engine.step(deltas)
            assert engine.state is before
        assert naive_of(engine.view("v")) == held


@given(one(), options)
def test_append_only(tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options) -> None:
    schema, stream = case
    engine = Engine(
        circuit_of({"t": schema}, lambda b, t: b.add(AppendOnly("t"), t)), tmp_path_factory.mktemp("a"), way
    )
    for deltas in stream:
        if (deltas["t"].weights < 0).any():
            with pytest.raises(DataError, match="append-only"):
                engine.step(deltas)
        else:
            assert naive_of(engine.step(deltas)["v"]) == naive_of(deltas["t"])


@st.composite
def keyed(draw: st.DrawFn) -> Any:
    """(schema, key size, steps of changes): a change is a row and +1, or -1 for a delete."""
    size = draw(st.integers(1, 2))
    schema = pa.schema([*(pa.field(f"k{i}", draw(kinds)) for i in range(size)), pa.field("x", draw(kinds))])
    change = st.tuples(rows_of(schema), st.sampled_from([1, 1, -1]))
    return schema, size, draw(st.lists(st.lists(change, max_size=6), max_size=5))


@given(keyed(), options, hash_seeds)
def test_the_last_change_of_a_key_wins(
    tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options, seed: int
) -> None:
    schema, size, steps = case
    builder = CircuitBuilder(seed)
    key = tuple(range(size))
    table = builder.add(Source("t", schema.append(pa.field(SEQUENCE, pa.int64(), nullable=False))))
    builder.sources["t"] = table
    output(builder, "v", builder.add(Upsert(key), builder.placed(table, key)))
    engine = Engine(builder.build(), tmp_path_factory.mktemp("u"), way)
    held: dict[Any, Row] = {}
    view = Naive()
    for changes in steps:
        for row, sign in changes:
            if sign > 0:
                held[identity(row[:size])] = row
            else:
                held.pop(identity(row[:size]), None)
        view = plus(view, naive_of(engine.step({"t": zset_of(schema, changes)})["v"]))
        assert view == Naive({identity(row): 1 for row in held.values()})
        assert naive_of(engine.view("v")) == view


def test_rows_deleted_from_several_runs_are_one_sorted_batch(tmp_path: Path) -> None:
    schema, builder = pa.schema([("k", pa.int64()), ("x", pa.int64())]), CircuitBuilder()
    table = builder.add(Source("t", schema.append(pa.field(SEQUENCE, pa.int64(), nullable=False))))
    builder.sources["t"] = table
    output(builder, "v", builder.add(Upsert((0,)), builder.placed(table, (0,))))
    engine = Engine(builder.build(), tmp_path, Options(small=0))
    for k in range(6):
        engine.step({"t": zset_of(schema, [((k, 0), 1)])})
    gone = engine.step({"t": zset_of(schema, [((k, None), -1) for k in range(6)])})
    assert naive_of(gone["v"]) == naive_of(zset_of(schema, [((k, 0), -1) for k in range(6)]))


def test_the_message_names_table_row_and_counts(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    circuit = circuit_of({"votes": schema}, lambda b, t: b.add(NonNegative("votes"), trace(b, t)))
    engine = Engine(circuit, tmp_path)
    engine.step({"votes": zset_of(schema, [((1, "x"), 1)])})
    with pytest.raises(AbsentRow) as error:
        engine.step({"votes": zset_of(schema, [((1, "x"), -3), ((2, "y"), 1)])})
    assert (error.value.table, error.value.row) == ("votes", "id=1, name=x")
    assert "table 'votes': can't retract the row (id=1, name=x) 3 times: it is there once" in str(error.value)
    with pytest.raises(AbsentRow, match=r"the row \(id=NULL, name=NULL\): it isn't there; nothing"):
        engine.step({"votes": zset_of(schema, [((None, None), -1)])})

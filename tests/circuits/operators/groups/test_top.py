"""Top-k: the rows of each partition whose rank is at most k, from the outermost rows alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups import top
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options
from tests.generators.columns.zsets import Naive, kinds, naive_of, plus
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

pytestmark = pytest.mark.usefixtures("ties")

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.int32()), ("y", pa.int16())])
NUMBERS = pa.schema([("k", pa.int64()), ("x", pa.int64())])
RANKINGS = st.sampled_from(["row_number", "rank", "dense_rank"])


def first_null(value: int | None) -> tuple[bool, int]:
    return (value is not None, value or 0)


def last_null(value: int | None) -> tuple[bool, int]:
    return (value is None, value or 0)


def downwards(value: int | None) -> tuple[bool, int]:
    return (value is None, -(value or 0))


def downwards_null_first(value: int | None) -> tuple[bool, int]:
    return (value is not None, -(value or 0))


ORDERS = {
    (False, False): first_null,
    (False, True): last_null,
    (True, True): downwards,
    (True, False): downwards_null_first,
}


def topped(table: Naive, by: SortKey, ranking: str, size: int, ranked: bool) -> Naive:
    order = ORDERS[by.descending, by.nulls_last]
    found: list[Naive] = []
    for key in {row[1] for row in table}:
        rows = [row for row, n in table.items() for _ in range(max(n, 0)) if row[1] == key]
        rows.sort(key=lambda r: (order(r[2]), *map(first_null, r[1:])))
        values = [row[2] for row in rows]
        for at, row in enumerate(rows):
            rank = at + 1
            if ranking == "rank":
                rank = values.index(row[2]) + 1
            if ranking == "dense_rank":
                rank = len(set(values[: at + 1]))
            if rank <= size:
                found.append(Naive({(*row, rank) if ranked else row: 1}))
    return plus(*found)


@given(
    streams({"t": SCHEMA}, steps=5, size=8),
    st.builds(SortKey, st.just(1), st.booleans(), st.booleans()),
    RANKINGS,
    st.integers(0, 3),
    st.booleans(),
    options,
    hash_seeds,
)
def test_top(
    stream: Any, by: SortKey, ranking: str, size: int, ranked: bool, way: Options, seed: int
) -> None:
    def build(builder: CircuitBuilder, table: int) -> int:
        integrate = Integrate((0,), order=1, nulls_greatest=by.nulls_last != by.descending)
        trace = builder.add(integrate, builder.placed(table, (0,)))
        return builder.add(Top((0,), (by,), ranking, size, ranked), trace)

    patch = pytest.MonkeyPatch()
    patch.setattr(top, "_FIRST_FETCH", 1)  # so that a few rows take several rounds
    try:
        circuit = circuit_of({"t": SCHEMA}, build, seed)
        check(circuit, stream, lambda table: topped(table, by, ranking, size, ranked), way)
    finally:
        patch.undo()


@given(st.data(), kinds, options, hash_seeds, st.booleans(), st.booleans())
def test_appends_keep_the_top_alone(
    data: Any, data_type: pa.DataType, way: Options, seed: int, descending: bool, ranked: bool
) -> None:
    """Fed the same rows, what keeps everything and what keeps the top put out the same."""
    schema = pa.schema([("k", pa.int32()), ("x", data_type)])
    size, ranking, by = data.draw(st.integers(1, 3)), data.draw(RANKINGS), (SortKey(1, descending),)

    def keeping(builder: CircuitBuilder, table: int) -> int:
        placed = builder.placed(table, (0,))
        trace = builder.add(Integrate((0,), order=1, nulls_greatest=descending), placed)
        return builder.add(Top((0,), by, ranking, size, ranked), trace)

    def forgetting(builder: CircuitBuilder, table: int) -> int:
        return builder.add(TopOfAppends((0,), by, ranking, size, ranked), builder.placed(table, (0,)))

    stream = [{"t": positive(deltas["t"])} for deltas in data.draw(streams({"t": schema}, steps=4, size=8))]
    changes = []
    for build in (keeping, forgetting):
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as root:
            patch.setattr(top, "_FIRST_FETCH", 1)
            engine = Engine(circuit_of({"t": schema}, build, seed), Path(root), way)
            changes.append([naive_of(engine.step(deltas)["v"]) for deltas in stream])
    assert changes[0] == changes[1]


def numbers(*rows: tuple[int, int]) -> ZSet:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in (0, 1)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=NUMBERS), np.ones(len(rows), np.int64))


def test_a_change_reads_the_outermost_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand rows in a partition, a few."""

    def build(builder: CircuitBuilder, table: int) -> int:
        trace = builder.add(Integrate((0,), order=1), builder.placed(table, (0,)))
        return builder.add(Top((0,), (SortKey(1, True),), "row_number", 3), trace)

    engine = Engine(circuit_of({"t": NUMBERS}, build), tmp_path)
    engine.step({"t": numbers(*((k, x) for k in range(3) for x in range(10_000)))})
    listed: list[int] = []
    list_rows = top.list_rows

    def counting(*arguments: Any) -> Any:
        touched = list_rows(*arguments)
        listed.append(touched.rows.num_rows)
        return touched

    monkeypatch.setattr(top, "list_rows", counting)
    changed = engine.step({"t": numbers((1, 9_998)) + -numbers((1, 9_999))})["v"]
    assert naive_of(changed) == Naive({("list", 1, 9_999): -1, ("list", 1, 9_998): 1})
    assert sum(listed) < 50


def test_appends_keep_k_rows(tmp_path: Path) -> None:
    def build(builder: CircuitBuilder, table: int) -> int:
        return builder.add(
            TopOfAppends((0,), (SortKey(1, True),), "row_number", 2), builder.placed(table, (0,))
        )

    engine = Engine(circuit_of({"t": NUMBERS}, build), tmp_path, Options(small=1 << 60))
    for step in range(20):
        engine.step({"t": numbers(*((k, 100 * step + x) for k in range(3) for x in range(10)))})
    assert set(engine.state.rows().values()) == {6}


def positive(delta: ZSet) -> ZSet:
    return ZSet(delta.rows, np.abs(delta.weights))

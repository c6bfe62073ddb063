"""Window functions: a partition's rows in order, each with what its neighbours say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.calls import Frame, WindowFunction
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, trace
from tests.generators.columns.zsets import Naive, plus
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.int32()), ("y", pa.int16())])
BY_X = (SortKey(1),)
BY_Y_DOWN = (SortKey(2, descending=True, nulls_last=True), SortKey(1))
NARROW = Frame(True, -1, 1)

FUNCTIONS = {
    "row_number": WindowFunction("row_number", pa.int32(), BY_X),
    "rank": WindowFunction("rank", pa.int32(), BY_Y_DOWN),
    "sum": WindowFunction("sum", pa.int64(), BY_X, (1,), NARROW),
    "max": WindowFunction("max", pa.int16(), BY_Y_DOWN, (2,), Frame(True, None, 0)),
    "lead": WindowFunction("lead", pa.int32(), BY_X, (1, 1), number=2, ignore_nulls=True),
}


def first_null(value: int | None) -> tuple[bool, int]:
    return (value is not None, value or 0)


def sorted_rows(rows: list[Any], order: tuple[SortKey, ...]) -> list[Any]:
    """By the order, then by the whole row."""
    if order == BY_X:
        return sorted(rows, key=lambda r: (first_null(r[2]), *map(first_null, r[1:])))
    down = {r: (r[3] is None, -(r[3] or 0)) for r in rows}
    return sorted(rows, key=lambda r: (down[r], first_null(r[2]), *map(first_null, r[1:])))


def naive_value(name: str, rows: list[Any], at: int) -> int | None:
    row = rows[at]
    if name == "row_number":
        return at + 1
    if name == "rank":
        return 1 + next(i for i, other in enumerate(rows) if other[2:] == row[2:])
    if name == "sum":
        near = [r[2] for r in rows[max(at - 1, 0) : at + 2] if r[2] is not None]
        return sum(near) if near else None
    if name == "max":
        return max((r[3] for r in rows[: at + 1] if r[3] is not None), default=None)
    known = [r[2] for r in rows[at + 1 :] if r[2] is not None]
    found: int | None = known[1] if len(known) > 1 else row[2]
    return found


def windowed(table: Naive, names: list[str]) -> Naive:
    found: list[Naive] = []
    for key in {row[1] for row in table}:
        rows = [row for row, n in table.items() for _ in range(max(n, 0)) if row[1] == key]
        places: dict[Any, list[list[Any]]] = {row: [[] for _ in names] for row in rows}
        for i, name in enumerate(names):
            ordered = sorted_rows(rows, FUNCTIONS[name].order)
            for at, row in enumerate(ordered):
                places[row][i].append(naive_value(name, ordered, at))
        for row, columns in places.items():
            found += [Naive({(*row, *values): 1}) for values in zip(*columns, strict=True)]
    return plus(*found)


def window(names: list[str]) -> Any:
    functions = tuple(FUNCTIONS[name] for name in names)

    def build(builder: CircuitBuilder, table: int) -> int:
        return builder.add(Window((0,), functions), trace(builder, table, (0,)))

    return build


@given(
    st.lists(st.sampled_from(list(FUNCTIONS)), min_size=1, max_size=3, unique=True),
    streams({"t": SCHEMA}, steps=4, size=6),
    options,
    hash_seeds,
)
def test_windows(names: list[str], stream: Any, way: Options, seed: int) -> None:
    circuit = circuit_of({"t": SCHEMA}, window(names), seed)
    check(circuit, stream, lambda table: windowed(table, names), way)


def rows_of(*rows: tuple[int, int]) -> ZSet:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in (0, 1)]
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), np.ones(len(rows), np.int64))


def test_only_changed_rows_come_out(tmp_path: Any) -> None:
    """A row at a partition's end changes the running sums behind it, not those before."""
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    running = WindowFunction("sum", pa.int64(), BY_X, (1,), Frame(True, None, 0))

    def build(builder: CircuitBuilder, table: int) -> int:
        return builder.add(Window((0,), (running,)), trace(builder, table, (0,)))

    engine = Engine(circuit_of({"t": schema}, build), tmp_path)
    engine.step({"t": rows_of(*((k, x) for k in range(3) for x in range(100)))})
    changed = engine.step({"t": rows_of((1, 98))})["v"]
    assert sorted(
        zip(*(c.to_pylist() for c in changed.rows.columns), changed.weights.tolist(), strict=True)
    ) == [
        (1, 98, 4949, 1),
        (1, 99, 4950, -1),
        (1, 99, 5048, 1),
    ]


@pytest.mark.parametrize("lengths", [[1], [7, 1, 16, 3], [100]])
def test_ntile_and_ranks_by_the_book(tmp_path: Any, lengths: list[int]) -> None:
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    functions = tuple(
        WindowFunction(name, kind, BY_X, number=5)
        for name, kind in {
            "ntile": pa.int32(),
            "percent_rank": pa.float64(),
            "cume_dist": pa.float64(),
        }.items()
    )

    def build(builder: CircuitBuilder, table: int) -> int:
        return builder.add(Window((0,), functions), trace(builder, table, (0,)))

    rows = [(k, x) for k, length in enumerate(lengths) for x in range(length)]
    found = Engine(circuit_of({"t": schema}, build), tmp_path).step({"t": rows_of(*rows)})["v"]
    for k, x, tile, percent, dist in zip(*(c.to_pylist() for c in found.rows.columns), strict=True):
        n = lengths[k]
        sizes = [n // 5 + (i < n % 5) for i in range(5)]
        assert sum(sizes[: tile - 1]) <= x < sum(sizes[:tile])
        assert (percent, dist) == (x / (n - 1) if n > 1 else 0.0, (x + 1) / n)

"""Functions that see a few places around each row: a change is read near it, and shows near it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.groups import nearby, window
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.calls import Frame, WindowFunction
from dbsp.circuits.operators.groups.windows.near import Sight, sight
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine
from tests.generators.columns.zsets import Naive, plus
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

pytestmark = pytest.mark.usefixtures("worth")

SCHEMA = pa.schema([("k", pa.bool_()), ("x", pa.int32()), ("y", pa.int16())])
UP, DOWN = SortKey(1), SortKey(1, descending=True, nulls_last=True)
X = Column(1, pa.int32(), nullable=True)


def edge(n: int, by: SortKey = UP) -> Call:
    """Of RANGE: x and n more, or less where the order descends."""
    amount = Literal(-n if by.descending else n, pa.int32())
    return Call("add", (X, amount), pa.int32(), True, (("evalMode", "ANSI"),))


def known(values: list[int | None]) -> list[int]:
    return [value for value in values if value is not None]


# by name: the function over y in an order, and what it is of the y of a partition, in order, at a place
CALLS: dict[str, tuple[Any, Any]] = {
    "lag": (
        lambda order: WindowFunction("lead", pa.int16(), order, (2, 2), number=-1),
        lambda y, at: y[at - 1] if at else y[at],
    ),
    "lead 2": (
        lambda order: WindowFunction("lead", pa.int16(), order, (2, 2), number=2),
        lambda y, at: y[at + 2] if at + 2 < len(y) else y[at],
    ),
    "lag of values": (
        lambda order: WindowFunction("lead", pa.int16(), order, (2, 2), number=-2, ignore_nulls=True),
        lambda y, at: ([y[at], y[at], *known(y[:at])])[-2] if len(known(y[:at])) > 1 else y[at],
    ),
    "last value": (
        lambda order: WindowFunction(
            "last", pa.int16(), order, (2,), Frame(True, None, 0), ignore_nulls=True
        ),
        lambda y, at: (known(y[: at + 1]) or [None])[-1],
    ),
    "last of what was": (
        lambda order: WindowFunction(
            "last", pa.int16(), order, (2,), Frame(True, None, -2), ignore_nulls=True
        ),
        lambda y, at: (known(y[: max(at - 1, 0)]) or [None])[-1],
    ),
    "last of what will be": (
        lambda order: WindowFunction(
            "last", pa.int16(), order, (2,), Frame(True, None, 1), ignore_nulls=True
        ),
        lambda y, at: (known(y[: at + 2]) or [None])[-1],
    ),
    "first of what will be": (
        lambda order: WindowFunction(
            "first", pa.int16(), order, (2,), Frame(True, 0, None), ignore_nulls=True
        ),
        lambda y, at: (known(y[at:]) or [None])[0],
    ),
    "the one before": (
        lambda order: WindowFunction("last", pa.int16(), order, (2,), Frame(True, None, -1)),
        lambda y, at: y[at - 1] if at else None,
    ),
    "count": (
        lambda order: WindowFunction("count", pa.int64(), order, (2,), Frame(True, -2, -1)),
        lambda y, at: sum(value is not None for value in y[max(at - 2, 0) : at]),
    ),
    "max": (
        lambda order: WindowFunction("max", pa.int16(), order, (2,), Frame(True, -1, 3)),
        lambda y, at: max((v for v in y[max(at - 1, 0) : at + 4] if v is not None), default=None),
    ),
    "own": (
        lambda order: WindowFunction("sum", pa.int64(), order, (2,), Frame(True, 0, 0)),
        lambda y, at: y[at],
    ),
    "list": (
        lambda order: WindowFunction("collect_list", pa.list_(pa.int16()), order, (2,), Frame(True, 1, 2)),
        lambda y, at: ("list", *y[at + 1 : at + 3]),
    ),
    "first": (
        lambda order: WindowFunction("first", pa.int16(), order, (2,), Frame(True, -3, 0), ignore_nulls=True),
        lambda y, at: next((v for v in y[max(at - 3, 0) : at + 1] if v is not None), None),
    ),
}


# by name: a frame of RANGE in an order, and whether one row sees another by how much further on that is
RANGES: dict[str, tuple[Any, Any]] = {
    "behind": (lambda by: Frame(False, edge(-2, by), 0), lambda far: -2 <= far <= 0),
    "around": (lambda by: Frame(False, edge(-1, by), edge(3, by)), lambda far: -1 <= far <= 3),
    "before": (lambda by: Frame(False, edge(-3, by), edge(-1, by)), lambda far: -3 <= far <= -1),
    "peers": (lambda by: Frame(False, 0, 0), lambda far: far == 0),
}


def in_order(rows: list[Any], by: SortKey) -> list[Any]:
    """By x, of which NULL is the first or, descending, the last; then by the whole row."""

    def key(row: Any) -> Any:
        x, whole = row[2], [(value is not None, value or 0) for value in row[1:]]
        return ((x is None, -(x or 0)) if by.descending else (x is not None, x or 0)), whole

    return sorted(rows, key=key)


def windowed(table: Naive, names: list[str], by: SortKey) -> Naive:
    found: list[Naive] = []
    for key in {row[1] for row in table}:
        rows = in_order([r for r, n in table.items() for _ in range(max(n, 0)) if r[1] == key], by)
        y = [row[3] for row in rows]
        for at, row in enumerate(rows):
            found.append(Naive({(*row, *(CALLS[name][1](y, at) for name in names)): 1}))
    return plus(*found)


def windows(names: list[str], by: SortKey) -> Any:
    return built(tuple(CALLS[name][0]((by,)) for name in names), by)


def built(functions: tuple[WindowFunction, ...], by: SortKey) -> Any:
    def build(builder: CircuitBuilder, table: int) -> int:
        ordered = Integrate((0,), order=1, nulls_greatest=by.nulls_last != by.descending)
        return builder.add(Window((0,), functions), builder.add(ordered, builder.placed(table, (0,))))

    return build


def ranged(table: Naive, names: list[str], by: SortKey) -> Naive:
    """The sum of y over each row's ranges; of NULL they are the NULLs."""
    found: list[Naive] = []
    for row, n in table.items():
        sums = []
        for name in names:
            seen = []
            for other, m in table.items():
                if other[1] != row[1] or m <= 0 or (other[2] is None) != (row[2] is None):
                    continue
                far = 0 if row[2] is None else (other[2] - row[2]) * (-1 if by.descending else 1)
                if row[2] is None or RANGES[name][1](far):
                    seen += [other[3]] * m
            known = [y for y in seen if y is not None]
            sums.append(sum(known) if known else None)
        found.append(Naive({(*row, *sums): max(n, 0)}))
    return plus(*found)


def ranges(names: list[str], by: SortKey) -> Any:
    functions = tuple(WindowFunction("sum", pa.int64(), (by,), (2,), RANGES[name][0](by)) for name in names)
    return built(functions, by)


@given(
    st.lists(st.sampled_from(list(RANGES)), min_size=1, max_size=2, unique=True),
    st.sampled_from([UP, DOWN]),
    streams({"t": SCHEMA}, steps=5, size=12),
    options,
    hash_seeds,
)
def test_a_change_shows_in_the_ranges_it_is_in(
    names: list[str], by: SortKey, stream: Any, way: Any, seed: int
) -> None:
    circuit = circuit_of({"t": SCHEMA}, ranges(names, by), seed)
    check(circuit, stream, lambda table: ranged(table, names, by), way)


@given(
    st.lists(st.sampled_from(list(CALLS)), min_size=1, max_size=3, unique=True),
    st.sampled_from([UP, DOWN]),
    streams({"t": SCHEMA}, steps=5, size=12),
    options,
    hash_seeds,
)
def test_a_change_shows_where_it_is_seen(
    names: list[str], by: SortKey, stream: Any, way: Any, seed: int
) -> None:
    circuit = circuit_of({"t": SCHEMA}, windows(names, by), seed)
    check(circuit, stream, lambda table: windowed(table, names, by), way)


def total(frame: Frame) -> WindowFunction:
    return WindowFunction("sum", pa.int64(), (UP,), (2,), frame)


def last(frame: Frame, ignore_nulls: bool = True, filtered: bool = False) -> WindowFunction:
    return WindowFunction("last", pa.int16(), (UP,), (2,), frame, 0, ignore_nulls, filtered)


def moved(name: str, data_type: pa.DataType, amount: Any, unit: pa.DataType) -> Call:
    return Call(name, (Column(1, data_type), Literal(amount, unit)), data_type)


TIME, DURATION = pa.timestamp("us", "UTC"), pa.duration("us")
HOUR, TWO_DAYS = timedelta(hours=1), timedelta(days=2)


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        (WindowFunction("lead", pa.int16(), (UP,), (2, 2), number=-3), Sight(3)),
        (
            WindowFunction("lead", pa.int16(), (UP,), (2, 2), number=3, ignore_nulls=True),
            Sight(4, known=(2,)),
        ),
        (last(Frame(True, None, 0)), Sight(1, known=(2,))),
        (last(Frame(True, None, -2)), Sight(2, known=(2,))),
        (last(Frame(True, None, 2)), Sight(3, known=(2,))),
        (last(Frame(False, None, edge(-5))), Sight(1, 5, known=(2,))),
        (last(Frame(True, -3, 0)), Sight(3)),
        (last(Frame(True, 0, None)), None),
        (last(Frame()), None),
        (last(Frame(True, None, 0), filtered=True), None),
        (last(Frame(True, None, -1), ignore_nulls=False), Sight(1)),
        (WindowFunction("lead", pa.int16(), (), (2, 2), number=1), None),
        (total(Frame(True, -5, 2)), Sight(7)),
        (total(Frame(True, -5, -2)), Sight(5)),
        (total(Frame(True, None, 0)), Sight(onward=True)),
        (total(Frame(True, None, -3)), Sight(3, onward=True)),
        (total(Frame(True, 0, None)), None),
        (total(Frame(False, None, 0)), Sight(onward=True)),
        (total(Frame(False, None, edge(-5))), Sight(values=5, onward=True)),
        (
            WindowFunction("max", pa.int16(), (UP,), (2,), Frame(True, None, -2)),
            Sight(2, onward=True, extremes=((2, False),)),
        ),
        (
            WindowFunction("min", pa.decimal128(18), (UP,), (2,), Frame(False, None, 0)),
            Sight(onward=True, extremes=((2, True),)),
        ),
        (WindowFunction("min", pa.decimal128(19), (UP,), (2,), Frame(True, None, 0)), None),
        (WindowFunction("max", pa.int16(), (UP,), (2,)), None),
        (WindowFunction("max", pa.int16(), (UP,), (2,), Frame(True, 0, None)), None),
        (total(Frame(False, 0, 0)), Sight()),
        (total(Frame(False, edge(-5), edge(2))), Sight(values=7)),
        (total(Frame(False, edge(5, DOWN), edge(2, DOWN))), Sight(values=5)),
        (total(Frame(False, edge(-5), None)), None),
        (total(Frame(False, X, 0)), None),
        (total(Frame(False, moved("date_add", pa.date32(), -4, pa.int32()), 0)), Sight(values=4)),
        (
            total(Frame(False, moved("timestamp_add_interval", TIME, -HOUR, DURATION), 0)),
            Sight(values=3_600_000_000),
        ),
        (  # a day may have hours more, or less
            total(Frame(False, moved("timestamp_add_interval", TIME, -TWO_DAYS, DURATION), 0)),
            Sight(values=4 * 86_400_000_000),
        ),
        (total(Frame(False, moved("timestamp_add_ym_interval", TIME, -HOUR, DURATION), 0)), None),
        (total(Frame(False, moved("add", pa.float64(), -1.0, pa.float64()), 0)), None),
        (WindowFunction("row_number", pa.int32(), (UP,)), Sight(onward=True)),
        (WindowFunction("dense_rank", pa.int32(), (UP,)), None),
        (WindowFunction("ntile", pa.int32(), (UP,), frame=Frame(True, -1, 0), number=2), None),
    ],
)
def test_who_sees_how_far(function: WindowFunction, seen: Sight | None) -> None:
    assert sight((function,)) == seen


def test_several_see_as_far_as_all_of_them() -> None:
    lag, lead = (CALLS[name][0]((UP,)) for name in ("lag", "lead 2"))
    assert sight((lag, lead)) == Sight(3)
    assert sight((lag, CALLS["lag"][0]((DOWN,)))) is None
    assert sight((lag, total(Frame(False, edge(-2), 0)))) == Sight(1, 2)
    assert sight((lag, total(Frame(True, None, 2)))) == Sight(3, onward=True)


@pytest.mark.parametrize("x", [-(1 << 31), (1 << 31) - 1])
def test_at_the_ends_of_a_type_a_range_ends(tmp_path: Path, x: int) -> None:
    """Beyond them there is no value: what a row sees, and is seen by, lies on this side."""
    functions = (total(Frame(False, edge(-3 if x > 0 else 0), edge(0 if x > 0 else 3))),)
    engine = Engine(circuit_of({"t": SCHEMA}, built(functions, UP)), tmp_path)
    engine.step({"t": numbers(*range(2_000))})
    near = x - 2 if x > 0 else x + 2
    engine.step({"t": numbers(near, y=5)})
    change = engine.step({"t": numbers(x, y=7)})["v"]
    rows = zip(*(column.to_pylist() for column in change.rows.columns), strict=True)
    assert sorted(zip(rows, change.weights.tolist(), strict=True)) == [((True, x, 7, 12), 1)]


def numbers(*xs: int, y: int | None = 1, weight: int = 1) -> ZSet:
    columns = [pa.array([True] * len(xs)), pa.array(xs, pa.int32()), pa.array([y] * len(xs), pa.int16())]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.full(len(xs), weight))


def listed_by(
    engine: Engine, delta: ZSet, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[tuple[Any, ...]]]:
    """(rows that a step lists, its change)"""
    listed = [0]
    whole = nearby.list_rows

    def counting(*arguments: Any) -> Any:
        touched = whole(*arguments)
        listed[0] += touched.rows.num_rows
        return touched

    monkeypatch.setattr(nearby, "list_rows", counting)
    change = engine.step({"t": delta})["v"]
    monkeypatch.setattr(nearby, "list_rows", whole)
    rows = zip(*(column.to_pylist() for column in change.rows.columns), strict=True)
    return listed[0], sorted(zip(rows, change.weights.tolist(), strict=True), key=repr)


def test_a_change_reads_the_rows_near_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(circuit_of({"t": SCHEMA}, windows(["lag"], UP)), tmp_path)
    engine.step({"t": numbers(*range(0, 20_000, 2))})
    read, change = listed_by(engine, numbers(10_001, y=7), monkeypatch)
    assert change == [
        ((True, 10_001, 7, 1), 1),
        ((True, 10_002, 1, 1), -1),
        ((True, 10_002, 1, 7), 1),
    ]
    assert 3 <= read < 10
    # of rows that are gone the run still has a thousand, among which the two neighbours are looked for
    engine.step({"t": numbers(*range(10_002, 12_000, 2), weight=-1)})
    read, change = listed_by(engine, numbers(10_001, y=7, weight=-1), monkeypatch)
    assert change == [
        ((True, 10_001, 7, 1), -1),
        ((True, 12_000, 1, 1), 1),
        ((True, 12_000, 1, 7), -1),
    ]
    assert read < 2_000


def test_a_value_is_seen_as_far_as_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(circuit_of({"t": SCHEMA}, windows(["last value", "first of what will be"], UP)), tmp_path)
    engine.step({"t": numbers(0, 100, 9_900, 10_000, y=1)})
    engine.step({"t": numbers(*range(1, 100), *range(101, 9_900), *range(9_901, 10_000), y=None)})
    read, change = listed_by(engine, numbers(9_950, y=None, weight=-1) + numbers(9_950, y=2), monkeypatch)
    nothing = [((True, x, None, 1, 1), -1) for x in range(9_901, 10_000)]
    filled = [((True, x, None, 1, 2), 1) for x in range(9_901, 9_950)]
    filled += [((True, x, None, 2, 1), 1) for x in range(9_951, 10_000)]
    assert sorted(change, key=repr) == sorted([*nothing, *filled, ((True, 9_950, 2, 2, 2), 1)], key=repr)
    assert read < 1_000


def test_a_row_whose_frame_is_cut_fails_no_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames of its own rows fit, though parts of them don't."""
    schema = pa.schema([("k", pa.bool_()), ("x", pa.int32()), ("y", pa.int64())])
    total = WindowFunction("sum", pa.int64(), (UP,), (2,), Frame(True, -3, 3))

    def build(builder: CircuitBuilder, table: int) -> int:
        ordered = builder.add(Integrate((0,), order=1), builder.placed(table, (0,)))
        return builder.add(Window((0,), (total,)), ordered)

    def rows(ys: dict[int, int], weight: int = 1) -> ZSet:
        columns = [
            pa.array([True] * len(ys)),
            pa.array(list(ys), pa.int32()),
            pa.array(list(ys.values()), pa.int64()),
        ]
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), np.full(len(ys), weight))

    half = 1 << 62  # seven in a row add up to at most that, six of them may be twice as much
    ys = dict(enumerate([-half, *[half, half, -half, -half] * 500, half, half, -half]))
    engine = Engine(circuit_of({"t": schema}, build), tmp_path)
    engine.step({"t": rows({2 * x: y for x, y in ys.items()})})
    again = []
    whole = window.touched_groups
    monkeypatch.setattr(window, "touched_groups", lambda *given: again.append(given) or whole(*given))
    for x in range(1000, 1004):  # moves between its neighbours, so that sums stay as they are
        change = engine.step({"t": rows({2 * x: ys[x]}, -1) + rows({2 * x + 1: ys[x]})})["v"]
        around = sum(ys[i] for i in range(x - 3, x + 4))
        found = zip(*(c.to_pylist() for c in change.rows.columns), change.weights.tolist(), strict=True)
        assert sorted(found) == [(True, 2 * x, ys[x], around, -1), (True, 2 * x + 1, ys[x], around, 1)]
    assert 0 < len(again) < 4

"""Functions that see all before a row, and add it up: rows are listed from the first changed one on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import inf, isinf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.groups import nearby, touched
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.calls import Frame, WindowFunction
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.blocks import extremes, sums
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.circuits.engine import Engine, Options
from tests.generators.columns.zsets import Naive, values_of, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options


@pytest.fixture(scope="module", autouse=True, params=[1, 3, 256])
def of_few_rows(request: pytest.FixtureRequest) -> Iterator[None]:
    """As if all groups were large, and blocks small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearby, "_WORTH", 0)
        patch.setattr(sums, "_BLOCK", request.param)
        patch.setattr(extremes, "_BLOCK", request.param)
        yield


SCHEMA = pa.schema(
    [
        ("k", pa.int16()),
        ("x", pa.int8()),
        ("y", pa.int64()),
        ("z", pa.float64()),
        ("d", pa.decimal128(10, 2)),
    ]
)
UP, DOWN = SortKey(1), SortKey(1, descending=True, nulls_last=True)
Row = tuple[Any, ...]


def colliding() -> list[int]:
    """Two keys with the same four bits of a hash, and one with others."""
    numbers = np.arange(100, dtype=np.int16)
    hashes = hash_rows([pa.array(numbers)], len(numbers), FOUR_BITS)
    (alike,) = (hashes == hashes[0]).nonzero()
    (others,) = (hashes != hashes[0]).nonzero()
    return [*numbers[alike[:2]].tolist(), int(numbers[others[0]])]


def edge(n: int, by: SortKey) -> Call:
    """Of RANGE: x and n more, or less where the order descends."""
    amount = Literal(-n if by.descending else n, pa.int32())
    x = Column(1, pa.int8(), nullable=True)
    return Call("add", (x, amount), pa.int32(), True, (("evalMode", "ANSI"),))


def by_rows(upper: int) -> tuple[Callable[[SortKey], Frame], Callable[..., list[Row]]]:
    return lambda by: Frame(True, None, upper), lambda rows, at, by: rows[: max(at + upper + 1, 0)]


def by_range(upper: int) -> tuple[Callable[[SortKey], Frame], Callable[..., list[Row]]]:
    def seen(rows: list[Row], at: int, by: SortKey) -> list[Row]:
        own = rows[at][2]
        if own is None:
            return [r for i, r in enumerate(rows) if i <= at or r[2] is None]
        far = -upper if by.descending else upper
        until = own + far
        return [r for r in rows if (not by.descending if r[2] is None else on(r, until, by))]

    def on(row: Row, until: int, by: SortKey) -> bool:
        return bool(row[2] >= until if by.descending else row[2] <= until)

    return lambda by: Frame(False, None, edge(upper, by) if upper else 0), seen


FRAMES = {
    "so far": by_rows(0),
    "two more": by_rows(2),
    "but the last": by_rows(-1),
    "with peers": by_range(0),
    "in a range": by_range(1),
    "out of a range": by_range(-1),
}


def known(rows: list[Row], column: int) -> list[Any]:
    return [row[column + 1] for row in rows if row[column + 1] is not None]


def double_sum(values: list[float]) -> float:
    """The nearest double of the exact sum."""
    if any(map(isnan, values)) or {inf, -inf} <= set(values):
        return nan
    for infinite in filter(isinf, values):
        return infinite
    exact = sum(map(Fraction, values))
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def sum_of(column: int, of: Callable[[list[Any]], Any]) -> Callable[[list[Row]], Any]:
    def total(rows: list[Row]) -> Any:
        values = known(rows, column)
        return of(values) if values else None

    return total


def fitting(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def greatest_double(values: list[float]) -> float:
    """NaN is the greatest. 0.0 and -0.0 tie, and show as 0.0."""
    return nan if any(map(isnan, values)) else max(values) + 0.0


# by name: the function and type, its argument, what it is of the rows that it sees
TOTALS: dict[str, tuple[str, pa.DataType, tuple[int, ...], Callable[[list[Row]], Any]]] = {
    "rows": ("count", pa.int64(), (), len),
    "values": ("count", pa.int64(), (2,), lambda rows: len(known(rows, 2))),
    "sum": ("sum", pa.int64(), (2,), sum_of(2, lambda values: fitting(sum(values)))),
    "of doubles": ("sum", pa.float64(), (3,), sum_of(3, double_sum)),
    "mean of doubles": ("avg", pa.float64(), (3,), sum_of(3, lambda v: double_sum(v) / len(v))),
    "of decimals": ("sum", pa.decimal128(20, 2), (4,), sum_of(4, lambda values: sum(values, Decimal(0)))),
    "greatest": ("max", pa.int64(), (2,), sum_of(2, max)),
    "least": ("min", pa.int64(), (2,), sum_of(2, min)),
    "least x": ("min", pa.int8(), (1,), sum_of(1, min)),
    "greatest double": ("max", pa.float64(), (3,), sum_of(3, greatest_double)),
    "least decimal": ("min", pa.decimal128(10, 2), (4,), sum_of(4, min)),
}


def number(rows: list[Row], at: int) -> int:
    return at + 1


def rank(rows: list[Row], at: int) -> int:
    return 1 + next(i for i, row in enumerate(rows) if row[2] == rows[at][2])


def before(rows: list[Row], at: int) -> Any:
    return rows[at - 1][3] if at else rows[at][3]


# by place
PLACES: dict[str, tuple[Callable[[SortKey], WindowFunction], Callable[[list[Row], int], Any]]] = {
    "number": (lambda by: WindowFunction("row_number", pa.int32(), (by,)), number),
    "rank": (lambda by: WindowFunction("rank", pa.int32(), (by,)), rank),
    "lag": (lambda by: WindowFunction("lead", pa.int64(), (by,), (2, 2), number=-1), before),
}
names = st.one_of(
    st.sampled_from(list(PLACES)).map(lambda name: (name, "")),
    st.tuples(st.sampled_from(list(TOTALS)), st.sampled_from(list(FRAMES))),
)


def function(name: str, frame: str, by: SortKey) -> WindowFunction:
    if name in PLACES:
        return PLACES[name][0](by)
    called, data_type, arguments, _ = TOTALS[name]
    return WindowFunction(called, data_type, (by,), arguments, FRAMES[frame][0](by), lenient=True)


def value(name: str, frame: str, by: SortKey, rows: list[Row], at: int) -> Any:
    if name in PLACES:
        return PLACES[name][1](rows, at)
    return TOTALS[name][3](FRAMES[frame][1](rows, at, by))


def in_order(rows: list[Row], by: SortKey) -> list[Row]:
    """By x, of which NULL is the first or, descending, the last; then by the whole row."""

    def key(row: Row) -> Any:
        x, whole = row[2], [(each is not None, _ordered(each)) for each in row[1:]]
        return ((x is None, -(x or 0)) if by.descending else (x is not None, x or 0)), whole

    return sorted(rows, key=key)


def _ordered(value: Any) -> Any:
    """As identities compare: NaN is the greatest double."""
    return (1, 0, 0) if value == "NaN" else (0, *value) if isinstance(value, tuple) else value or 0


def plain(row: Row) -> Row:
    """The values that its identity stands for."""
    doubles = row[4]
    return (*row[:4], nan if doubles == "NaN" else None if doubles is None else doubles[0], row[5])


def windowed(table: Naive, called: list[tuple[str, str]], by: SortKey) -> Naive:
    found: Naive = Naive()
    for key in {row[1] for row in table}:
        rows = in_order([r for r, n in table.items() for _ in range(n) if r[1] == key], by)
        seen = [plain(row) for row in rows]
        for at, row in enumerate(rows):
            values = (identity(value(name, frame, by, seen, at)) for name, frame in called)
            found[(*row, *values)] += 1
    return found


def windows(called: list[tuple[str, str]], by: SortKey) -> Any:
    functions = tuple(function(name, frame, by) for name, frame in called)

    def build(builder: CircuitBuilder, table: int) -> int:
        ordered = Integrate((0,), order=1, nulls_greatest=by.nulls_last != by.descending)
        return builder.add(Window((0,), functions), builder.add(ordered, builder.placed(table, (0,))))

    return build


KEYS = colliding()
rows = st.tuples(
    st.sampled_from([*KEYS, None]),
    st.one_of(st.integers(0, 5), st.none()),
    *(values_of(SCHEMA.field(i).type) for i in (2, 3, 4)),
)


@st.composite
def filled(draw: st.DrawFn) -> list[dict[str, ZSet]]:
    """Deltas that take nothing back which isn't there: of a row less than none no sum means anything."""
    held, known, stream = Naive(), {}, []
    for size in (12, 1, 0, 3):
        listing = draw(st.lists(st.tuples(rows, st.integers(-2, 2)), max_size=size))
        gone = draw(st.lists(st.sampled_from([*known.values()]), max_size=1)) if known else []
        kept = []
        for row, weight in [*listing, *((row, -1) for row in gone)]:
            name = identity(row)
            kept.append((row, max(weight, -held[name])))
            held[name] += kept[-1][1]
            known[name] = row
        stream.append({"t": zset_of(SCHEMA, kept)})
    return stream


@given(
    st.lists(names, min_size=1, max_size=3, unique=True),
    st.sampled_from([UP, DOWN]),
    filled(),
    options,
    hash_seeds,
)
def test_a_change_shows_behind_it(
    called: list[tuple[str, str]], by: SortKey, stream: Any, way: Any, seed: int
) -> None:
    circuit = circuit_of({"t": SCHEMA}, windows(called, by), seed)
    check(circuit, stream, lambda table: windowed(table, called, by), way)


def listed_by(
    engine: Engine, delta: ZSet, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[tuple[Any, ...]]]:
    """(rows that a step lists, the x, the values and the weights of its change)"""
    listed, whole = [0], touched.list_rows

    def counting(*arguments: Any) -> Any:
        found = whole(*arguments)
        listed[0] += found.rows.num_rows
        return found

    with monkeypatch.context() as patch:
        for module in (nearby, touched):
            patch.setattr(module, "list_rows", counting)
        change = engine.step({"t": delta})["v"]
    columns = [change.rows.column(i).to_pylist() for i in (1, *range(5, change.rows.num_columns))]
    return listed[0], sorted(zip(*columns, change.weights.tolist(), strict=True))


def numbers(*xs: int, k: int = 0, weight: int = 1) -> ZSet:
    return zset_of(SCHEMA, [((k, x, x, 0.5, Decimal(x)), weight) for x in xs])


def test_of_rows_in_front_none_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = [("number", ""), ("sum", "so far"), ("of doubles", "with peers"), ("of decimals", "so far")]
    engine = Engine(circuit_of({"t": SCHEMA}, windows(called, UP)), tmp_path)
    engine.step({"t": numbers(*range(-128, 100))})
    engine.step({"t": numbers(3, 5, weight=-1)})
    listed, change = listed_by(engine, numbers(100), monkeypatch)
    sums = sum(range(-128, 101)) - 8
    assert change == [(100, 227, sums, 113.5, Decimal(sums), 1)]
    assert listed == 1
    listed, change = listed_by(engine, numbers(99, weight=-1), monkeypatch)
    assert sorted((x, weight) for x, *_, weight in change) == [(99, -1), (100, -1), (100, 1)]
    assert listed == 2


def test_an_extreme_that_was_retracted_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among all rows of the group, as long as the trace has the row and its retraction."""
    called = [("greatest", "so far"), ("least", "but the last")]
    engine = Engine(circuit_of({"t": SCHEMA}, windows(called, UP)), tmp_path, Options(small=0))
    engine.step({"t": numbers(*range(-100, 0))})
    assert listed_by(engine, numbers(0), monkeypatch) == (2, [(0, 0, -100, 1)])
    engine.step({"t": numbers(-100, weight=-1)})
    listed, change = listed_by(engine, numbers(1), monkeypatch)
    assert (listed > 100, change) == (True, [(1, 1, -99, 1)])
    engine.step({"t": numbers(-100)})
    listed, change = listed_by(engine, numbers(2), monkeypatch)
    assert (listed < 10, change) == (True, [(2, 2, -100, 1)])


def test_an_extreme_of_rows_in_front_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame ends before the rows that are listed."""
    called = [("greatest", "out of a range"), ("least", "out of a range")]
    engine = Engine(circuit_of({"t": SCHEMA}, windows(called, UP)), tmp_path)
    engine.step({"t": numbers(*range(-100, -50))})
    assert listed_by(engine, numbers(-10), monkeypatch) == (1, [(-10, -51, -100, 1)])


def test_of_rows_in_front_none_has_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(circuit_of({"t": SCHEMA}, windows([("greatest", "so far")], UP)), tmp_path)
    engine.step({"t": zset_of(SCHEMA, [((0, x, None, 0.5, Decimal(x)), 1) for x in range(50)])})
    assert listed_by(engine, numbers(60), monkeypatch) == (1, [(60, 60, 1)])


def test_who_sees_a_change_in_a_range_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(circuit_of({"t": SCHEMA}, windows([("rows", "in a range")], UP)), tmp_path)
    engine.step({"t": numbers(*range(0, 100, 2))})
    listed, change = listed_by(engine, numbers(97), monkeypatch)
    assert change == [(96, 49, -1), (96, 50, 1), (97, 51, 1), (98, 50, -1), (98, 51, 1)]
    assert listed == 3


@pytest.mark.parametrize("behind", [0, 1])
def test_rows_of_another_group_are_not_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    """Whose keys' hashes begin alike: among the group's own rows, or alone before its first."""
    own, other, _ = KEYS
    engine = Engine(circuit_of({"t": SCHEMA}, windows([("sum", "so far")], UP), FOUR_BITS), tmp_path)
    engine.step({"t": numbers(*range(10, 20), k=other)})
    engine.step({"t": numbers(*range(30, 40), *range(5 * behind), k=own)})
    _, change = listed_by(engine, numbers(40, k=own), monkeypatch)
    assert change == [(40, sum(range(30, 41)) + sum(range(5 * behind)), 1)]

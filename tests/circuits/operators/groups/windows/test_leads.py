"""Functions that the first rows of a partition tell: other changes show in the rows that change alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups import leading as module
from dbsp.circuits.operators.groups import window
from dbsp.circuits.operators.groups.touched import Touched, touched_groups
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.calls import WHOLE, Frame, WindowFunction
from dbsp.circuits.operators.groups.windows.leads import Lead
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine
from tests.generators.columns.zsets import Naive, plus
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

pytestmark = pytest.mark.usefixtures("worth", "ties", "fetching_one")

SCHEMA = pa.schema([("k", pa.bool_()), ("x", pa.int32()), ("y", pa.int16())])
UP, DOWN = SortKey(1), SortKey(1, descending=True, nulls_last=True)
SO_FAR, RANGED = Frame(True, None, 0), Frame(False, None, 0)


@pytest.fixture(scope="module")
def fetching_one() -> Iterator[None]:
    """So that first rows are looked for more than once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FIRST_FETCH", 1)
        yield


def function(name: str, *order: SortKey, frame: Frame = WHOLE, **given: Any) -> WindowFunction:
    by_x = name in ("min_by", "max_by")
    arguments = (1, 2) if by_x else (2,) if order else (1,)
    return WindowFunction(name, SCHEMA.field(arguments[-1]).type, order, arguments, frame, **given)


def known(rows: list[Any]) -> list[Any]:
    return [row for row in rows if row[2] is not None]


def value_of(row: Any) -> tuple[Any, ...]:
    """Of y, where NULL is least."""
    return row[3] is not None, row[3] or 0


def by_x(rows: list[Any]) -> list[Any]:
    """By x, of which NULL is the first, then by the whole row."""
    return sorted(rows, key=lambda row: (row[2] is not None, row[2] or 0, *value_of(row)))


def down(rows: list[Any]) -> list[Any]:
    """By x descending, of which NULL is the last, then by the whole row."""
    return sorted(rows, key=lambda row: (row[2] is None, -(row[2] or 0), *value_of(row)))


# by name: the function, and what it is of the rows of a partition
CALLS: dict[str, tuple[WindowFunction, Any]] = {
    "min": (function("min"), lambda rows: min((row[2] for row in known(rows)), default=None)),
    "max": (function("max"), lambda rows: max((row[2] for row in known(rows)), default=None)),
    "first": (function("first", UP, frame=SO_FAR), lambda rows: by_x(rows)[0][3]),
    "first of peers": (function("first", UP, frame=RANGED), lambda rows: by_x(rows)[0][3]),
    "first from above": (function("first", DOWN), lambda rows: down(rows)[0][3]),
    "last": (function("last", UP), lambda rows: by_x(rows)[-1][3]),
    "last from above": (function("last", DOWN), lambda rows: down(rows)[-1][3]),
    "greatest by x": (
        function("max_by"),
        lambda rows: max(known(rows), key=lambda row: (row[2], *value_of(row)))[3] if known(rows) else None,
    ),
}


def windowed(table: Naive, names: list[str]) -> Naive:
    found: list[Naive] = []
    for key in {row[1] for row in table}:
        rows = [row for row, n in table.items() for _ in range(max(n, 0)) if row[1] == key]
        if rows:
            values = [CALLS[name][1](rows) for name in names]
            found += [Naive({(*row, *values): 1}) for row in rows]
    return plus(*found)


def windows(names: list[str]) -> Any:
    functions = Window((0,), tuple(CALLS[name][0] for name in names))

    def build(builder: CircuitBuilder, table: int) -> int:
        assert functions.leads
        ordered = Integrate((0,), order=1, nulls_greatest=functions.leads[0].nulls_greatest)
        return builder.add(functions, builder.add(ordered, builder.placed(table, (0,))))

    return build


some_names = st.lists(st.sampled_from(list(CALLS)), min_size=1, max_size=3, unique=True).filter(
    lambda names: bool(Window((0,), tuple(CALLS[name][0] for name in names)).leads)
)


@given(some_names, streams({"t": SCHEMA}, steps=5, size=12), options, hash_seeds)
def test_the_first_rows_tell(names: list[str], stream: Any, way: Any, seed: int) -> None:
    circuit = circuit_of({"t": SCHEMA}, windows(names), seed)
    check(circuit, stream, lambda table: windowed(table, names), way)


# of so many values that a partition has more than are looked at, at first and then
Row = tuple[bool, int | None, int]
rows: st.SearchStrategy[Row] = st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 2))
unknown: st.SearchStrategy[Row] = st.tuples(st.booleans(), st.none(), st.integers(0, 11))


@st.composite
def large(draw: st.DrawFn) -> list[dict[str, ZSet]]:
    """Rows come, and then some go, often the first ones, as others come."""
    held = draw(st.lists(rows, min_size=20, max_size=50))
    held += draw(st.lists(unknown, max_size=draw(st.sampled_from([3, 30]))))
    deltas: list[tuple[list[Row], list[int]]] = [(held, [1] * len(held))]
    for _ in range(draw(st.integers(1, 4))):
        outer = sorted(held, key=lambda row: (row[1] is None, row[1] or 0), reverse=draw(st.booleans()))
        gone = outer[: draw(st.integers(0, 40))] if draw(st.booleans()) else outer[3::7]
        come = draw(st.lists(rows | unknown, max_size=3))
        deltas.append(([*gone, *come], [-1] * len(gone) + [1] * len(come)))
        held = [*outer, *come]
        for row in gone:
            held.remove(row)
    return [{"t": zset(these, weights)} for these, weights in deltas]


def zset(these: Sequence[Row], weights: list[int]) -> ZSet:
    columns = [pa.array([row[i] for row in these], field.type) for i, field in enumerate(SCHEMA)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(weights, dtype=np.int64))


@given(some_names, large(), options, hash_seeds)
def test_the_first_rows_of_many_tell(names: list[str], stream: Any, way: Any, seed: int) -> None:
    circuit = circuit_of({"t": SCHEMA}, windows(names), seed)
    check(circuit, stream, lambda table: windowed(table, names), way)


LEAST, GREATEST = Lead(1, False, True), Lead(1, True, True)


@pytest.mark.parametrize(
    ("functions", "leads"),
    [
        ([function("min"), function("max"), function("min")], (LEAST, GREATEST)),
        ([function("max_by"), function("max")], (GREATEST,)),
        ([function("first", UP, DOWN, frame=SO_FAR)], (Lead(1, False, False),)),
        ([function("last", UP)], (GREATEST,)),
        ([function("first", UP), function("max")], (Lead(1, False, False), GREATEST)),
        # NULLs come first on one side alone
        ([function("first", UP), function("first", SortKey(1, True, False))], ()),
        ([function("first", UP), function("first", SortKey(2))], ()),
        ([function("first", UP, frame=Frame(True, None, 2))], (Lead(1, False, False),)),
        ([function("first", UP, frame=Frame(True, None, -1))], ()),
        ([function("first", UP, frame=Frame(True, -1, 0))], ()),
        ([function("first")], ()),
        ([function("first", UP, ignore_nulls=True)], ()),
        ([function("first", UP, filtered=True)], ()),
        ([function("last", UP, frame=SO_FAR)], ()),
        ([function("max", UP, frame=SO_FAR)], ()),
        ([function("sum")], ()),
        ([function("max"), function("sum")], ()),
    ],
)
def test_which_functions_first_rows_tell(functions: list[WindowFunction], leads: tuple[Lead, ...]) -> None:
    assert Window((0,), tuple(functions)).leads == leads


def rows_of(first: int, stop: int, weight: int = 1) -> ZSet:
    return zset([(False, x, x % 100) for x in range(first, stop)], [weight] * (stop - first))


@pytest.mark.parametrize("names", [["min", "max"], ["first"], ["greatest by x", "max"]])
def test_a_partition_is_read_when_another_row_is_first(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(circuit_of({"t": SCHEMA}, windows(names)), tmp_path)
    engine.step({"t": rows_of(0, 2_000)})
    reads = []

    def listing(*given: Any) -> Touched:
        reads.append(given)
        return touched_groups(*given)

    monkeypatch.setattr(window, "touched_groups", listing)
    inside = engine.step({"t": ZSet.sum(SCHEMA, [rows_of(500, 510), rows_of(700, 710, -1)])})["v"]
    assert (len(inside), reads) == (20, [])
    first = rows_of(2_000, 2_001) if names[-1] == "max" else rows_of(-5, -4)
    assert len(engine.step({"t": first})["v"]) > 2_000
    assert reads


@pytest.mark.parametrize("names", [["min", "max"], ["max", "min"]])
def test_nulls_that_come_first_at_an_end_tell_nothing(names: list[str], tmp_path: Path) -> None:
    """A trace has them on one side, the orders of both functions last. Eight rows of it are looked at, after
    one: the NULLs and a value, beyond which may be more that tie.
    """
    engine = Engine(circuit_of({"t": SCHEMA}, windows(names)), tmp_path)
    nothing = zset([(False, None, y) for y in range(7)], [1] * 7)
    engine.step({"t": ZSet.sum(SCHEMA, [rows_of(0, 2_000), nothing])})
    change = engine.step({"t": zset([(False, None, 77), (False, 5, 5), (False, 5, 6)], [1, -1, 1])})["v"]
    values = [0 if name == "min" else 1_999 for name in names]
    rows = zip(*(column.to_pylist() for column in change.rows.columns), change.weights.tolist(), strict=True)
    assert sorted(rows, key=repr) == [
        (False, 5, 5, *values, -1),
        (False, 5, 6, *values, 1),
        (False, None, 77, *values, 1),
    ]

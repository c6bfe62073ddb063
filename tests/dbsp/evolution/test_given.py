"""What a state has of a stream: in pieces, by column, and which types keep every value apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given as draws
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.identity.streams import Stream
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.circuits.traces.spine import Spine
from dbsp.evolution import given
from dbsp.evolution.given import Given, Holdings, Kept, changed_columns, is_wider
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field
from dbsp.state.records.manifest import Columns, manifest_of
from tests.dbsp.build import feed, pipeline, program, table, view, votes_program


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [1, 3])
@pytest.mark.parametrize("piece", [1, 3, 1 << 18])
@pytest.mark.parametrize("name", ["all_votes", "counts", "events"])
def test_pieces_are_all_of_a_view_each_consolidated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, tasks: int, name: str
) -> None:
    monkeypatch.setattr(given, "PIECE", piece)
    with pipeline(tmp_path / "s") as p:
        feed(p)
        expected = Counter(tuple(row.values()) for row in p[name].rows())
        shown = manifest_of(p.program).views[name].kept
        commit = p.store.last
        assert commit is not None
        held = manifest_of(p.program).traces[shown]
        kept = Kept(shown, held, Spine.from_json(commit.state["spines"][shown]), "the state")
        found: Counter[tuple[Any, ...]] = Counter()
        sizes = []
        schema = held.stored().schema
        for parts in Given(kept, tuple(range(len(schema))), schema).inputs(tasks):
            assert 0 < len(parts) <= tasks
            for part in parts:
                batch = part.open(p.store.segments, schema)
                *columns, weights = (column.to_pylist() for column in batch.columns)
                rows = [row[: len(p[name].schema)] for row in zip(*columns, strict=True)]
                assert held.log or len({*rows}) == len(rows)
                sizes.append(len(rows))
                for row, weight in zip(rows, weights, strict=True):
                    found[row] += weight
        assert found == expected
        assert len(sizes) > 1 or piece > 1 or held.log  # of a log a chunk is a piece
        # columns in another order, one of them NULL and one a constant
        schema = pa.schema([("n", pa.int64()), ("c", pa.string())])
        made = Given(kept, (None, pa.scalar("x")), schema)
        batches = [part.open(p.store.segments, schema) for parts in made.inputs(tasks) for part in parts]
        for batch, size in zip(batches, sizes, strict=True):
            assert batch.column(0).null_count == batch.num_rows == size
            assert batch.column(1).to_pylist() == ["x"] * size


def holding(name: str, rows: int, *columns: str) -> Kept:
    held = replace(next(iter(manifest_of(votes_program()).traces.values())), rows="r", columns=columns)
    spine = Spine.from_json({"runs": []}) if rows < 0 else type("Rows", (), {"rows": rows})()
    return Kept(name, held, spine, "the state")  # type: ignore[arg-type]


SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.int64())])


def test_the_smallest_trace_that_has_what_is_needed_is_found() -> None:
    kept = (holding("all", 9, "A", "B"), holding("few", 3, "B"), holding("many", 30, "A", "B"))
    holdings = Holdings(kept, {"C": "B"}, {"K": pa.scalar(7)})

    def found(needed: set[int], *columns: str) -> tuple[str, tuple[Any, ...]] | None:
        one = holdings.find(Stream("r", columns), SCHEMA, needed)
        return None if one is None else (one.kept.name, one.columns)

    assert found({0, 1}, "A", "B") == ("all", (0, 1))
    assert found({1}, "A", "B") == ("few", (None, 0))
    assert found({1}, "A", "C") == ("few", (None, 0))  # as the old program had it
    assert found({0, 1}, "K", "B") == ("few", (pa.scalar(7), 0))
    assert found({0}, "unknown", "B") is None
    assert Holdings(kept, {}, {}).find(Stream("other", ("A", "B")), SCHEMA, set()) is None


def test_what_is_left_serves_those_who_look_at_no_more() -> None:
    left = (holding("left", 1, "A"), frozenset({"x", "y"}))
    holdings = Holdings((), {}, {}, (left,))
    assert holdings.for_readers({"x"}).kept == (left[0],)
    assert holdings.for_readers({"x", "z"}).kept == ()


def columns_of(made: Table) -> Columns:
    scan = Scan(made.name, made.schema)
    return manifest_of(program([made], [view("v", scan)])).tables[made.name]


INT, TEXT = Field("a", pa.int64()), Field("b", pa.string())
NOW = Call("current", (Column(0, INT.type),), INT.type)


@pytest.mark.parametrize(
    ("new", "defaults", "constants", "wrong"),
    [
        ((INT, TEXT), (), [None], []),
        ((INT, TEXT), (Default(1, Literal("x", pa.string())),), ["x"], []),
        ((INT, replace(TEXT, nullable=False)), (), [], ["'b' is NOT NULL, and rows that are there have no"]),
        ((INT, Field("b", INT.type)), (Default(1, NOW),), [], ["DEFAULT of column 'b' is of the moment"]),
        ((replace(INT, type=pa.int32()),), (), [], ["'a' was bigint and is int, which not every value is"]),
    ],
)
def test_columns_that_are_new_or_other(
    new: tuple[Field, ...], defaults: tuple[Default, ...], constants: list[Any], wrong: list[str]
) -> None:
    old, made = table("t", (INT,)), replace(table("t", new), defaults=defaults)
    was, given_, said = changed_columns(made, columns_of(made), columns_of(old))
    assert [value.as_py() for value in given_.values()] == constants
    assert len(said) == len(wrong)
    for message, part in zip(said, wrong, strict=True):
        assert message.startswith("table 't': ")
        assert part in message
    assert was == {}


def test_a_wider_column_has_its_old_values() -> None:
    old = table("t", (replace(INT, type=pa.int32()),))
    was, constants, wrong = changed_columns(
        table("t", (INT,)), columns_of(table("t", (INT,))), columns_of(old)
    )
    assert (len(was), constants, wrong) == (1, {}, [])
    assert {*was.values()} == {columns_of(old).column("t", "a")}


TYPES = [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(),
    pa.decimal128(5, 2), pa.decimal128(7, 2), pa.decimal128(7, 4), pa.string(), pa.date32(),
]  # fmt: skip


@draws(st.sampled_from(TYPES), st.sampled_from(TYPES), st.data())
def test_a_wider_type_keeps_every_value_apart(old: pa.DataType, new: pa.DataType, data: Any) -> None:
    """There and back by Arrow, which checks; the extremes are where a type ends."""
    if old == new or not is_wider(old, new):
        return
    extremes = {8: 127, 16: 2**15 - 1, 32: 2**31 - 1, 64: 2**63 - 1}
    if pa.types.is_integer(old):
        top = extremes[old.bit_width]
        values = [top, -top - 1, data.draw(st.integers(-top, top))]
    elif pa.types.is_float32(old):
        values = [data.draw(st.floats(width=32, allow_nan=False))]
    else:
        digits = data.draw(st.integers(-(10**old.precision) + 1, 10**old.precision - 1))
        values = [Decimal(digits).scaleb(-old.scale)]
    column = pa.array(values, old)
    assert column.cast(new).cast(old).equals(column)


def test_types_that_are_no_wider() -> None:
    wider = {(old, new) for old in TYPES for new in TYPES if old != new and is_wider(old, new)}
    assert (pa.int64(), pa.float64()) not in wider
    assert (pa.float64(), pa.float32()) not in wider
    assert (pa.decimal128(7, 2), pa.decimal128(7, 4)) not in wider
    assert (pa.int32(), pa.string()) not in wider
    assert {(pa.int32(), pa.int64()), (pa.int32(), pa.float64()), (pa.float32(), pa.float64())} <= wider
    assert (pa.decimal128(5, 2), pa.decimal128(7, 4)) in wider

"""A narrow column has the values of the plain one: as a whole, at places, joined, and when it was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.narrow.column import Narrow, narrow, numbers_at, of_numbers
from dbsp.circuits.columns.narrow.packing import narrowed
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import kinds, values_of

WHOLE = (pa.int64(), pa.int32(), pa.date32(), pa.timestamp("us", "UTC"), pa.decimal128(18, 2))


def listed(column: pa.Array | Narrow) -> list[Any]:
    """NaN is itself, and 0.0 isn't -0.0."""
    whole = column.values() if isinstance(column, Narrow) else column
    whole.validate(full=True)
    return [identity((value,)) for value in whole.to_pylist()]


def reread(column: pa.Array | Narrow) -> pa.Array | Narrow:
    """As it is after it was written."""
    if not isinstance(column, Narrow):
        return column
    field, stored = column.stored("c")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([field])) as stream:
        stream.write_batch(pa.RecordBatch.from_arrays([stored], schema=pa.schema([field])))
    read = pa.ipc.open_stream(sink.getvalue()).read_next_batch()
    return narrow(read.schema.field(0), read.column(0), column.type)


@st.composite
def columns(draw: st.DrawFn, count: int) -> list[pa.Array]:
    """Of one type: values that differ much or little, that repeat or don't, some of them NULL."""
    of = draw(kinds)
    made = []
    for _ in range(count):
        values = draw(st.lists(values_of(of), max_size=8)) * draw(st.sampled_from([1, 40]))
        if pa.types.is_integer(of) and draw(st.booleans()):
            info = np.iinfo(of.to_pandas_dtype())
            values += draw(st.lists(st.integers(int(info.min), int(info.max)), max_size=4))
        made.append(pa.array(values, of).slice(draw(st.integers(0, 2))))
    return made


@given(columns(1), st.randoms(use_true_random=False))
def test_values_are_those_of_the_plain_column(one: list[pa.Array], random: Any) -> None:
    (plain,) = one
    for column in (narrowed(plain), reread(narrowed(plain))):
        assert column.type == plain.type and len(column) == len(plain)
        assert listed(column) == listed(plain)
        if isinstance(column, Narrow) and len(plain):
            at = np.array([random.randrange(len(plain)) for _ in range(5)])
            assert listed(column.at(at)) == listed(plain.take(pa.array(at)))
            assert listed(column.slice(1, len(plain) - 1)) == listed(plain.slice(1))
            inside = column.slice(1, len(plain) - 1)
            assert not len(inside) or listed(inside.at(np.zeros(2, np.int64))) == listed(plain)[1:2] * 2


def test_a_struct_is_read_under_the_names_of_now() -> None:
    then, now = (pa.struct([(name, pa.int64())]) for name in ("then", "now"))
    read = narrow(pa.field("c", then), pa.array([{"then": 1}, None], then), now)
    assert read.type == now and read.to_pylist() == [{"now": 1}, None]


@given(columns(3), st.randoms(use_true_random=False))
def test_numbers_of_several_parts_are_those_of_each(parts: list[pa.Array], random: Any) -> None:
    """Each part has a base and a unit of its own."""
    narrows = [column for part in parts if isinstance(column := narrowed(part), Narrow)]
    coded = [(column, column.coded) for column in narrows if column.coded is not None and len(column)]
    at = [
        np.array([random.randrange(len(column)) for _ in range(random.randrange(5))], np.int64)
        for column, _ in coded
    ]
    for count in range(1, len(coded) + 1):
        pairs = [(codes, places) for (_, codes), places in zip(coded, at, strict=True)][:count]
        each = [column.at(places) for (column, _), places in zip(coded, at, strict=True)][:count]
        assert of_numbers(numbers_at(pairs), coded[0][0].type).equals(pa.concat_arrays(each))


def test_long_words_are_looked_up_where_they_lie() -> None:
    """To copy the dictionaries of all batches for a row of each would take what they hold."""
    for word, few in (("x" * 10, True), ("x" * 10_000, False)):
        column = narrowed(pa.array([f"{word}{i % 5}" for i in range(100)]))
        assert isinstance(column, Narrow) and column.dictionary is not None
        assert (column.words is not None) == few
    nothing = narrowed(pa.array(["x", None] * 50))
    assert isinstance(nothing, Narrow) and nothing.words is None

"""Generate: each row once for every element."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.generate import Generate
from dbsp.testing.bags import identity
from tests.circuits.engine import Options
from tests.generators.columns.zsets import Naive, plus
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

LISTS = pa.list_(pa.int32())
STRUCTS = pa.list_(pa.struct([("x", pa.int64()), ("y", pa.list_(pa.float64()))]))
MAPS = pa.map_(pa.string(), pa.int32())


def generated(
    data_type: pa.DataType, outer: bool, position: bool, fields: bool
) -> tuple[Generate, pa.Schema]:
    """The operator over rows (id, list), and their schema."""
    schema = pa.schema([("id", pa.int32()), ("list", data_type)])
    inner = (
        pa.struct([("k", pa.string()), ("v", pa.int32())])
        if pa.types.is_map(data_type)
        else data_type.value_type
    )
    made = [(f.name, f.type) for f in inner] if fields else [("element", inner)]
    output = pa.schema([("id", pa.int32()), *([("at", pa.int32())] if position else []), *made])
    return Generate((0,), Column(1, data_type), output, outer, position, fields), schema


def by_the_book(rows: Naive, outer: bool, position: bool, width: int) -> Naive:
    """rows: ('list', id, ('list', element, …)). width: fields of an element, 0: it is whole."""
    parts = []
    for (_, id_, elements), weight in rows.items():
        listed = list(enumerate(elements[1:])) if elements is not None else []
        for at, element in listed or ([(None, None)] if outer else []):
            cells: tuple[Any, ...] = (element,)
            if width:
                cells = (None,) * width if element is None else _fields(element)
            parts.append(Naive({("list", id_, *((at,) if position else ()), *cells): weight}))
    return plus(*parts)


def _fields(element: Any) -> tuple[Any, ...]:
    # a struct is ('struct', (name, value), …), a map's entry ('list', key, value)
    return tuple(value for _, value in element[1:]) if element[0] == "struct" else element[1:]


@given(st.data(), st.booleans(), st.booleans(), options, hash_seeds)
def test_generate(data: st.DataObject, outer: bool, position: bool, way: Options, seed: int) -> None:
    data_type = data.draw(st.sampled_from([LISTS, STRUCTS, MAPS]))
    fields = pa.types.is_map(data_type) or (data_type == STRUCTS and data.draw(st.booleans()))
    operator, schema = generated(data_type, outer, position, fields)
    stream = data.draw(streams({"t": schema}))
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(operator, t), seed)
    check(circuit, stream, lambda t: by_the_book(t, outer, position, 2 if fields else 0), way)


def test_rows_stay_where_they_lie() -> None:
    operator, _ = generated(LISTS, False, False, False)
    assert operator.placement((0,)) == (0,)
    assert operator.placement((1,)) is None
    assert operator.placement(None) is None
    assert identity([1]) == ("list", 1)

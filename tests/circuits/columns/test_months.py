"""INTERVAL YEAR TO MONTH: a number of months within, Arrow's calendar interval outside, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.months import (
    CALENDAR,
    LEAST,
    MONTHS,
    MOST,
    as_integers,
    batch_to_calendar,
    fitting,
    for_calendar,
    from_outside,
    holds_months,
    to_calendar,
    to_integers,
)

NESTED = {
    "months": MONTHS,
    "list": pa.list_(MONTHS),
    "struct": pa.struct([("n", pa.int64()), ("m", MONTHS)]),
    "map": pa.map_(pa.string(), MONTHS),
    "lists of structs": pa.list_(pa.struct([("m", pa.list_(MONTHS))])),
}
counts = st.one_of(st.none(), st.integers(LEAST, MOST))


def values_of(data_type: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of the type, months as numbers."""
    if pa.types.is_struct(data_type):
        fields = {field.name: values_of(field.type) for field in data_type}
        return st.one_of(st.none(), st.fixed_dictionaries(fields))
    if pa.types.is_map(data_type):
        entries = st.dictionaries(st.sampled_from("ab"), values_of(data_type.item_type), max_size=2)
        return st.one_of(st.none(), entries.map(lambda d: list(d.items())))
    if pa.types.is_list(data_type):
        return st.one_of(st.none(), st.lists(values_of(data_type.value_type), max_size=3))
    return st.integers(-3, 3) if data_type == pa.int64() else counts


def numbers(value: Any) -> Any:
    """Python's values with the months of an interval as a number."""
    if isinstance(value, pa.MonthDayNano):
        assert (value.days, value.nanoseconds) == (0, 0)
        return value.months
    if isinstance(value, dict):
        return {name: numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(numbers(item) for item in value)
    return value


@pytest.mark.parametrize("name", NESTED)
@given(data=st.data())
def test_out_and_back(name: str, data: st.DataObject) -> None:
    data_type = NESTED[name]
    values = data.draw(st.lists(values_of(data_type), max_size=5))
    given_as_numbers = pa.array(values, as_integers(data_type))
    for sliced in (given_as_numbers, given_as_numbers.slice(1)):
        here = from_outside(sliced, data_type)
        assert here.type == data_type
        assert to_integers(here).equals(sliced)
        shown = to_calendar(here)
        assert shown.type == for_calendar(data_type)
        shown.validate(full=True)
        assert numbers(shown.to_pylist()) == sliced.to_pylist()
        assert from_outside(shown, data_type).equals(here)


def test_types() -> None:
    assert all(map(holds_months, NESTED.values()))
    assert for_calendar(NESTED["struct"]) == pa.struct([("n", pa.int64()), ("m", CALENDAR)])
    assert as_integers(NESTED["map"]) == pa.map_(pa.string(), pa.int32())
    for other in (pa.duration("us"), pa.int64(), pa.list_(pa.duration("ms")), pa.struct([])):
        assert not holds_months(other)
        assert for_calendar(other) == as_integers(other) == other


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (pa.array([(1, 1, 0)], CALENDAR), "it has days or a time"),
        (pa.array([(1, 0, 5)], CALENDAR), "it has days or a time"),
        (pa.array([1.0]), "double is no number of months"),
        (pa.array(["1"]), "string is no number of months"),
        (pa.array([2**31]), "not in range"),
    ],
)
def test_what_are_no_months(given_: pa.Array, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_outside(given_, MONTHS)


def test_days_beneath_a_null_are_nothing() -> None:
    """pyarrow's own arrays have zeros there; others need not."""
    shown = pa.array([(1, 2, 3), (4, 0, 0)], CALENDAR)
    veiled = pa.Array.from_buffers(CALENDAR, 2, [pa.py_buffer(b"\x02"), shown.buffers()[1]])
    assert to_integers(from_outside(veiled, MONTHS)).to_pylist() == [None, 4]


def test_what_fits() -> None:
    found = fitting(np.array([LEAST - 1, LEAST, 0, MOST, MOST + 1]), MONTHS)
    assert found.tolist() == [False, True, True, True, False]
    assert fitting(np.array([2**40]), pa.int64()).tolist() == [True]


def test_batches() -> None:
    rows = pa.record_batch([pa.array([14], pa.int64()).view(MONTHS), pa.array([1])], names=["m", "n"])
    assert batch_to_calendar(rows).schema == pa.schema([("m", CALENDAR), ("n", pa.int64())])
    plain = rows.select([1])
    assert batch_to_calendar(plain) is plain

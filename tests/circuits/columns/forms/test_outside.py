"""What other programs are given in place of types of ours, and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import CALENDAR, LEAST, MONTHS, MOST
from dbsp.circuits.columns.forms.outside import (
    batch_to_outside,
    from_outside,
    has_outside,
    outside_type,
    to_outside,
    to_spark,
    without_months,
)
from dbsp.circuits.columns.variants.parsed import parsed
from dbsp.circuits.columns.variants.type import OUTSIDE, VARIANT

NESTED = {
    "months": MONTHS,
    "list": pa.list_(MONTHS),
    "struct": pa.struct([("n", pa.int64()), ("m", MONTHS)]),
    "map": pa.map_(pa.string(), MONTHS),
    "lists of structs": pa.list_(pa.struct([("m", pa.list_(MONTHS))])),
    "variant": VARIANT,
    "variants": pa.list_(pa.struct([("v", VARIANT), ("m", MONTHS)])),
    "map of variants": pa.map_(pa.string(), VARIANT),
}
DOCUMENTS = ["1", '{"a": [null]}', '"x"']
counts = st.one_of(st.none(), st.integers(LEAST, MOST))


def values_of(data_type: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of the type, months as numbers, variants as Spark's structs."""
    if data_type == VARIANT:
        return st.one_of(st.none(), st.sampled_from(DOCUMENTS).map(lambda text: parsed(text)._asdict()))
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
    given_as_numbers = pa.array(values, outside_type(data_type, pa.int32()))
    for sliced in (given_as_numbers, given_as_numbers.slice(1)):
        here = from_outside(sliced, data_type)
        assert here.type == data_type
        assert to_spark(here).equals(sliced)
        shown = to_outside(here)
        assert shown.type == outside_type(data_type)
        shown.validate(full=True)
        assert numbers(shown.to_pylist()) == sliced.to_pylist()
        assert from_outside(shown, data_type).equals(here)


def test_types() -> None:
    assert all(map(has_outside, NESTED.values()))
    assert outside_type(NESTED["struct"]) == pa.struct([("n", pa.int64()), ("m", CALENDAR)])
    assert without_months(NESTED["map"]) == pa.map_(pa.string(), pa.int32())
    assert without_months(NESTED["variants"]) == pa.list_(pa.struct([("v", VARIANT), ("m", pa.int32())]))
    assert outside_type(VARIANT).field("metadata").metadata == {b"variant": b"true"}
    for other in (pa.duration("us"), pa.int64(), pa.list_(pa.duration("ms")), pa.struct([]), OUTSIDE):
        assert outside_type(other) == without_months(other) == other


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
    assert to_spark(from_outside(veiled, MONTHS)).to_pylist() == [None, 4]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (pa.array([{"a": b"x"}]), "is no VARIANT, which is a struct of value and metadata"),
        (pa.array([b"x"]), "binary is no VARIANT"),
        (pa.array([{"value": b"", "metadata": b"\x01\x00\x00"}]), "no variant's"),
        (pa.array([{"value": b"\x00", "metadata": b""}]), "no variant's"),
        (pa.array([{"value": b"\x00", "metadata": b"\x02\x00\x00"}]), "no variant's"),
    ],
)
def test_what_are_no_variants(given_: pa.Array, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_outside(given_, VARIANT)


def test_bytes_beneath_a_null_are_nothing() -> None:
    """Spark has structs whose two binaries can't be NULL, and leaves them empty."""
    parts = [pa.array([b"", b"\x00"]), pa.array([b"\x01\x00\x00", b""])]
    given_ = pa.StructArray.from_arrays(parts, fields=list(OUTSIDE), mask=pa.array([False, True]))
    assert from_outside(given_.slice(1), VARIANT).to_pylist() == [None]
    assert from_outside(pa.nulls(2), VARIANT).null_count == 2
    with pytest.raises(ValueError, match="no variant's"):
        from_outside(given_, VARIANT)


def test_batches() -> None:
    rows = pa.record_batch([pa.array([14], pa.int64()).view(MONTHS), pa.array([1])], names=["m", "n"])
    assert batch_to_outside(rows).schema == pa.schema([("m", CALENDAR), ("n", pa.int64())])
    plain = rows.select([1])
    assert batch_to_outside(plain) is plain

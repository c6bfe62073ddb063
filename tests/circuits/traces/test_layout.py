"""Sort keys: the rows of a key lie together, equal rows have one key, an ordered column keeps its order."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces import layout as module
from dbsp.circuits.traces.layout import HIGH, LOW, Layout, of_placement, placements, with_low
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.circuits.traces.test_batch import layouts_with
from tests.generators.columns.zsets import seeds, zset_of

keys = st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32, 2**32 + 1, 2**64 - 1]))


@given(layouts_with(1), seeds)
def test_equal_rows_have_one_key_and_those_of_a_place_one_high_half(
    case: tuple[Layout, list[ZSet]], seed: int
) -> None:
    layout, (delta,) = case
    found = layout.sort_keys(delta.rows, seed)
    values = [*zip(*(column.to_pylist() for column in delta.rows.columns), strict=True)]
    rows = [identity(row) for row in values]
    places = [identity(tuple(row[i] for i in layout.placement)) for row in values]
    for i, row in enumerate(rows):
        for j in range(i):
            if row == rows[j]:
                assert found[i] == found[j]
            if places[i] == places[j]:
                assert found[i] & HIGH == found[j] & HIGH


@pytest.mark.parametrize("nulls_greatest", [False, True])
@given(values=st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)), seed=seeds)
def test_of_one_place_they_are_in_the_columns_order(
    nulls_greatest: bool, values: list[int | None], seed: int
) -> None:
    schema = pa.schema([("k", pa.int64()), ("v", pa.int32())])
    layout = Layout(schema, (0,), order=1, nulls_greatest=nulls_greatest)
    found = layout.sort_keys(zset_of(schema, [((7, value), 1) for value in values]).rows, seed)
    ends = LOW if nulls_greatest else 0
    codes = [int(key & LOW) for key in found]
    assert all(code == ends for code, value in zip(codes, values, strict=True) if value is None)
    ordered = sorted((v, code) for v, code in zip(values, codes, strict=True) if v is not None)
    assert [code for _, code in ordered] == sorted(code for _, code in ordered)


@given(keys, st.booleans())
def test_places_side_by_side_are_found_once(drawn: list[int], many: bool) -> None:
    found = np.array(sorted(drawn), np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr(module, "_FEW", 0)
        places, owner = placements(found)
    again = places if owner is None else places[owner]
    assert (again == found & HIGH).all()
    if many:
        assert [*places] == [place for place, _ in groupby(found & HIGH)]


@given(keys)
def test_ends_of_a_place(drawn: list[int]) -> None:
    found = np.array(drawn, np.uint64)
    least, greatest = of_placement(found)
    assert ((least <= found) & (found <= greatest)).all()
    assert (with_low(found, np.zeros(len(found), np.uint64)) == least).all()
    assert (greatest - least == LOW).all()

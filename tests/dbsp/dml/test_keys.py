"""Rows that come with the key of one that is there: however many, they are what a naive search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.dml import keys as module
from dbsp.dml.keys import Keys, KeyThere
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.schemas import Field
from dbsp.views.view import Contents
from tests.dbsp.build import table

KEYED = replace(
    table("keyed", (Field("a", pa.int64(), False), Field("n", pa.int32()), Field("b", pa.string(), False))),
    primary_key=("b", "a"),
)
Row = tuple[int, int | None, str]
rows = st.lists(
    st.tuples(st.integers(0, 2), st.none() | st.integers(0, 9), st.sampled_from("xy")),
    unique_by=lambda row: (row[0], row[2]),
)


def zset(values: list[Row]) -> ZSet:
    columns = [pa.array([row[i] for row in values], one.type) for i, one in enumerate(KEYED.schema)]
    batch = pa.RecordBatch.from_arrays(columns, schema=arrow_schema(KEYED))
    return ZSet(batch, np.ones(len(values), dtype=np.int64))


def listed(found: ZSet) -> list[Row]:
    assert (found.weights == 1).all()
    return sorted(zip(*(column.to_pylist() for column in found.rows.columns), strict=True), key=str)


def keys_of(there: list[Row]) -> Keys:
    parts = [zset(there[:2]), zset(there[2:])]

    def having(values: dict[str, Any]) -> list[ZSet]:
        return [Contents("keyed", part.schema, [part]).where(values).zset for part in parts if len(part)]

    def like(some: ZSet, columns: Sequence[int]) -> ZSet:
        assert [KEYED.schema[i].name for i in columns] == ["b", "a"]
        return ZSet.sum(arrow_schema(KEYED), parts)

    return Keys(KEYED, like, having)


@pytest.mark.parametrize("few", [0, 16])
@given(there=rows, come=rows)
def test_rows_with_a_key_that_is_there(few: int, there: list[Row], come: list[Row]) -> None:
    keys, taken = keys_of(there), {(row[0], row[2]): row for row in there}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        present = keys.present(zset(come))
    met = [row for row in come if (row[0], row[2]) in taken]
    assert listed(present) == sorted((taken[row[0], row[2]] for row in met), key=str)
    if not met:
        return
    found, new = keys.apart(zset(come), present)
    assert listed(found) == sorted(met, key=str)
    assert listed(new) == sorted((row for row in come if row not in met), key=str)
    assert listed(keys.replaced(found, present, ["n"])) == sorted(met, key=str)
    assert listed(keys.replaced(found, present, [])) == listed(present)


def test_errors_name_the_key() -> None:
    keys = keys_of([(1, 1, "x"), (2, 2, "y")])
    with pytest.raises(KeyThere, match="table 'keyed': two of the rows have the same key"):
        keys.present(zset([(0, 1, "x"), (0, 2, "x")]))
    moved = zset([(2, 1, "y")])
    with pytest.raises(KeyThere, match=r"table 'keyed' has a row with the key b='?y'?, a=2 already"):
        keys.check_new(zset([(1, 1, "x")]), moved)
    keys.check_new(zset([(1, 1, "x"), (2, 2, "y")]), moved)

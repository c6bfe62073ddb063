"""Grouping puts equal rows side by side, whatever the hashes do."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from tests.generators.columns.zsets import Row, array_of, rows_of, schemas, seeds
from tests.generators.values import identity


@st.composite
def listings(draw: st.DrawFn) -> tuple[pa.Schema, list[Row]]:
    schema = draw(schemas)
    return schema, draw(st.lists(rows_of(schema), min_size=1, max_size=25))


def check(order: np.ndarray, starts: np.ndarray, rows: list[Row], keys: np.ndarray) -> None:
    assert sorted(order) == list(range(len(rows)))
    assert (np.diff(keys[order].astype(np.float64)) >= 0).all()
    bounds = [*starts.tolist(), len(rows)]
    groups = [{identity(rows[i]) for i in order[a:b]} for a, b in itertools.pairwise(bounds)]
    assert all(len(group) == 1 for group in groups)
    assert len(groups) == len({identity(row) for row in rows})


@given(listings(), seeds, st.booleans())
def test_groups_are_the_classes_of_equal_rows(
    case: tuple[pa.Schema, list[Row]], seed: int, presorted: bool
) -> None:
    schema, rows = case
    columns = [array_of([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    keys = hash_rows(columns, len(rows), seed)
    order, starts = group_rows(columns, keys, presorted)
    check(order, starts, rows, keys)


@given(listings())
def test_all_keys_may_be_the_same(case: tuple[pa.Schema, list[Row]]) -> None:
    schema, rows = case
    columns = [array_of([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    keys = np.zeros(len(rows), np.uint64)
    order, starts = group_rows(columns, keys)
    check(order, starts, rows, keys)

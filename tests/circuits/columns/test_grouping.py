"""Grouping puts equal rows side by side, whatever the hashes do."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns import grouping
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import Row, array_of, rows_of, schemas, seeds


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


@given(listings(), st.integers(0, 4), st.sampled_from([0, 1, 2, 32]), st.booleans())
def test_both_hashes_may_collide(
    case: tuple[pa.Schema, list[Row]], key_bits: int, second_bits: int, presorted: bool
) -> None:
    """Rows of several keys, and of each several codes, are told apart by their values."""
    schema, rows = case
    columns = [array_of([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    keys = hash_rows(columns, len(rows), 1) >> np.uint64(64 - key_bits) if key_bits else zeros(rows)

    def few(columns: list[pa.Array], count: int, seed: int) -> np.ndarray:
        others = 0xFFFFFFFF if second_bits == 32 else 0
        return hash_rows(columns, count, seed) & np.uint64((1 << second_bits) - 1 << 32 | others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "hash_rows", few)
        order, starts = group_rows(columns, keys, presorted)
    check(order, starts, rows, keys)


def zeros(rows: list[Row]) -> np.ndarray:
    return np.zeros(len(rows), np.uint64)


def test_rows_of_one_code_take_turns() -> None:
    """Four values over two keys, all of one code: each key's first is settled, then the next."""
    values = [3, 1, 2, 0, 2, 3, 1, 0, 3, 2, 1, 0, 4, 4]
    rows: list[Row] = [(value,) for value in values]
    keys = np.array([value % 2 for value in values], np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "hash_rows", lambda columns, count, seed: np.zeros(count, np.uint64))
        order, starts = group_rows([pa.array(values)], keys)
    check(order, starts, rows, keys)


def test_the_second_hash_spares_comparisons() -> None:
    """All distinct, over three keys: each pair of neighbours is compared, and then each row with itself."""
    values = pa.array(range(300))
    keys = np.arange(300, dtype=np.uint64) % np.uint64(3)
    asked = []

    def counted(*sides: object) -> np.ndarray:
        asked.append(sides)
        return equal_rows(*sides)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "equal_rows", counted)
        order, starts = group_rows([values], keys)
    check(order, starts, [(value,) for value in range(300)], keys)
    assert len(asked) == 2

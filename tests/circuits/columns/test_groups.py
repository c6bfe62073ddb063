"""Each row has the group of its key, exactly."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows

ROWS = pa.RecordBatch.from_pydict(
    {"k": ["a", None, "b", "a", "c", None], "n": [1, 1, 1, 1, 2, 1], "v": range(6)}
)


@pytest.mark.parametrize("seed", [0, 7, FOUR_BITS])
@pytest.mark.parametrize("keys", [(0,), (0, 1), (1, 0), (1,)])
def test_rows_of_one_key_are_one_group(keys: tuple[int, ...], seed: int) -> None:
    groups = groups_of(ROWS, keys, seed)
    wanted = [tuple(ROWS.column(i)[row].as_py() for i in keys) for row in range(len(ROWS))]
    found = list(zip(*(column.to_pylist() for column in groups.keys), strict=True))
    assert len(set(found)) == len(found)
    assert [found[group] for group in groups.owner] == wanted
    assert [wanted[row] for row in groups.first] == found
    assert groups.hashes.tolist() == hash_rows(groups.keys, len(found), seed).tolist()


def test_without_keys_there_is_one_group() -> None:
    groups = groups_of(ROWS, ())
    assert (groups.keys, len(groups.first), set(groups.owner)) == ([], 1, {0})


def test_of_no_rows_there_is_none() -> None:
    groups = groups_of(ROWS.slice(0, 0), (0,))
    assert (len(groups.first), len(groups.owner), len(groups.hashes)) == (0, 0, 0)

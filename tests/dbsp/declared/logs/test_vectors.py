"""Deleted rows are what Roaring's own library has written."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import StateError
from dbsp.declared.logs.vectors import Vector, vector_of
from tests.dbsp.declared.logs.beside import stored


@pytest.mark.parametrize("kind", ["file", "inline"])
@pytest.mark.parametrize("rows", [{0}, {3, 70_000, (1 << 33) + 5}, set(range(5, 200_000))])
def test_numbers(tmp_path, kind, rows):
    vector = vector_of("t", stored(tmp_path, rows, kind))
    assert vector.numbers(str(tmp_path)).tolist() == sorted(rows)
    assert vector == vector_of("t", {**vars_of(vector)})
    assert (vector.path is None) == (kind == "inline")


def vars_of(vector: Vector):
    said = {"storageType": vector.storage, "pathOrInlineDv": vector.text, "sizeInBytes": vector.size}
    return {**said, "offset": vector.offset}


def test_a_damaged_file(tmp_path):
    vector = vector_of("t", stored(tmp_path, {1, 2}, "file"))
    (place,) = tmp_path.rglob("*.bin")
    place.write_bytes(place.read_bytes()[:-1] + b"?")
    with pytest.raises(StateError, match=rf"{place.name}: this deletion vector is damaged; restore the file"):
        vector.numbers(str(tmp_path))
    with pytest.raises(StateError, match="a deletion vector of the log is damaged"):
        Vector("i", "0" * 10, 0, 8).numbers(str(tmp_path))


def test_none():
    assert vector_of("t", None) is None

"""A chunk's record reads back as it was, and names no file elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk, is_name

NUMBER = st.integers(0, 2**63 - 1)
CHUNKS = st.builds(
    Chunk,
    segment=st.text(min_size=1).filter(is_name),
    offset=NUMBER,
    length=NUMBER,
    rows=NUMBER,
    low=NUMBER,
    high=NUMBER,
    tops=st.lists(st.none() | st.integers(), max_size=3).map(tuple),
    checksum=NUMBER,
)


@given(CHUNKS)
def test_a_record_reads_back_as_it_was(chunk: Chunk) -> None:
    assert Chunk.from_json(chunk.to_json()) == chunk


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "..\\x", "a\0", None, 7])
def test_only_a_file_of_the_directory_is_a_segment(name: object) -> None:
    assert not is_name(name)
    with pytest.raises(StateError, match="is no segment; the record is damaged"):
        Chunk.from_json([name, 0, 64, 1, 1, 0, 0])

"""A sealed record is read as it was written, or refused: no bit of it may differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.state.records.sealed import read_sealed, seal, unseal

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values, st.sampled_from([None, 1]))
def test_a_record_reads_back(value: Any, indent: int | None) -> None:
    data = seal("commit", value, indent)
    assert unseal("commit", data, "f", "") == value
    assert json.loads(data)["commit"] == value, "it is JSON for anybody else"


def test_it_takes_no_more_room_than_it_must_unless_a_person_reads_it() -> None:
    assert seal("commit", {"a": 1, "b": [2, 3]}).endswith(b'"commit": {"a":1,"b":[2,3]}}\n')
    assert seal("commit", {"a": 1, "b": 2}, 1).endswith(b'"commit": {\n "a": 1,\n "b": 2\n}}\n')


@given(st.data())
def test_any_bit_that_differs_is_noticed(data: st.DataObject) -> None:
    whole = seal("commit", {"step": 7, "text": "ä"})
    position, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[position] ^= 1 << bit
    with pytest.raises(StateError, match=r"^f: damaged: .*differs\); restore it$"):
        unseal("commit", bytes(flipped), "f", "restore it")


@pytest.mark.parametrize("kept", [1, 60, 100, -1])
def test_a_part_of_a_record_is_none(kept: int) -> None:
    with pytest.raises(StateError, match="isn't what was written there"):
        unseal("commit", seal("commit", {"step": 7, "text": "x" * 40})[:kept], "f", "")


def test_another_kind_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="differs"):
        unseal("delivered", seal("commit", {}), "f", "")
    with pytest.raises(StateError, match="f: damaged: the file is empty; restore it"):
        unseal("commit", b"", "f", "restore it")
    assert read_sealed("commit", tmp_path / "nowhere", "") is None
    (tmp_path / "here").write_bytes(seal("commit", [1]))
    assert read_sealed("commit", tmp_path / "here", "") == [1]
    with pytest.raises(StateError):
        read_sealed("commit", tmp_path, "")  # a directory is no missing file

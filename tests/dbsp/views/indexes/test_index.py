"""An index follows a view's chunks from any step to any other, and is what a fresh one would be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces import spine
from dbsp.views import searched
from dbsp.views.indexes.index import ViewIndex
from tests.dbsp.build import pipeline
from tests.dbsp.views.held import contents

SCHEMA = pa.schema([("a", pa.float64()), ("b", pa.string())])
VALUES = st.none() | st.sampled_from([0.0, -0.0, float("nan"), 1.5, -2.0])


def test_it_follows_deltas_and_reads_no_chunk_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forwards, backwards and past merges: the contents of whichever step are asked."""

    monkeypatch.setattr(spine, "SMALL", 1)
    with pipeline(tmp_path / "s") as p:
        p.store.durable = False
        for step in range(1, 9):
            p.insert("votes", [(step, story) for story in range(step)])
            if step > 2:
                p.delete("votes", [(step - 1, 0)])
            p.step()
            for as_of in (step, 1 + step // 2, step):
                held = p.view("counts", as_of=as_of)
                for story in range(9):
                    expected = [row for row in held.rows() if row["story_id"] == story]
                    assert held.lookup(story) == expected
                assert held.between(2, 4) == [row for row in held.rows() if 2 <= row["story_id"] <= 4]


def test_what_a_step_left_alone_is_not_read_again(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        p.store.durable = False
        p.insert("votes", [(1, story) for story in range(1000)])
        p.step()
        assert p["counts"].lookup(7) == [{"story_id": 7, "n": 1}]
        index = p._reading.indexes.of("counts", p["counts"].schema, (0,))
        before = index._rows
        p.insert("votes", [(2, 7)])
        p.step()
        assert p["counts"].lookup(7) == [{"story_id": 7, "n": 2}]
        assert p._reading.indexes.of("counts", p["counts"].schema, (0,)) is index
        assert index._rows is before


def test_an_interrupt_leaves_no_half_of_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pipeline(tmp_path / "s") as p:
        p.insert("votes", [(1, 1), (1, 2)])
        p.step()
        p["counts"].lookup(1)
        p.insert("votes", [(2, 1), (2, 2)])
        p.step()

        def interrupt(*_: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("dbsp.views.indexes.index.order_keys", interrupt)
            with pytest.raises(KeyboardInterrupt):
                p["counts"].lookup(1)
        assert p["counts"].lookup(1) == [{"story_id": 1, "n": 2}]
        assert p["counts"].lookup(2) == [{"story_id": 2, "n": 2}]


@given(st.lists(VALUES, max_size=8), VALUES)
def test_equal_is_as_in_group_by(values: list[Any], asked: Any) -> None:
    """NULL is NULL, NaN is NaN, and zero has no sign: by the index, and by the search without one."""
    held = contents(SCHEMA, [[((value, str(i)), 1) for i, value in enumerate(values)]])
    same = [repr(value) for value in values if _same(value, asked)]
    for few in (searched.FEW, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(searched, "FEW", few)
            assert sorted(repr(row["a"]) for row in held.lookup({"a": asked})) == sorted(same)


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (math.isnan(one) and math.isnan(other))


def test_an_index_of_nothing_is_empty() -> None:
    assert ViewIndex(SCHEMA, (0,)).between({}, None, None) == []

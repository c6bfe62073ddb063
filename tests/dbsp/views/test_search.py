"""What is asked of a view by key, and the search in views that are too large for an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import dbsp
from dbsp.circuits.errors import DataError
from dbsp.views import searched
from tests.dbsp.build import pipeline
from tests.dbsp.views.held import contents


def test_a_long_text_is_compared_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once a row: that would be 3 GB here, more than an array of texts can have."""
    monkeypatch.setattr(searched, "FEW", -1)
    held = contents(
        pa.schema([("a", pa.int64()), ("b", pa.string())]), [[((i, "x"), 1) for i in range(3000)]]
    )
    assert held.lookup({"b": "x" * 1_000_000}) == []
    assert len(held.between("x", "x" * 1_000_000, by="b")) == 3000


@pytest.fixture
def p() -> Iterator[dbsp.Pipeline]:
    with pipeline() as opened:
        opened.insert("votes", [(1, 1), (2, 1), (2, None), (2, None)])
        opened.upsert("customer", [{"id": 7, "name": "Ada"}])
        opened.step()
        yield opened


def test_a_view_is_asked_by_its_key_or_by_any_columns(p: dbsp.Pipeline) -> None:
    assert p["counts"].lookup(1) == [{"story_id": 1, "n": 2}]
    assert p["counts"].lookup((None,)) == [{"story_id": None, "n": 2}]
    assert p["counts"].lookup(99) == []
    assert p["customers"].lookup(7)[0]["name"] == "Ada"
    assert p["all_votes"].lookup({"user_id": 2, "story_id": None}) == [{"user_id": 2, "story_id": None}] * 2
    assert p["counts"].lookup({"N": 2}) == [{"story_id": None, "n": 2}, {"story_id": 1, "n": 2}]
    assert p["counts"].between(1) == [{"story_id": 1, "n": 2}]
    assert len(p["all_votes"].between(None, 1, by="user_id")) == 1


def test_what_is_found_is_the_asker_s(p: dbsp.Pipeline) -> None:
    p["counts"].lookup(1)[0]["n"] = "changed"
    assert p["counts"].lookup(1) == [{"story_id": 1, "n": 2}]


@pytest.mark.parametrize(
    ("view", "key", "said"),
    [
        ("all_votes", 1, r"view 'all_votes' has no key: .*; name columns, as {'user_id': \.\.\.}"),
        ("counts", (1, 2), r"view 'counts' has the key \(story_id\): give 1 values, not 2"),
        ("counts", {"stry_id": 1}, "no column 'stry_id'; columns: story_id, n; did you mean 'story_id'"),
        ("counts", {"n": 1, "N": 1}, "names no column, or one of them twice"),
        ("counts", {}, "names no column"),
        ("counts", "x", r"view 'counts', column 'story_id' \(BIGINT\): 'x' doesn't fit: .*give an int"),
        ("counts", 1 << 70, "doesn't fit: it is beyond"),
    ],
)
def test_what_can_t_be_asked(p: dbsp.Pipeline, view: str, key: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        p[view].lookup(key)


def test_a_map_is_equal_to_none() -> None:
    """As in Spark's SQL."""
    by_key, within = (
        pa.map_(pa.string(), pa.int64()),
        pa.struct([("m", pa.list_(pa.map_(pa.string(), pa.int64())))]),
    )
    held = contents(pa.schema([("m", by_key), ("s", within)]), [[((None, None), 1), (([("k", 1)], None), 1)]])
    for asked in ({"m": {"k": 1}}, {"s": {"m": [{"k": 1}]}}):
        with pytest.raises(
            DataError, match=r"column '.' .*MAP.*: a MAP is equal to none; ask by other columns"
        ):
            held.where(asked)
    assert len(held.where({"m": None})) == 1

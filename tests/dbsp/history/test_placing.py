"""A copy becomes a state at one instant, and nothing is written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.history.copied import copied
from dbsp.history.placing import place
from dbsp.state.store import Store
from tests.dbsp.build import feed, pipeline


def test_nothing_is_placed_over_something(tmp_path: Path) -> None:
    state = tmp_path / "s"
    with pipeline(state) as p:
        feed(p)
    store, identity = Store.read(state)
    found = copied(store, identity, 4, [])
    (tmp_path / "file").write_text("")
    for there in (state, tmp_path / "file"):
        with pytest.raises(StateError, match="is there already; use a new directory"):
            place(found, state, there)
    (tmp_path / "empty").mkdir()
    place(found, state, tmp_path / "empty")
    assert "commits" in os.listdir(tmp_path / "empty")

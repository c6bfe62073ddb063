"""What a step changed in each view: a mapping by name, whatever its case, of sorted rows and weights."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.views.changes import Changes, UnknownView, ViewChanges
from tests.dbsp.build import pipeline, votes_program
from tests.dbsp.views.test_view import SCHEMA, part


def changed(*parts: list[tuple[Any, int]]) -> ViewChanges:
    return ViewChanges("v", SCHEMA, [part(changes) for changes in parts])


def test_parts_are_added_up_and_sorted() -> None:
    change = changed([((2, "x"), 1), ((1, None), 3)], [((2, "x"), -1), ((1, None), -1), ((None, "y"), -1)])
    assert change.rows() == [({"a": None, "b": "y"}, -1), ({"a": 1, "b": None}, 2)]
    assert change.to_arrow().to_pylist() == [
        {"a": None, "b": "y", "__weight": -1},
        {"a": 1, "b": None, "__weight": 2},
    ]
    assert len(change) == 2
    assert repr(change) == "<2 changes of v>"
    assert [len(each) for each in change.parts] == [2, 3]


def test_nothing_changed() -> None:
    for change in (changed(), changed([((1, "x"), 1)], [((1, "x"), -1)])):
        assert len(change) == 0
        assert change.rows() == []
        assert change.to_arrow().num_rows == 0


def test_views_go_by_name() -> None:
    views = {"v": changed([((1, "x"), 1)]), "V2": changed()}
    with pipeline() as p:
        changes = Changes(3, None, views, p.step().metrics)
    assert list(changes) == ["v", "V2"]
    assert changes["V"] is changes["v"] is views["v"]
    assert "v2" in changes
    assert "w" not in changes
    with pytest.raises(UnknownView) as raised:
        changes["w"]
    assert str(raised.value) == "unknown view 'w'; views: v, V2"
    assert isinstance(raised.value, ProgramError)
    assert isinstance(raised.value, KeyError)


def test_a_step_says_only_what_leaves() -> None:
    """No local view, and each output view, changed or not."""
    with pipeline() as p:
        p.insert("votes", [(1, 2)])
        changes = p.step()
    shown = [name for name, view in votes_program().views.items() if view.kind != "local"]
    assert sorted(changes) == sorted(shown)
    assert {name for name in changes if len(changes[name])} == {"all_votes", "counts"}


def test_what_reads_arrow_reads_changes() -> None:
    changes = changed([((2, "x"), 1), ((1, None), -3)])
    assert pa.table(changes).to_pydict() == {"a": [1, 2], "b": [None, "x"], "__weight": [-3, 1]}
    assert ">changes of v</caption>" in changes._repr_html_()

"""What a state has of what a new program keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.dbsp.evolution.changing import BY_USER, OLD, change, with_


def test_the_same_program_keeps_everything(state: Path) -> None:
    same = change(state, OLD)
    assert same.is_same
    assert same.missing == []
    assert {*same.kept} == {*OLD.circuit.names.values()}


def test_a_view_is_changed_where_its_name_has_another_query(state: Path) -> None:
    renamed = change(state, with_(counts=None, tallies=replace(OLD.views["counts"], name="tallies")))
    assert (renamed.missing, [*renamed.changed]) == ([], [])
    other = change(state, with_(counts=replace(BY_USER, name="counts")))
    assert [*other.changed] == ["counts"]
    more = change(state, with_(by_user=BY_USER))
    assert [*more.changed] == []
    assert all(name in more.new.traces for name in more.kept)

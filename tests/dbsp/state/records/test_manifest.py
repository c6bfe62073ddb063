"""What a program keeps, in words that outlive it: written, read, and gone on with by another one."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.state.records.manifest import Columns, Manifest, manifest_of
from tests.dbsp.build import votes_program

PROGRAM = votes_program()
MANIFEST = manifest_of(PROGRAM)


def test_it_is_written_and_read_as_json() -> None:
    read = Manifest.from_json(json.loads(json.dumps(MANIFEST.to_json())))
    assert json.dumps(read.to_json()) == json.dumps(MANIFEST.to_json())
    assert {name: one.stored() for name, one in read.traces.items()} == {
        name: one.stored() for name, one in MANIFEST.traces.items()
    }
    assert replace(read, traces={}) == replace(MANIFEST, traces={})


def test_it_describes_each_trace_as_it_is_stored() -> None:
    circuit = PROGRAM.circuit
    assert {*MANIFEST.traces} == {*circuit.names.values()}
    for node, name in circuit.names.items():
        held = MANIFEST.traces[name]
        assert held.stored() == circuit.stored(node)
        assert held.log == (node in circuit.logs)
        assert len(held.columns) == len(circuit.nodes[node].schema)


def test_a_view_names_its_traces() -> None:
    assert [*MANIFEST.views] == ["all_votes", "counts", "customers", "events"]
    for shown in MANIFEST.views.values():
        assert {shown.kept, shown.changes} <= {*MANIFEST.traces}
        assert not shown.emits
    assert MANIFEST.tables["customer"].key == ("id",)


def test_another_fingerprint_keeps_the_same_traces() -> None:
    """Names are of what a trace means, not of the program."""
    assert manifest_of(votes_program("f2")) == MANIFEST


@pytest.mark.parametrize(
    ("was", "now", "goes_on"),
    [
        (None, ("a",), True),  # all rows are there
        (["a", "b"], ("a",), True),
        (["a"], ("a", "b"), False),  # b would look at rows that a didn't
        (["a"], None, False),  # all rows are looked at
    ],
)
def test_what_has_lost_rows_serves_no_further_reader(
    was: list[str] | None, now: tuple[str, ...] | None, goes_on: bool
) -> None:
    name = next(iter(MANIFEST.traces))
    state = {"spines": {name: {}}, "collected": {} if was is None else {name: was}}
    new = replace(MANIFEST, collected={} if now is None else {name: now})
    assert new.goes_on_with(state) == ({name} if goes_on else set())
    assert new.goes_on_with({"spines": {"another": {}}, "collected": {}}) == set()


def test_a_column_with_a_default_is_never_null_and_of_other_values() -> None:
    plain = MANIFEST.tables["votes"]
    filled = replace(plain, defaults={"story_id": "digest"})
    assert plain.fields["story_id"].nullable
    assert not filled.fields["story_id"].nullable
    assert filled.column("votes", "story_id") != plain.column("votes", "story_id")
    assert filled.column("votes", "user_id") == plain.column("votes", "user_id")
    assert plain.column("event", "user_id") != plain.column("votes", "user_id")
    assert isinstance(plain, Columns)
    assert plain.fields["user_id"].type == pa.int64()

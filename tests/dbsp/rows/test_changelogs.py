"""Records as changes: what a delta is written as is that delta again, and what no record says is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.changelogs import changes
from dbsp.rows.incoming import BadRow
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field
from dbsp.views.shapes import retracts, upserts
from tests.dbsp.build import table

BAG = (Field("k", pa.int64()), Field("v", pa.string()))
KEYED = (Field("k", pa.int64(), False), Field("v", pa.string()))
EVENT = pa.struct([("k", pa.int64()), ("v", pa.string())])


def source(shape: str, keyed: bool) -> Table:
    made = table("t", KEYED if keyed else BAG, ("k",) if keyed else ())
    return replace(made, changelog=shape)


def zset(rows: list[tuple[Any, Any]], weights: list[int]) -> ZSet:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(BAG)]
    return ZSet(pa.RecordBatch.from_arrays(columns, names=["k", "v"]), np.array(weights, np.int64))


def records(**columns: tuple[list[Any], pa.DataType]) -> pa.RecordBatch:
    arrays = [pa.array(values, data_type) for values, data_type in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=[*columns])


def read(table: Table, given: pa.RecordBatch) -> list[tuple[Any, ...]]:
    rows, weights = changes(table, given)
    return [(*row.values(), weight) for row, weight in zip(rows.to_pylist(), weights.tolist(), strict=True)]


KEYS, TEXTS = st.integers(0, 3), st.sampled_from([None, "", "a", "b"])


@given(st.lists(st.tuples(KEYS | st.none(), TEXTS, st.integers(-2, 2))))
def test_a_delta_that_is_written_as_a_retract_is_read_back(delta: list[tuple[Any, Any, int]]) -> None:
    given_ = zset([row[:2] for row in delta], [row[2] for row in delta]).consolidate()
    written = retracts(given_)
    weighted = written.rows.append_column("__weight", pa.array(written.weights))
    one_by_one = written.repeated()
    spelled = one_by_one.rows.append_column("__OP", one_by_one.ops)
    for batch in (weighted, spelled):
        rows, weights = changes(source("retract", keyed=False), batch)
        back = ZSet(rows, weights).consolidate()
        assert back.rows.to_pylist() == given_.rows.to_pylist()
        assert back.weights.tolist() == given_.weights.tolist()


@given(st.dictionaries(KEYS, TEXTS), st.dictionaries(KEYS, TEXTS))
def test_a_delta_that_is_written_as_upserts_makes_of_the_old_rows_the_new(
    old: dict[int, str | None], new: dict[int, str | None]
) -> None:
    rows = [*old.items(), *new.items()]
    delta = zset(rows, [-1] * len(old) + [1] * len(new)).consolidate()
    written = upserts(delta, (0,))
    for mark in (("__op", written.ops), ("__weight", pa.array(written.weights))):
        held = dict(old)
        for key, value, weight in read(source("upsert", keyed=True), written.rows.append_column(*mark)):
            held.pop(key, None)
            if weight > 0:
                held[key] = value
        assert held == new


def test_of_upserts_without_a_mark_only_a_deletion_has_but_its_key() -> None:
    told = replace(source("upsert", keyed=True), schema=(*KEYED, Field("n", pa.int64(), False)))
    given_ = records(k=([1, 2], pa.int64()), v=([None, None], pa.string()), n=([None, 5], pa.int64()))
    assert read(told, given_) == [(1, None, None, -1), (2, None, 5, 1)]


def envelopes(*events: tuple[str | None, Any, Any]) -> pa.RecordBatch:
    op, before, after = zip(*events, strict=True)
    return records(op=([*op], pa.string()), after=([*after], EVENT), before=([*before], EVENT))


def row(k: int | None, v: str | None = None) -> dict[str, Any]:
    return {"k": k, "v": v}


EVENTS = envelopes(
    ("r", None, row(1, "a")), ("u", row(1, "a"), row(1, "b")), ("d", row(1, "b"), None), ("c", None, row(1))
)


@pytest.mark.parametrize("keyed", [False, True])
def test_an_envelope_takes_back_what_was_and_gives_what_is(keyed: bool) -> None:
    was = [None, None] if keyed else ["a", "b"]  # of a deletion by key only that counts
    wanted = [(1, "a", 1), (1, was[0], -1), (1, "b", 1), (1, was[1], -1), (1, None, 1)]
    assert read(source("debezium", keyed), EVENTS) == wanted


def test_an_update_of_a_keyed_table_needs_no_row_before() -> None:
    assert read(source("debezium", True), envelopes(("u", None, row(1, "b")))) == [(1, "b", 1)]


def maxwell(*events: tuple[str | None, Any, Any]) -> pa.RecordBatch:
    kind, data, old = zip(*events, strict=True)
    return records(type=([*kind], pa.string()), data=([*data], EVENT), old=([*old], EVENT))


KINDS = st.sampled_from(["insert", "bootstrap-insert", "update", "delete", "bootstrap-complete"])


@given(st.lists(st.tuples(KINDS, KEYS, KEYS, TEXTS), min_size=1, max_size=8))
def test_maxwell_s_records_are_what_happened(events: list[tuple[str, int, int, str | None]]) -> None:
    """Each event is made true of a table, and recorded as Maxwell does: `old` has only what was otherwise."""
    held: dict[int, str | None] = {}
    written = []
    for kind, key, moved, text in events:
        if kind == "bootstrap-complete":
            written.append((kind, None, None))
        elif kind == "delete" and key in held:
            written.append((kind, row(key, held.pop(key)), None))
        elif kind == "update" and key in held and (moved == key or moved not in held):
            was = held.pop(key)
            old = row(key if moved != key else None, was if was != text else None)
            written.append((kind, row(moved, text), old))
            held[moved] = text
        elif kind.endswith("insert") and key not in held:
            written.append((kind, row(key, text), None))
            held[key] = text
    found: dict[int, str | None] = {}
    if written:
        for key, value, weight in read(source("maxwell", keyed=True), maxwell(*written)):
            found.pop(key, None)
            if weight > 0:
                found[key] = value
    assert found == held


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (("table-create", None, None), "type is 'insert', 'bootstrap-insert', .* not 'table-create'"),
        (("insert", None, None), "data is the row of a type that has one, not NULL"),
        (("delete", row(None, "a"), None), "a row needs one in column 'k'"),
    ],
)
def test_what_maxwell_doesn_t_say(event: Any, error: str) -> None:
    with pytest.raises(BadRow, match=error) as raised:
        changes(source("maxwell", True), maxwell(("insert", row(1), None), event))
    assert raised.value.row == 1


@pytest.mark.parametrize("keyed", [False, True])
def test_a_change_data_feed_gives_what_comes_and_takes_what_goes(keyed: bool) -> None:
    given_ = records(
        k=([1, 1, 1, 1], pa.int64()),
        v=(["a", "a", "b", "b"], pa.string()),
        _change_type=(["insert", "update_preimage", "update_postimage", "delete"], pa.string()),
        _commit_version=([1, 2, 2, 3], pa.int64()),
    )
    was = [None, None] if keyed else ["a", "b"]
    wanted = [(1, "a", 1), (1, was[0], -1), (1, "b", 1), (1, was[1], -1)]
    assert read(source("change-data-feed", keyed), given_) == wanted


def test_nothing_in_nothing_out() -> None:
    for shape, keyed in (("debezium", True), ("debezium", False)):
        assert read(source(shape, keyed), EVENTS.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("shape", "keyed", "given_", "bad", "error"),
    [
        ("retract", False, {"__weight": [1, 0]}, 1, "__weight is a number other than 0, not 0"),
        ("retract", False, {"__weight": [None, 1]}, 0, "__weight is a number other than 0, not NULL"),
        ("retract", False, {"__op": ["I", "U"]}, 1, "__op is 'I' or 'D', not 'U'"),
        ("upsert", True, {"__op": ["U", "x"]}, 1, "__op is 'I', 'U' or 'D', not 'x'"),
        ("upsert", True, {"__op": ["U", None]}, 1, "__op is 'I', 'U' or 'D', not NULL"),
        ("upsert", True, {"k": [1, None], "__op": ["I", "D"]}, 1, "a row needs one in column 'k'"),
        ("upsert", True, {"k": [None, 1], "__op": ["I", "D"]}, 0, "a row needs one in column 'k'"),
    ],
)
def test_what_a_record_can_t_say(
    shape: str, keyed: bool, given_: dict[str, list[Any]], bad: int, error: str
) -> None:
    columns = {"k": [1, 2], "v": ["a", "b"], **given_}
    with pytest.raises(BadRow) as raised:
        changes(source(shape, keyed), pa.RecordBatch.from_pydict(columns))
    assert error in str(raised.value)
    assert raised.value.row == bad


@pytest.mark.parametrize(
    ("keyed", "event", "error"),
    [
        (True, ("t", None, None), "op is 'r', 'c', 'u' or 'd', not 't'"),
        (True, (None, None, None), "op is 'r', 'c', 'u' or 'd', not NULL"),
        (True, ("c", row(1), None), "after is the row of an op that gives one, not NULL"),
        (True, ("d", None, row(1)), "before is the row that is taken back, not NULL"),
        (False, ("u", None, row(1)), "(REPLICA IDENTITY FULL, or declare PRIMARY KEY), not NULL"),
        (True, ("d", row(None), None), "a row needs one in column 'k'"),
    ],
)
def test_what_an_envelope_can_t_say(keyed: bool, event: tuple[Any, Any, Any], error: str) -> None:
    with pytest.raises(BadRow) as raised:
        changes(source("debezium", keyed), envelopes(("c", None, row(1)), event))
    assert error in str(raised.value)
    assert raised.value.row == 1

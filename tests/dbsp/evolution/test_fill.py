"""The circuit of what is missing: what it is fed makes the traces that the new program would have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dbsp.circuits.operators.linear import Source
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from dbsp.evolution.change import Change
from dbsp.evolution.fill import Filling
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store
from tests.circuits.engine import Engine
from tests.dbsp.build import feed, pipeline
from tests.dbsp.evolution.changing import BY_USER, OLD, with_


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s", program=OLD) as p:
        p.store.durable = False
        feed(p)
    return tmp_path / "s"


def change(state: Path, program: Program) -> tuple[Change, Store]:
    store, before = Store.read(state)
    assert store.last is not None
    return Change(program, before, store.last), store


@pytest.mark.parametrize("replaced", [False, True])
def test_fed_with_what_there_is_it_makes_what_a_fresh_run_has(
    state: Path, tmp_path: Path, replaced: bool
) -> None:
    new = with_(counts=replace(BY_USER, name="counts")) if replaced else with_(by_user=BY_USER)
    found, store = change(state, new)
    fill, filling = found.filling
    assert filling.missing == []
    assert {*fill.filled} == {*found.missing}
    assert {*fill.differences} == ({"counts"} if replaced else set())
    verify(fill.circuit)
    engine = Engine(fill.circuit, tmp_path / "filled")
    (tmp_path / "filled").mkdir()
    for source, given in fill.given.items():
        parts = [part for pieces in given.inputs(2) for part in pieces]
        for rows in (part.open(store.segments, given.schema) for part in parts):
            nothing = {
                name: ZSet.empty(fill.circuit.nodes[node].schema)
                for name, node in fill.circuit.sources.items()
            }
            engine.step({**nothing, source: ZSet.from_batch(rows)})
    view = "counts" if replaced else "by_user"
    kept = new.circuit.output(view).kept
    spine = engine.state.spines[fill.filled[kept]]
    parts = [open_chunk(fill.circuit, fill.filled[kept], chunk, engine.segments).zset for chunk in spine.live]
    schema = new.circuit.nodes[kept].schema
    found_rows = ZSet.sum(
        schema, [ZSet(part.rows.select(range(len(schema))), part.weights) for part in parts]
    )
    with pipeline(tmp_path / "fresh", program=new) as p:
        feed(p)
        expected = sorted(map(str, (tuple(row.values()) for row in p[view].rows())))
    consolidated = found_rows.consolidate(0)
    rows = [tuple(row.values()) for row in consolidated.rows.to_pylist()]
    shown = [
        row for row, weight in zip(rows, consolidated.weights.tolist(), strict=True) for _ in range(weight)
    ]
    assert sorted(map(str, shown)) == expected


def test_a_table_that_nothing_holds_is_missing_by_name(state: Path) -> None:
    found, _ = change(state, with_(by_user=BY_USER))
    empty = replace(found.holdings, kept=())
    filling = Filling(found.program.circuit, empty, ())
    fill = filling.fill(found.missing, {})
    assert (fill.filled, fill.given) == ({}, {})
    assert {one.why for one in filling.missing} == {
        "nothing holds the rows of table 'votes', as a view of all of them would"
    }


def test_a_new_table_is_empty_and_needs_nothing(state: Path) -> None:
    found, _ = change(state, with_(by_user=BY_USER))
    filling = Filling(found.program.circuit, replace(found.holdings, kept=()), {"votes"})
    fill = filling.fill(found.missing, {})
    assert filling.missing == []
    assert fill.given == {}
    assert any(isinstance(node.operator, Source) for node in fill.circuit.nodes)

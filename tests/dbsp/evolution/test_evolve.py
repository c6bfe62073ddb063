"""What a change of program keeps, says, touches and refuses."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.commands.fsck import examine, go_back
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.schemas import Field
from dbsp.state.store import Store
from tests.dbsp.build import CUSTOMER, EVENT, STEPS, VOTES, pipeline, view
from tests.dbsp.evolution.changing import BY_USER, OLD, counted, files, with_
from tests.dbsp.state.released import RELEASES


def opened(program: Program, state: Path, **options: Any) -> Pipeline:
    return pipeline(state, program=program, **options)


def test_the_plan_says_what_the_change_does(state: Path) -> None:
    before = files(state)
    plan = dbsp.plan(with_(by_user=BY_USER, customers=None), state)
    assert plan.of("kept") == ["all_votes", "counts", "events"]
    assert plan.of("back-filled") == ["by_user"] and plan.of("dropped") == ["customers"]
    assert (plan.step, plan.rows, plan.refused) == (STEPS, 17, ())
    assert "back-filled  view by_user: new" in plan.lines()
    assert dbsp.plan(OLD, state).is_same
    assert files(state) == before


def test_without_evolve_it_is_refused_and_says_what_would_happen(state: Path) -> None:
    with pytest.raises(StateError, match=r"differs from .*--evolve \(evolve=True\): .* 2 back-filled"):
        opened(with_(by_user=BY_USER), state)


def test_the_change_is_a_step_of_its_own(state: Path) -> None:
    with opened(OLD, state) as p:
        counts = p["counts"].rows()
    said: list[str] = []
    with opened(with_(by_user=BY_USER), state, evolve=True, progress=said.append) as p:
        assert p.last_step == STEPS + 1
        users = {row["user_id"]: row["n"] for row in p["by_user"].rows()}
        assert users == {**dict.fromkeys(range(5), 1), **dict.fromkeys(range(5, 10), 4)}
        assert {row["user_id"] for row, _ in p.changes_of("by_user", STEPS + 1).rows()} == set(range(10))
        assert not len(p.changes_of("counts", STEPS + 1))
        # steps before: of views that were there
        assert p.view("counts", as_of=STEPS).rows() == counts
        assert len(p.changes_of("counts", STEPS))
        with pytest.raises(StateError, match="'by_user' is not there as of that step"):
            p.view("by_user", as_of=STEPS)
        with pytest.raises(StateError, match=r"step 4: what it changed in view 'by_user' can't be told"):
            p.changes_of("by_user", STEPS)
    assert "back-filling: 17 of 17 rows" in said
    with opened(with_(by_user=BY_USER), state, evolve=True, progress=said.append) as p:
        assert p.last_step == STEPS + 1


def test_a_view_of_another_query_changes_by_the_difference(state: Path) -> None:
    condition = Filter(
        Scan("votes", VOTES),
        Call("is_null", (Column(0, pa.int64()),), pa.bool_(), False),
    )
    with opened(OLD, state) as p:
        held = p["all_votes"].rows()
    with opened(with_(all_votes=view("all_votes", condition)), state, evolve=True) as p:
        gone = [row for row, weight in p.changes_of("all_votes", STEPS + 1).rows() for _ in range(-weight)]
        assert sorted(map(str, gone)) == sorted(map(str, held))
        assert p["all_votes"].rows() == []


def test_views_that_become_the_same_change_each_by_its_own_difference(state: Path) -> None:
    sizes = replace(OLD.views["counts"], name="sizes", plan=counted(0, "story_id"))
    with opened(with_(sizes=sizes), state, evolve=True) as p:
        held = {name: p[name].rows() for name in ("counts", "sizes")}
    assert held["counts"] != held["sizes"]
    few = Call("less_than", (Column(0, pa.int64()), Literal(3, pa.int64())), pa.bool_(), True)
    both = {name: view(name, counted(1, "story_id", Filter(Scan("votes", VOTES), few))) for name in held}
    with opened(with_(**both), state, evolve=True) as p:
        for name, before in held.items():
            told = Counter(str(row) for row in before)
            for row, weight in p.changes_of(name, p.last_step).rows():
                told[str(row)] += weight
            assert +told == Counter(str(row) for row in p[name].rows()) and min(told.values()) == 0


def test_what_only_decides_which_rows_there_are_is_read(state: Path) -> None:
    """No column of the rows counted is needed, but the condition's are to know which they are."""
    few = Filter(
        Scan("votes", VOTES),
        Call("less_than", (Column(0, pa.int64()), Literal(3, pa.int64())), pa.bool_(), True),
    )
    call = AggregateCall("count", (), pa.int64(), False)
    how_many = Aggregate(few, (), (call,), (Field("n", pa.int64(), False),))
    with opened(with_(how_many=view("how_many", how_many)), state, evolve=True) as p:
        assert p["how_many"].rows() == [{"n": 3}]


def test_renaming_and_removing_reads_and_writes_nothing(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Segments, "open", lambda *_: pytest.fail("a segment is read"))
    monkeypatch.setattr(InlineRunner, "run", lambda *_: pytest.fail("something is computed"))
    before = set(os.listdir(state / "segments"))
    tally = replace(OLD.views["counts"], name="tally")
    opened(with_(counts=None, tally=tally, customers=None), state, evolve=True).close()
    assert set(os.listdir(state / "segments")) <= before
    monkeypatch.undo()
    with opened(with_(counts=None, tally=tally, customers=None), state) as p:
        assert {row["story_id"] for row in p["tally"].rows()} == {0, 1, 2, 3}
        assert len(p.changes_of("tally", STEPS + 1)) == len(p["tally"].rows())


def test_a_new_view_over_a_kept_trace_reads_no_other(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_chunks: list[Chunk] = []
    really = Segments.open

    def watched(self: Segments, chunk: Chunk, *more: Any) -> pa.RecordBatch:
        opened_chunks.append(chunk)
        return really(self, chunk, *more)

    with opened(OLD, state) as p:
        circuit, spines = p.program.circuit, p._position.state.spines
        kept = {chunk.offset: chunk for chunk in spines[circuit.output("counts").kept].chunks()}
    monkeypatch.setattr(Segments, "open", watched)
    plan = Project(
        Scan("counts", OLD.views["counts"].schema),
        (Column(1, pa.int64(), False),),
        (Field("n", pa.int64(), False),),
    )
    opened(with_(sizes=view("sizes", plan)), state, evolve=True).close()
    assert opened_chunks
    assert {(c.segment, c.offset) for c in opened_chunks} <= {(c.segment, c.offset) for c in kept.values()}


ADDED = Field("added", pa.string())


def wider(name: str, schema: tuple[Field, ...], *more: Field, **options: Any) -> Table:
    return replace(OLD.tables[name], schema=(*schema, *more), **options)


def narrowed(name: str, schema: tuple[Field, ...], *more: Field) -> Plan:
    columns = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(schema))
    return Project(Scan(name, (*schema, *more)), columns, schema)


def with_column(name: str, schema: tuple[Field, ...], *more: Field, **options: Any) -> Program:
    """A table with columns more; each view reads what it read, but `customers` all."""
    tables = {name: wider(name, schema, *more, **options)}
    votes = narrowed("votes", VOTES, *more) if name == "votes" else Scan("votes", VOTES)
    customers = Scan("customer", (*CUSTOMER, *more)) if name == "customer" else Scan("customer", CUSTOMER)
    return with_(
        tables,
        all_votes=view("all_votes", votes),
        counts=view("counts", counted(1, "story_id", votes)),
        hidden=view("hidden", votes, "local"),
        customers=view("customers", customers),
    )


def test_a_column_is_null_in_old_rows_and_what_does_not_read_it_stays(state: Path) -> None:
    program = with_column("votes", VOTES, ADDED)
    plan = dbsp.plan(program, state)
    assert plan.of("kept") == ["all_votes", "counts", "customers", "events"]
    assert plan.filled == 1  # the table's own trace, by which retractions are checked
    with opened(program, state, evolve=True) as p:
        assert not len(p.changes_of("all_votes", STEPS + 1))
        p.delete("votes", [(9, 1, None)])
        assert len(p.step()["counts"]) == 2
        with pytest.raises(dbsp.DataError, match="it isn't there"):
            p.delete("votes", [(8, 0, "x")])
            p.step()


def test_a_column_has_its_default_in_old_rows(state: Path) -> None:
    default = (Default(3, Literal("none", pa.string())),)
    with opened(with_column("customer", CUSTOMER, ADDED, defaults=default), state, evolve=True) as p:
        assert {row["added"] for row in p["customers"].rows()} == {"none"}
        p.upsert("customer", [{"id": 1, "name": "new", "added": "given"}])
        p.step()
        assert {row["added"] for row in p["customers"].rows()} == {"none", "given"}


def test_a_type_is_widened(state: Path) -> None:
    schema = (replace(EVENT[0], type=pa.int64()), EVENT[1])
    events = view("events", Scan("event", schema), append_only=True)
    program = with_({"event": replace(OLD.tables["event"], schema=schema)}, events=events)
    with opened(program, state, evolve=True) as p:
        assert p["events"].to_arrow().schema.field("id").type == pa.int64()
        assert {row["id"] for row in p["events"].rows()} == set(range(1, STEPS + 1))


NOT_NULL = Field("added", pa.string(), False)
NARROW = (replace(VOTES[0], type=pa.int32()), VOTES[1])
REFUSED = {
    "NOT NULL": (
        with_column("votes", VOTES, NOT_NULL),
        "column 'added' is NOT NULL, .*; give it a DEFAULT",
    ),
    "narrower": (
        with_(
            {"votes": replace(OLD.tables["votes"], schema=NARROW)},
            all_votes=None,
            counts=None,
            hidden=None,
        ),
        "column 'user_id' was bigint and is int",
    ),
    "append-only": (
        with_(
            events=None,
            amounts=view(
                "amounts",
                Aggregate(Scan("event", EVENT), (Column(1, EVENT[1].type),), (), (EVENT[1],)),
            ),
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_t_be_done_is_refused_and_changes_nothing(state: Path, name: str) -> None:
    program, said = REFUSED[name]
    before = files(state)
    if said is None:  # the view that held the rows is still there: only afterwards nothing does
        opened(with_(events=None), state, evolve=True).close()
        before, said = files(state), "view 'amounts' can't be .*nothing holds the rows of table 'event'"
    with pytest.raises(StateError, match=f"can't be changed: .*{said}"):
        opened(program, state, evolve=True)
    assert files(state) == before
    assert dbsp.plan(program, state).refused
    with pytest.raises(StateError, match=f"it can't be changed into this program: .*{said}"):
        opened(program, state)


def test_a_query_that_fails_on_what_is_there_changes_nothing(state: Path) -> None:
    ratio = Call("remainder", (Literal(1, pa.int64()), Column(1, pa.int64())), pa.int64(), True)
    plan = Project(Scan("votes", VOTES), (ratio,), (Field("r", pa.int64()),))
    before = files(state)
    with pytest.raises(dbsp.EvaluationError, match=r"the program can't be changed: view 'ratios': .*ZERO"):
        opened(with_(ratios=view("ratios", plan)), state, evolve=True)
    assert files(state) == before


def test_a_name_that_another_view_had_says_nothing_of_then(state: Path) -> None:
    """Rows as of a step, with the changes since, are what is there now; or it isn't said."""
    both = with_(by_user=BY_USER)
    with opened(both, state, evolve=True) as p:
        then, users = p["counts"].rows(), p["by_user"].rows()
    swapped = with_(
        counts=replace(BY_USER, name="counts"),
        by_user=replace(OLD.views["counts"], name="by_user"),
        alike=replace(OLD.views["counts"], name="alike"),
    )
    with opened(swapped, state, evolve=True) as p:
        assert p["counts"].rows() == users and p["by_user"].rows() == then == p["alike"].rows()
        for view in ("counts", "by_user", "alike"):
            with pytest.raises(StateError, match=f"'{view}' is not there as of that step"):
                p.view(view, as_of=STEPS + 1)
            with pytest.raises(StateError, match="can't be told"):
                p.changes(view, since=STEPS)


def test_an_older_format_makes_a_step_first(tmp_path: Path) -> None:
    old = Path(shutil.copytree(RELEASES / "0.1-format-2", tmp_path / "old"))
    with pytest.raises(StateError, match=r"make a step with 'program\.sql' first"):
        opened(with_(by_user=BY_USER), old, evolve=True)
    with opened(OLD, old, evolve=True) as p:
        p.step()
    with opened(with_(by_user=BY_USER), old, evolve=True) as p:
        assert len(p["by_user"].rows()) == 4
        # numbers of nodes are those of another circuit
        with pytest.raises(StateError, match="'counts' is not there as of that step"):
            p.view("counts", as_of=2)
        with pytest.raises(StateError, match="step 2: what it changed in view 'counts' can't be told"):
            p.changes_of("counts", 2)


def test_a_step_before_the_change_can_be_gone_back_to(state: Path) -> None:
    with opened(OLD, state) as p:
        before = p["counts"].rows()
    opened(with_(by_user=BY_USER, customers=None), state, evolve=True).close()
    assert examine(state)[0] == []
    go_back(state, STEPS)
    for open_ in (lambda: opened(with_(by_user=BY_USER), state, evolve=True), lambda: Store.read(state)):
        with pytest.raises(StateError, match=f"step {STEPS} was made by another .* with the program of that"):
            open_()
    with opened(OLD, state) as p:
        assert p.last_step == STEPS and p["counts"].rows() == before


def test_a_reader_sees_the_old_program_until_the_change_is_true(state: Path) -> None:
    store, identity = Store.read(state)
    assert identity.fingerprint == OLD.fingerprint and store.last is not None
    new = with_(by_user=BY_USER)
    (state / "program.next.json").write_bytes(b"")  # what a crash can't leave: it is written whole
    with pytest.raises(StateError, match="damaged"):
        Store.read(state)
    (state / "program.next.json").unlink()
    opened(new, state, evolve=True).close()
    assert Store.read(state)[1].fingerprint == new.fingerprint

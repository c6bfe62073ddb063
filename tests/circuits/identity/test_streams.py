"""What a digest of a stream depends on, and what it doesn't."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Map, Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import EVENT, VOTES, table, votes_program
from tests.dbsp.build import view as a_view

WIDER = (VOTES[0], Field("added", pa.string()), VOTES[1])


def counts(schema: tuple[Field, ...], key: str = "story_id") -> Plan:
    """Votes by story, of a table with some columns more."""
    names = [field.name for field in schema]
    place = names.index(key)
    narrowed = Project(Scan("votes", schema), (Column(place, schema[place].type),), (schema[place],))
    call = AggregateCall("count", (), pa.int64(), False)
    made = (Field(key, pa.int64()), Field("n", pa.int64(), False))
    return Aggregate(narrowed, (Column(0, pa.int64()),), (call,), made)


def circuit(tables: list[Table], views: list[View]) -> Circuit:
    return lower({t.name: t for t in tables}, {v.name: v for v in views})


def kept(of: Circuit, view: str) -> str:
    return of.names[of.output(view).kept]


BEFORE = circuit([table("votes", VOTES)], [a_view("counts", counts(VOTES))])


def test_a_view_s_name_and_place_say_nothing() -> None:
    other = a_view("others", Scan("votes", VOTES))
    after = circuit([table("votes", VOTES)], [other, a_view("renamed", counts(VOTES))])
    assert kept(after, "renamed") == kept(BEFORE, "counts")
    assert set(after.names.values()) == set(BEFORE.names.values())  # the table's trace is the other view's


def test_a_column_that_is_added_changes_only_what_has_it() -> None:
    after = circuit([table("votes", WIDER)], [a_view("counts", counts(WIDER))])
    lost = set(BEFORE.names.values()) - set(after.names.values())
    (of_table,) = [name for i, name in BEFORE.names.items() if BEFORE.nodes[i].inputs == (1,)]
    assert lost == {of_table}


@pytest.mark.parametrize(
    ("schema", "key"),
    [
        (VOTES, "user_id"),  # another column of the same type, at the same place of the trace
        ((VOTES[0], replace(VOTES[1], type=pa.int32())), "story_id"),
    ],
)
def test_what_is_read_says_something(schema: tuple[Field, ...], key: str) -> None:
    after = circuit([table("votes", schema)], [a_view("counts", counts(schema, key))])
    assert kept(after, "counts") != kept(BEFORE, "counts")


def test_another_table_s_rows_are_others() -> None:
    plan = Project(Scan("votes", VOTES), (Literal(1, pa.int32()),), (Field("one", pa.int32(), False),))
    elsewhere = replace(plan, input=Scan("event", EVENT))
    tables = [table("votes", VOTES), table("event", EVENT)]
    made = circuit(tables, [a_view("v", plan), a_view("w", elsewhere)])
    assert kept(made, "v") != kept(made, "w")


@pytest.mark.parametrize("anti", [False, True])
def test_a_match_is_the_same_by_ends_and_by_pairs(anti: bool) -> None:
    """So that what is made of it goes on where an earlier release has made pairs."""
    int_ = pa.int64()
    less = Call("less_than", (Column(1, int_), Column(0, int_)), pa.bool_())
    builder, schema = CircuitBuilder(), pa.schema([("k", int_), ("v", int_), ("x", int_)])
    left, right = (builder.add(Source(name, schema)) for name in "ab")
    left, right = (builder.placed(side, (0,)) for side in (left, right))
    mine, other = (builder.add(Integrate((0,)), side) for side in (left, right))
    columns = (*((LEFT, i) for i in range(3)), (RIGHT, 1))
    of_pairs = Call("less_than", (Column(3, int_), Column(1, int_)), pa.bool_())
    pairs = builder.add(Join((0,), (0,), columns, of_pairs), mine, other)
    halves = builder.add(Map(tuple(Column(i, int_) for i in range(3)), schema), pairs)
    by_pairs = builder.add(
        SemiJoin((0, 1, 2), (0, 1, 2), anti), mine, builder.add(Integrate((0,)), builder.placed(halves, (0,)))
    )
    values = builder.add(Map((Column(0, int_), Column(1, int_)), pa.schema(list(schema)[:2])), right)
    sides = builder.add(Integrate((0,), order=1), left), builder.add(Integrate((0,), order=1), values)
    by_ends = builder.add(ComparedSemiJoin((0,), 1, less, True, False, anti), *sides)
    other_end = replace(less, function="greater_than")
    another = builder.add(ComparedSemiJoin((0,), 1, other_end, False, True, anti), *sides)
    streams = builder.build().streams
    assert streams[by_ends] == streams[by_pairs] != streams[another]


def test_seeds_and_placements_are_part_of_a_trace() -> None:
    """Rows are sorted by their hashes."""
    assert set(replace(BEFORE, seed=7).names.values()).isdisjoint(BEFORE.names.values())


def test_no_later_release_names_a_trace_otherwise() -> None:
    """Fails where a word, a place or a rule is another: then nobody's state is known again."""
    names = votes_program().circuit.names
    assert list(names.values()) == [
        "a34be64bfdb04f5ecdfe21eefad8f71e",
        "13c2dab35cc9d87608a8d53190e17ec2",
        "9a3a7aa4d9fdcaa0ca567240032afa5a",
        "549b9ab8b4d2b487690c62bd4fa6c1a8",
        "fb0d73cbb69bbb9e81a4135c39fd50a7",
    ]

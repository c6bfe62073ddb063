"""What every node says of its parts: rebuilt of the same ones it is the same; narrower, it is still legal."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.plans.calls import AggregateCall, SortOrder, WindowCall
from dbsp.sql.plans.clock.changes import Changes, Crossing, TimeBound
from dbsp.sql.plans.clock.readings import NOW
from dbsp.sql.plans.nodes import (
    Aggregate,
    ArrivalJoin,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
)
from dbsp.sql.plans.nodes.join import JOINS, join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.nodes.project import ONE, exactly
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify

INT, TIME, BOOL = pa.int64(), pa.timestamp("us", tz="UTC"), pa.bool_()
SCHEMA = (Field("a", INT), Field("b", INT, nullable=False), Field("ts", TIME), Field("l", pa.list_(INT)))
T, U = Scan("t", SCHEMA), Scan("u", SCHEMA)
A, B, TS, L = Column(0, INT), Column(1, INT, False), Column(2, TIME), Column(3, pa.list_(INT))
LESS = Call("less_than", (A, B), BOOL)
COUNT = AggregateCall("count", (A,), INT, False, filter=LESS)
RANK = WindowCall("rank", (), pa.int32(), False, (SortOrder(TS),))
READING = Column(0, CLOCK.type, False)
LATER = Call("greater_than", (TS, NOW), BOOL)


def join(kind: str) -> Join:
    residual = Call("less_than", (A, Column(5, INT, False)), BOOL)
    return Join(T, U, kind, (B,), (A,), (False,), residual, join_schema(kind, SCHEMA, SCHEMA))


NODES: tuple[Plan, ...] = (
    T,
    Values(((Literal(1, INT), Literal(2, INT)),), SCHEMA[:2]),
    Project(T, (B, Call("add", (A, B), INT)), (Field("b", INT), Field("sum", INT))),
    Filter(T, LESS),
    TemporalFilter(T, (TimeBound(TS, READING, True, True),)),
    TimedProjection(
        T,
        Changes((Crossing(TS, READING, True, READING),), (), (), False),
        (LATER,),
        None,
        (*SCHEMA, Field("later", BOOL)),
    ),
    *map(join, JOINS),
    ArrivalJoin(T, U, "left", (B,), (A,), (False,), LESS, join_schema("left", SCHEMA, SCHEMA)),
    AsOf(T, U, "left", (B,), (B,), (False,), TS, TS, "less_than", join_schema("left", SCHEMA, SCHEMA)),
    Aggregate(T, (B,), (COUNT,), (Field("b", INT), Field("n", INT))),
    Distinct(T),
    Union((T, U), SCHEMA),
    SetOperation(T, U, "except", SCHEMA),
    Expand(T, ((A, TS), (B, TS)), (Field("x", INT), Field("ts", TIME))),
    Generate(T, (0, 2), L, (SCHEMA[0], SCHEMA[2], Field("e", INT)), outer=True),
    Window(T, (B,), (RANK,), (*SCHEMA, Field("r", pa.int32(), False))),
    Top(T, (B,), (SortOrder(TS, descending=True),), "rank", 3, True, (*SCHEMA, Field("r", pa.int32()))),
    Levels(T, Filter(Scan(LEVEL, SCHEMA), LESS), 10, SCHEMA),
)
each = pytest.mark.parametrize("node", NODES, ids=lambda node: f"{type(node).__name__} {node.spelled[:12]}")


def test_no_node_is_missing() -> None:
    assert {type(node) for node in NODES} == set(KINDS)


@each
def test_a_node_is_made_of_its_parts(node: Plan) -> None:
    verify(node)
    assert node.over(*node.inputs) == node
    assert node.with_expressions(lambda expression: expression) == node
    assert [field.type for field in node.named().schema] == [field.type for field in node.schema]


@each
def test_other_inputs_take_their_place(node: Plan) -> None:
    others = tuple(Filter(input_, LESS) for input_ in node.inputs)
    changed = node.over(*others)
    verify(changed)
    assert changed.inputs == others
    assert changed.scanned() == node.scanned()


@each
def test_every_expression_is_changed_and_none_is_left_out(node: Plan) -> None:
    seen: list[Expression] = []

    def look(expression: Expression) -> Expression:
        seen.append(expression)
        return expression

    node.with_expressions(look)
    for expression in seen:
        replaced = node.with_expressions(lambda e, old=expression: _other(e) if e == old else e)
        assert replaced != node
        verify(replaced)


def _other(expression: Expression) -> Expression:
    """Of the same type."""
    return Call("coalesce", (expression, expression), expression.type)


@each
def test_a_narrower_node_is_legal_and_has_what_is_needed(node: Plan) -> None:
    for column, field in enumerate(node.schema):
        narrower, position = node.pruned({column})
        verify(narrower)
        assert narrower.schema[position[column]].type == field.type
        assert len(narrower.schema) <= len(node.schema)


@each
def test_where_nothing_is_read_there_are_rows_all_the_same(node: Plan) -> None:
    narrower, _ = node.pruned(frozenset())
    verify(narrower)
    assert narrower.schema
    verify(exactly(node, frozenset()))
    assert exactly(node, frozenset()).schema == ONE


def test_what_a_join_asks_for_is_never_null() -> None:
    assert join("inner").never_null({}) == {0, 1, 4, 5}
    assert join("left").never_null({}) == {1}
    assert join("inner").never_null({"u": {3}}) == {0, 1, 4, 5, 7}


def test_the_clock_forgets() -> None:
    stays = TemporalFilter(T, (TimeBound(TS, READING, False, True),))
    assert not Filter(stays, LESS).forgets(set())
    assert Filter(stays, LESS).forgets({"t"})
    assert Union((T, TemporalFilter(U, (TimeBound(TS, READING, True, True),))), SCHEMA).forgets(set())


def test_a_recursive_term_reads_the_level_before_and_nobody_else_does() -> None:
    levels = Levels(T, Join(Scan(LEVEL, SCHEMA), U, "semi", (A,), (A,), (False,), None, SCHEMA), 5, SCHEMA)
    assert levels.scanned() == {"t", "u"}
    assert levels.append_only({"t": True, "u": True})
    assert not levels.append_only({"t": True, "u": False})


LATE = {"t": {2: (Column(0, TIME),)}, "u": {1: (Column(1, INT),)}}
HOUR = Call("trunc_timestamp", (Literal("HOUR", pa.string()), TS), TIME, options=(("timeZoneId", "UTC"),))


def test_what_never_decreases_in_a_stream() -> None:
    fields = (Field("hour", TIME), Field("a", INT))
    hours = Project(T, (HOUR, A), fields)
    assert set(hours.monotonic(LATE)) == {0}
    assert set(Aggregate(hours, (Column(0, TIME),), (), fields[:1]).monotonic(LATE)) == {0}
    assert set(Expand(T, ((TS, A), (HOUR, TS)), fields).monotonic(LATE)) == {0}
    assert set(Union((T, U), SCHEMA).monotonic(LATE)) == set()
    assert set(Union((T, T), SCHEMA).monotonic(LATE)) == {2}
    assert set(join("inner").monotonic(LATE)) == {2, 5}
    assert set(join("left").monotonic(LATE)) == set()

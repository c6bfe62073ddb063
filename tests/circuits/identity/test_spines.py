"""A trace's name follows from what it holds and how it lies, not from where it stands nor who reads it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.identity.spines import readers_of
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.linear import Filter, Source
from dbsp.circuits.operators.streams import Delay, Integrate
from dbsp.circuits.progress.limits import Limit, Retention
from dbsp.circuits.progress.waterline import Lateness

INT = pa.int64()
SCHEMA = pa.schema([("a", INT), ("b", INT)])
KNOWN = Filter(Call("is_not_null", (Column(0, INT),), pa.bool_(), False))


def name_of(integrate: Integrate, *chain: Filter, seed: int = 0, before: int = 0) -> str:
    """The name of a trace over a table, with some other nodes before it, that a distinct reads."""
    builder = CircuitBuilder(seed)
    for i in range(before):
        builder.add(Source(f"other{i}", SCHEMA))
    node = builder.add(Source("t", SCHEMA))
    for operator in chain:
        node = builder.add(operator, node)
    trace = builder.add(integrate, builder.placed(node, integrate.placed_by))
    builder.add(Distinct(), trace)
    return builder.build().names[trace]


PLAIN = Integrate((0,))


def test_where_it_stands_says_nothing() -> None:
    assert name_of(PLAIN, before=3) == name_of(PLAIN)


@pytest.mark.parametrize(
    "other",
    [
        name_of(Integrate((1,))),
        name_of(Integrate((0, 1))),
        name_of(Integrate((0,), order=1)),
        name_of(Integrate((0,), order=1, nulls_greatest=True)),
        name_of(Integrate((0,), sums=(1,))),
        name_of(Integrate((0,), minima=(1,))),
        name_of(Integrate((0,), maxima=(1,))),
        name_of(PLAIN, KNOWN),
        name_of(PLAIN, seed=7),
    ],
)
def test_rows_and_layout_say_something(other: str) -> None:
    assert other != name_of(PLAIN)


def test_a_bag_is_another_trace_than_a_set() -> None:
    """Nothing is retracted, and a reader that would have rows added up makes the difference."""
    builder = CircuitBuilder()
    node = builder.placed(builder.add(Source("t", SCHEMA)), (0,))
    trace = builder.add(PLAIN, node)
    listed, summed = (replace(builder.build(), bags=bags) for bags in (frozenset({trace}), frozenset()))
    assert listed.names[trace] != summed.names[trace]


def test_traces_that_are_alike_are_numbered() -> None:
    builder = CircuitBuilder()
    node = builder.add(Source("t", SCHEMA))
    memories = [builder.add(Delay(), node)]
    memories.append(builder.add(Delay(), builder.placed(node, (0,))))  # where rows lie says nothing of them
    names = builder.build().names
    assert names[memories[1]] == f"{names[memories[0]]}.2"


def test_a_log_is_no_trace_of_the_same_rows() -> None:
    builder = CircuitBuilder()
    node = builder.placed(builder.add(Source("t", SCHEMA)), ())
    trace = builder.add(Integrate(()), node)
    builder.output("v", node, None)
    names = builder.build().names
    assert set(names) == {node, trace} and names[node] != names[trace]


LATENESS = Lateness("t.a", 0, INT, 5)
LIMIT = Limit(Column(0, INT), (Column(0, INT),))
OTHER = Limit(Column(1, INT), (Call("add", (Column(0, INT), Literal(1, INT)), INT),))


def readers(
    *limits: tuple[Limit, ...], columns: tuple[str, ...] = ("x", "y"), late: Lateness = LATENESS
) -> tuple[str, ...]:
    return readers_of(Retention(limits), columns, (late,))


def test_readers_are_known_by_what_they_no_longer_look_at() -> None:
    assert readers((LIMIT,), (OTHER,)) == readers((OTHER,), (LIMIT,)) == readers((LIMIT,), (OTHER,), (LIMIT,))
    assert readers((LIMIT, OTHER)) == readers((OTHER, LIMIT)) != readers((LIMIT,), (OTHER,))
    assert readers((LIMIT,)) != readers((OTHER,))
    assert readers((LIMIT,)) != readers((replace(LIMIT, last_of=(1,)),))


def test_columns_and_waterlines_count_by_their_meaning() -> None:
    moved = replace(LIMIT, expression=Column(1, INT))
    assert readers((LIMIT,)) == readers((moved,), columns=("y", "x"))
    assert readers((LIMIT,)) == readers((LIMIT,), late=replace(LATENESS, column=4)), "its place in the table"
    assert readers((LIMIT,)) != readers((LIMIT,), late=replace(LATENESS, amount=6))

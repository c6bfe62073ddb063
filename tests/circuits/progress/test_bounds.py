"""What waterlines prove of a union, of projections, and of groups."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.progress.bounds import (
    NO_MORE,
    alternate,
    bounded_together,
    expanded,
    of_columns_alone,
    of_groups,
    of_partition,
    projected,
    union,
)

INT = pa.int64()
A, B = Column(0, INT), Column(1, INT)
ANSI = (("evalMode", "ANSI"),)


def test_a_union_is_bounded_where_all_are_by_the_least() -> None:
    assert union([{0: (A,), 1: (A,)}, {1: (B,), 2: (B,)}]) == {1: (A, B)}
    assert union([{0: (A,)}]) == {0: (A,)}
    assert union([{0: (A,)}, {}]) == {}
    assert union([]) == {}


def test_what_has_no_more_rows_bounds_nothing_away() -> None:
    assert union([{0: (A,)}, NO_MORE]) == {0: (A,)}
    assert union([NO_MORE, NO_MORE]) == {}


def test_a_projection_is_bounded_where_it_is_monotone() -> None:
    one = Literal(1, INT)
    later = Call("add", (Column(3, INT), one), INT, True, ANSI)
    falling = Call("subtract", (one, Column(3, INT)), INT, True, ANSI)
    found = projected([Column(3, INT), later, falling, Column(2, INT), one], {3: (A,)})
    assert found[0] == (A,)
    assert found[1] == (Call("add", (A, one), INT, True, ANSI),)
    assert not {2, 3} & found.keys()


NULL = Literal(None, INT)


def test_each_of_several_projections_may_have_a_bounded_column_of_its_own() -> None:
    """NULL is within any bound; a constant isn't."""
    hour, day = Column(3, INT), Column(4, INT)
    bounds = {3: (A,), 4: (B,)}
    assert expanded([(hour, NULL), (NULL, day)], bounds) == {0: (A,), 1: (B,)}
    assert expanded([(hour, day), (NULL, day)], bounds) == {0: (A,), 1: (B,)}
    assert expanded([(hour, NULL), (Literal(1, INT), day)], bounds) == {1: (B,)}
    assert expanded([(hour, Column(5, INT)), (day, NULL)], bounds) == {0: (A, B)}


def test_a_projection_without_a_bounded_column_leaves_what_all_have() -> None:
    assert expanded([(Column(3, INT), NULL), (NULL, NULL)], {3: (A,)}) == {}


def test_one_column_tells_of_all_unless_it_is_null_in_some() -> None:
    hour, day = Column(3, INT), Column(4, INT)
    bounds = {3: (A,), 4: (B,)}
    assert alternate([(hour, NULL), (NULL, day)], bounds)
    assert not alternate([(hour, day), (hour, day)], bounds)
    assert not alternate([(hour, NULL), (NULL, NULL)], bounds)


def test_rows_of_groups_are_as_old_as_their_groups() -> None:
    """A key x + 1 of at least a: x is at least a - 1."""
    key = Call("add", (Column(3, INT), Literal(1, INT)), INT, True, ANSI)
    assert of_groups([Column(2, INT), Column(3, INT)], {3: (A,)}) == {3: (A,)}
    (bound,) = of_groups([key], {3: (A,)})[3]
    assert "subtract" in str(bound)
    assert of_groups([Call("abs", (Column(3, INT),), INT)], {3: (A,)}) == {}


def test_keys_that_are_columns_say_what_they_hold() -> None:
    assert of_partition((2, 3), (), {3: (A,), 4: (B,)}) == {3: (A,)}
    assert of_partition((2,), (Column(4, INT),), {2: (A,), 4: (B,)}) == {2: (A,), 4: (B,)}


def test_columns_alone_are_known_as_they_are_and_mirrored() -> None:
    assert of_columns_alone({0: (A,), ~0: (B,), ~1: (A,), 2: (B,)}, range(2)) == {0: (A,), ~0: (B,), ~1: (A,)}


def test_what_is_equal_is_bounded_on_both_sides_by_the_least() -> None:
    left, right = {0: (A,), ~0: (A,), 1: (A,)}, {2: (B,), ~2: (A,)}
    assert [*bounded_together(left, right, [(0, 2), (1, 3)])] == [(0, 2, (A, B)), (~0, ~2, (A,))]


def test_a_projection_that_falls_is_bounded_from_above() -> None:
    negative = Call("unary_minus", (Column(0, INT),), INT, True, ANSI)
    assert set(projected([negative, Column(0, INT)], {0: (A,)})) == {~0, 1}
    assert set(projected([negative, Column(0, INT)], {~0: (A,)})) == {0, ~1}

"""Arrays as sets, against lists in which the first of equals is kept and NULL equals NULL."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.testing.bags import identity
from tests.circuits.functions.calling import called

INTS, DOUBLES = pa.list_(pa.int32()), pa.list_(pa.float64())
element = st.one_of(st.none(), st.integers(0, 3))
array = st.one_of(st.none(), st.lists(element, max_size=5))
pairs = st.lists(st.tuples(array, array), max_size=5)
List = list[Any]


def sides(listed: list[tuple[Any, Any]]) -> tuple[pa.Array, pa.Array]:
    return pa.array([a for a, _ in listed], INTS), pa.array([b for _, b in listed], INTS)


def distinct(values: List) -> List:
    return list(dict.fromkeys(values))


def overlap(a: List, b: List) -> bool | None:
    if {*a} & {*b} - {None}:
        return True
    return None if a and b and None in [*a, *b] else False


@given(pairs)
def test_of_two(listed: list[tuple[Any, Any]]) -> None:
    for name, f in {
        "array_union": lambda a, b: distinct([*a, *b]),
        "array_except": lambda a, b: distinct([x for x in a if x not in b]),
        "array_intersect": lambda a, b: distinct([x for x in a if x in b]),
        "arrays_overlap": overlap,
    }.items():
        expected = [None if a is None or b is None else f(a, b) for a, b in listed]
        target = pa.bool_() if name == "arrays_overlap" else INTS
        assert called(name, target, *sides(listed)) == expected, name


@given(st.lists(array, max_size=5))
def test_distinct(listed: List) -> None:
    assert called("array_distinct", INTS, pa.array(listed, INTS)) == [a and distinct(a) for a in listed]


@given(st.lists(st.tuples(array, element), max_size=5))
def test_where_one_is(listed: list[tuple[Any, Any]]) -> None:
    arrays, wanted = pa.array([a for a, _ in listed], INTS), pa.array([x for _, x in listed], pa.int32())
    nothing = [a is None or x is None for a, x in listed]
    places = [
        None if no else (a.index(x) + 1 if x in a else 0) for (a, x), no in zip(listed, nothing, strict=True)
    ]
    assert called("array_position", pa.int64(), arrays, wanted) == places
    left = [None if no else [y for y in a if y != x] for (a, x), no in zip(listed, nothing, strict=True)]
    assert called("array_remove", INTS, arrays, wanted) == left


def test_numbers_that_are_equal() -> None:
    """NaN is NaN, and of two zeros there is one, 0.0."""
    nan = float("nan")
    found = called("array_distinct", DOUBLES, pa.array([[-0.0, nan, 0.0, nan, None, None]], DOUBLES))
    assert identity(found[0]) == identity([0.0, nan, None])
    assert called("array_position", pa.int64(), pa.array([[1.0, nan]], DOUBLES), pa.scalar(nan)) == [2]


def test_nothing_is_beside_itself() -> None:
    both = pa.array([[], [None], [1]], INTS), pa.array([[None], [None], []], INTS)
    assert called("arrays_overlap", pa.bool_(), *both) == [False, None, False]
    assert called("array_except", INTS, *both) == [[], [], [1]]

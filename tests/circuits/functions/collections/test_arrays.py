"""Arrays cut, filled and put together, against Python's lists."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

INTS, TEXTS = pa.list_(pa.int32()), pa.list_(pa.string())
element = st.one_of(st.none(), st.integers(0, 3))
array = st.one_of(st.none(), st.lists(element, max_size=4))
position = st.one_of(st.none(), st.integers(-7, 7).filter(bool))


def inserted(a: list[Any], place: int, x: Any) -> list[Any]:
    if place > 0:
        filled = a + [None] * (place - 1 - len(a))
        return [*filled[: place - 1], x, *filled[place - 1 :]]
    if -place <= len(a) + 1:
        at = len(a) + 1 + place
        return [*a[:at], x, *a[at:]]
    return [x, *[None] * (-place - len(a) - 1), *a]


@given(st.lists(st.tuples(array, position, element), max_size=5))
def test_insert(listed: list[tuple[Any, Any, Any]]) -> None:
    columns = (
        pa.array([each[i] for each in listed], t) for i, t in enumerate((INTS, pa.int32(), pa.int32()))
    )
    expected = [None if a is None or p is None else inserted(a, p, x) for a, p, x in listed]
    assert called("array_insert", INTS, *columns) == expected


@pytest.mark.parametrize(
    ("position", "found"),
    [(-1, [1, 2, 9]), (-3, [9, 1, 2]), (-4, [9, None, 1, 2]), (5, [1, 2, None, None, 9])],
)
def test_insert_as_spark_documents_it(position: int, found: list[int | None]) -> None:
    assert called("array_insert", INTS, pa.array([[1, 2]], INTS), pa.scalar(position), pa.scalar(9)) == [
        found
    ]


@given(st.lists(st.tuples(array, position, st.integers(0, 5)), max_size=5))
def test_slice(listed: list[tuple[Any, Any, Any]]) -> None:
    columns = (
        pa.array([each[i] for each in listed], t) for i, t in enumerate((INTS, pa.int32(), pa.int32()))
    )

    def cut(a: list[Any], start: int, length: int) -> list[Any]:
        begin = start - 1 if start > 0 else len(a) + start
        return a[begin : begin + length] if begin >= 0 else []

    expected = [None if a is None or s is None else cut(a, s, n) for a, s, n in listed]
    assert called("slice", INTS, *columns) == expected


@given(st.lists(st.tuples(element, st.one_of(st.none(), st.integers(-2, 4))), max_size=5))
def test_repeat(listed: list[tuple[Any, Any]]) -> None:
    columns = (pa.array([each[i] for each in listed], pa.int32()) for i in range(2))
    assert called("array_repeat", INTS, *columns) == [
        None if n is None else [x] * max(n, 0) for x, n in listed
    ]


@given(st.lists(st.one_of(st.none(), st.lists(array, max_size=3)), max_size=4))
def test_flatten(listed: list[Any]) -> None:
    expected = [None if a is None or None in a else list(itertools.chain(*a)) for a in listed]
    assert called("flatten", INTS, pa.array(listed, pa.list_(INTS))) == expected


@given(st.lists(st.tuples(array, array), max_size=4))
def test_zip(listed: list[tuple[Any, Any]]) -> None:
    columns = [pa.array([pair[i] for pair in listed], INTS) for i in range(2)]
    target = pa.list_(pa.struct([("a", pa.int32()), ("b", pa.int32())]))
    expected = [
        None if a is None or b is None else [{"a": x, "b": y} for x, y in itertools.zip_longest(a, b)]
        for a, b in listed
    ]
    assert called("arrays_zip", target, *columns, pa.scalar("a"), pa.scalar("b")) == expected


texts = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "é"])), max_size=3))


@given(st.lists(texts, max_size=5), st.one_of(st.none(), st.sampled_from(["", "-"])))
def test_join(listed: list[Any], instead: str | None) -> None:
    array, comma = pa.array(listed, TEXTS), pa.scalar(",")
    assert called("array_join", pa.string(), array, comma) == [
        None if a is None else ",".join(x for x in a if x is not None) for a in listed
    ]
    replaced = called("array_join", pa.string(), array, comma, pa.scalar(instead, pa.string()))
    expected = [None if a is None else ",".join(str(instead) if x is None else x for x in a) for a in listed]
    assert replaced == (expected if instead is not None else [None] * len(listed))


@pytest.mark.parametrize(
    ("function", "arguments", "condition"),
    [
        ("array_insert", (0, 1), "INVALID_INDEX_OF_ZERO"),
        ("slice", (0, 1), "INVALID_PARAMETER_VALUE.START"),
        ("slice", (1, -1), "INVALID_PARAMETER_VALUE.LENGTH"),
    ],
)
def test_places_that_are_none(function: str, arguments: tuple[int, int], condition: str) -> None:
    constants = [pa.scalar(each, pa.int32()) for each in arguments]
    with pytest.raises(EvaluationError, match=condition):
        called(function, INTS, pa.array([[1]], INTS), *constants)
    assert called(function, INTS, pa.array([None], INTS), *constants) == [None]


def test_no_array_is_that_long() -> None:
    with pytest.raises(EvaluationError, match="COLLECTION_SIZE_LIMIT_EXCEEDED"):
        called("array_repeat", INTS, pa.array([1], pa.int32()), pa.scalar(2**31 - 1, pa.int32()))

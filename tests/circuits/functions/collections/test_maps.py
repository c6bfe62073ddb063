"""Maps put together and taken apart are Python's, and a key is there once and isn't NULL."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.library import find
from tests.circuits.functions.calling import call, called

INT, TEXT = pa.int32(), pa.string()
INTS, TEXTS, MAPS = pa.list_(INT), pa.list_(TEXT), pa.map_(TEXT, INT)
ENTRY = pa.struct([("key", TEXT), ("value", INT)])
element = st.one_of(st.none(), st.integers(0, 3))
entries = st.one_of(st.none(), st.dictionaries(st.sampled_from("abc"), element, max_size=3))
maps = st.lists(entries, max_size=5)


def column(listed: list[Any]) -> pa.Array:
    return pa.array([None if m is None else list(m.items()) for m in listed], MAPS)


def pairs(listed: list[Any]) -> list[Any]:
    return [None if m is None else list(m.items()) for m in listed]


@given(maps)
def test_apart_and_together(listed: list[Any]) -> None:
    keys = [None if m is None else list(m) for m in listed]
    items = [None if m is None else list(m.values()) for m in listed]
    structs = [None if m is None else [{"key": k, "value": v} for k, v in m.items()] for m in listed]
    assert called("map_keys", TEXTS, column(listed)) == keys
    assert called("map_values", INTS, column(listed)) == items
    assert called("map_entries", pa.list_(ENTRY), column(listed)) == structs
    assert called("map_from_arrays", MAPS, pa.array(keys, TEXTS), pa.array(items, INTS)) == pairs(listed)
    assert called("map_from_entries", MAPS, pa.array(structs, pa.list_(ENTRY))) == pairs(listed)


@given(st.lists(st.tuples(entries, entries), max_size=5))
def test_concat(listed: list[tuple[Any, Any]]) -> None:
    listed = [(m, n and {k.upper(): v for k, v in n.items()}) for m, n in listed]
    columns = [column([pair[i] for pair in listed]) for i in range(2)]
    expected = pairs([None if m is None or n is None else {**m, **n} for m, n in listed])
    assert called("map_concat", MAPS, *columns) == expected


@given(st.lists(st.tuples(element, element), min_size=1, max_size=5))
def test_create(listed: list[tuple[Any, Any]]) -> None:
    columns = [pa.array([pair[i] for pair in listed], INT) for i in range(2)]
    found = called("create_map", MAPS, pa.scalar("x"), columns[0], pa.scalar("y"), columns[1])
    assert found == [[("x", a), ("y", b)] for a, b in listed]
    assert called("create_map", MAPS) == [[]]


def test_an_entry_that_is_null_makes_the_map_null() -> None:
    array = pa.array([[{"key": "a", "value": 1}, None], [None], []], pa.list_(ENTRY))
    assert called("map_from_entries", MAPS, array) == [None, None, []]


WRONG: list[tuple[str, list[pa.Array], str]] = [
    ("map_concat", [column([{}, {"a": 1}]), column([{"a": 1}, {"a": 2}])], "DUPLICATED_MAP_KEY"),
    (
        "map_from_arrays",
        [pa.array([[], ["a", "a"]], TEXTS), pa.array([[], [1, 2]], INTS)],
        "DUPLICATED_MAP_KEY",
    ),
    ("map_from_arrays", [pa.array([[], [None]], TEXTS), pa.array([[], [1]], INTS)], "NULL_MAP_KEY"),
    ("map_from_arrays", [pa.array([[], ["a"]], TEXTS), pa.array([[], []], INTS)], "differ in length"),
    ("create_map", [pa.array(["a", None]), pa.array([1, 2], INT)], "NULL_MAP_KEY"),
]


@pytest.mark.parametrize(("function", "arguments", "said"), WRONG)
def test_what_is_no_map(function: str, arguments: list[pa.Array], said: str) -> None:
    with pytest.raises(EvaluationError, match=said) as raised:
        called(function, MAPS, *arguments)
    assert raised.value.row == 1


def test_a_zero_as_a_key() -> None:
    doubles = pa.map_(pa.float64(), INT)
    ((zero, one),) = called("create_map", doubles, pa.array([-0.0]), pa.array([1], INT))[0]
    assert (str(zero), one) == ("0.0", 1)


def test_text_as_a_map() -> None:
    texts = pa.map_(TEXT, TEXT)
    array = pa.array(["a:1,b:2", "a", "", "a:1:2", None])
    found = called("string_to_map", texts, array, pa.scalar(","), pa.scalar(":"))
    assert found == [[("a", "1"), ("b", "2")], [("a", None)], [("", None)], [("a", "1:2")], None]


def test_delimiters_that_are_patterns_are_refused() -> None:
    function = find("string_to_map")
    assert function is not None
    refused = call("string_to_map", MAPS, pa.array(["a"]), pa.scalar("|"), pa.scalar(":"))
    assert function.refuse(refused) == "the delimiter '|', which is a pattern"
    assert function.refuse(call("string_to_map", MAPS, pa.array(["a"]), pa.array([","]), pa.scalar(":")))
    assert (
        function.refuse(call("string_to_map", MAPS, pa.array(["a"]), pa.scalar(";"), pa.scalar("="))) is None
    )

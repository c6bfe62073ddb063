"""Parts of strings, against Python's slices and what Spark documents."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

TEXT, INT = pa.string(), pa.int32()
text = st.one_of(st.none(), st.text(st.sampled_from("aé日😀."), max_size=6))
number = st.one_of(st.none(), st.integers(-8, 8), st.sampled_from([2**31 - 1, -(2**31)]))
rows = st.lists(st.tuples(text, number, number), min_size=1, max_size=5)


def columns(listed: list[tuple[Any, ...]], *types: pa.DataType) -> list[pa.Array]:
    return [pa.array([row[i] for row in listed], t) for i, t in enumerate(types)]


def part(value: str, position: int, length: int) -> str:
    start = position - 1 if position > 0 else len(value) + position if position < 0 else 0
    return value[max(start, 0) : max(start + length, 0)] if length > 0 else ""


@given(rows, st.booleans())
def test_substring(listed: list[tuple[Any, Any, Any]], constant: bool) -> None:
    if constant:
        listed = [(t, *listed[0][1:]) for t, _, _ in listed]
    expected = [None if None in row else part(*row) for row in listed]
    values, position, length = columns(listed, TEXT, INT, INT)
    arguments = (position[0], length[0]) if constant else (position, length)
    assert called("substring", TEXT, values, *arguments) == expected
    encoded = pa.array([None if t is None else t.encode() for t, _, _ in listed], pa.binary())
    cut = [None if None in row else part(row[0].encode(), *row[1:]) for row in listed]  # type: ignore[arg-type]
    assert called("substring", pa.binary(), encoded, *arguments) == [
        b"" if each == "" else each for each in cut
    ]


small = st.one_of(st.none(), st.integers(-2, 9))
pads = st.lists(
    st.tuples(text, small, st.one_of(st.none(), st.sampled_from(["", "x", "yé"]))), min_size=1, max_size=5
)


@given(pads, st.booleans())
def test_pad(listed: list[tuple[Any, Any, Any]], constant: bool) -> None:
    if constant:
        listed = [(t, *listed[0][1:]) for t, _, _ in listed]
    values, length, filler = columns(listed, TEXT, INT, TEXT)
    arguments = (length[0], filler[0]) if constant else (length, filler)

    def padding(t: str, n: int, p: str) -> str:
        return (p * 20)[: max(n - len(t), 0)]

    left = [None if None in row else padding(*row) + row[0][: max(row[1], 0)] for row in listed]
    right = [None if None in row else row[0][: max(row[1], 0)] + padding(*row) for row in listed]
    assert called("string_l_pad", TEXT, values, *arguments) == left
    assert called("string_r_pad", TEXT, values, *arguments) == right


# as Spark documents them
@pytest.mark.parametrize(
    ("replacement", "position", "length", "found"),
    [
        ("_", 6, -1, "Spark_SQL"),
        ("CORE", 7, -1, "Spark CORE"),
        ("ANSI ", 7, 0, "Spark ANSI SQL"),
        ("tructured", 2, 4, "Structured SQL"),
    ],
)
def test_overlay(replacement: str, position: int, length: int, found: str) -> None:
    constants = pa.scalar(replacement), pa.scalar(position, INT), pa.scalar(length, INT)
    assert called("overlay", TEXT, pa.array(["Spark SQL", None]), *constants) == [found, None]
    assert called(
        "overlay", pa.binary(), pa.array([b"Spark SQL"]), pa.scalar(replacement.encode()), *constants[1:]
    ) == [found.encode()]


@given(
    st.lists(
        st.tuples(text, st.sampled_from([".", "a", "aa", ""]), st.integers(-4, 4)), min_size=1, max_size=5
    )
)
def test_substring_index(listed: list[tuple[Any, str, int]]) -> None:
    def cut(t: str, delimiter: str, count: int) -> str:
        """Where delimiters don't overlap: the parts before the count-th, or after it from the end."""
        if not delimiter or not count:
            return ""
        parts = t.split(delimiter)
        return delimiter.join(parts[:count] if count > 0 else parts[count:])

    listed = [row for row in listed if row[1] != "aa"] or [("a.b", ".", 1)]
    expected = [None if t is None else cut(t, d, n) for t, d, n in listed]
    assert called("substring_index", TEXT, *columns(listed, TEXT, TEXT, INT)) == expected
    one = pa.scalar("."), pa.scalar(2, INT)
    values = pa.array([t for t, _, _ in listed], TEXT)
    assert called("substring_index", TEXT, values, *one) == [
        None if t is None else cut(t, ".", 2) for t, _, _ in listed
    ]


@pytest.mark.parametrize(
    ("count", "found"), [(2, "www.apache"), (-2, "apache.org"), (9, "www.apache.org"), (0, "")]
)
def test_substring_index_documented(count: int, found: str) -> None:
    assert called(
        "substring_index", TEXT, pa.array(["www.apache.org"]), pa.scalar("."), pa.scalar(count, INT)
    ) == [found]

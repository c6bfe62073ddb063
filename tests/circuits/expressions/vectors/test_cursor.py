"""A parser of all strings at once reads what a parser of one string after the other reads."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.expressions.vectors.cursor import Cursor

texts = st.lists(st.text(st.sampled_from("01 9a-\t\x7f."), max_size=8), max_size=6)
LONG = ["0" * 60 + "7", " " * 70 + "1" + "\t" * 70, "9" * 40 + "x", ""]
BLANKS = "".join(map(chr, [*range(33), 127]))


def at(cursor: Cursor) -> list[str]:
    """What is left of each string."""
    data = bytes(cursor.data)
    return [data[a:b].decode() for a, b in zip(cursor.position.tolist(), cursor.end.tolist(), strict=True)]


@given(texts)
@example(LONG)
@example([" " * 30, "\x7f" * 30 + "a"])
def test_trim(listed: list[str]) -> None:
    cursor = Cursor(pa.array(listed, pa.string()))
    cursor.trim()
    assert at(cursor) == [text.strip(BLANKS) for text in listed]
    assert cursor.at_end.tolist() == [not text.strip(BLANKS) for text in listed]
    assert all(a <= b for a, b in zip(cursor.position, cursor.end, strict=True))


@given(texts)
@example(LONG)
def test_another_control_character_may_stay(listed: list[str]) -> None:
    cursor = Cursor(pa.array(listed, pa.string()))
    cursor.trim(delete=32)
    assert at(cursor) == [text.strip(BLANKS.replace("\x7f", "")) for text in listed]


@given(texts)
@example(LONG)
def test_zeros(listed: list[str]) -> None:
    cursor = Cursor(pa.array(listed, pa.string()))
    assert cursor.zeros().tolist() == [len(text) - len(text.lstrip("0")) for text in listed]
    assert at(cursor) == [text.lstrip("0") for text in listed]


@given(texts, st.integers(1, 18))
@example(LONG, 18)
@example(["123456789012345678901234567890x"], 18)
def test_digits(listed: list[str], keep: int) -> None:
    cursor = Cursor(pa.array(listed, pa.string()))
    value, count = cursor.digits(keep=keep)
    runs = [re.match("[0-9]*", text)[0] for text in listed]  # type: ignore[index]
    assert count.tolist() == [len(run) for run in runs]
    assert value.tolist() == [int(run[:keep] or "0") for run in runs]
    assert at(cursor) == [text[len(run) :] for text, run in zip(listed, runs, strict=True)]


@given(texts, st.booleans())
def test_one_character_of_some(listed: list[str], every: bool) -> None:
    cursor = Cursor(pa.array(listed, pa.string()))
    where = None if every else np.array([i % 2 == 0 for i in range(len(listed))], dtype=np.bool_)
    assert cursor.peek().tolist() == [ord(text[0]) if text else 0 for text in listed]
    taken = cursor.take(b"-0", where).tolist()
    asked = [every or i % 2 == 0 for i in range(len(listed))]
    expected = [
        text[0] if wanted and text[:1] in ("-", "0") and text else ""
        for text, wanted in zip(listed, asked, strict=True)
    ]
    assert taken == [ord(character) if character else 0 for character in expected]
    assert at(cursor) == [text[len(c) :] for text, c in zip(listed, expected, strict=True)]


def test_digits_of_some_rows_only() -> None:
    cursor = Cursor(pa.array(["12", "34"]))
    value, count = cursor.digits(np.array([False, True]))
    assert (value.tolist(), count.tolist(), at(cursor)) == ([0, 34], [0, 2], ["12", ""])


def test_rows_end_where_they_end() -> None:
    """A digit of the next row isn't this one's, nor is what lies beneath a NULL or before a slice."""
    cursor = Cursor(pa.array(["1", "23", None, "4"]).slice(1))
    value, count = cursor.digits()
    assert (value.tolist(), count.tolist()) == ([23, 0, 4], [2, 0, 1])
    assert Cursor(pa.array(["0", "00"])).zeros().tolist() == [1, 2]


def test_what_is_left_unread() -> None:
    cursor = Cursor(pa.array(["-1é", "2", "-"]))
    cursor.take(b"-")
    assert cursor.rest(np.array([2, 0])).to_pylist() == ["", "1é"]

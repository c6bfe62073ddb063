"""Luhn's check digit by his own recipe."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

TEXT = pa.string()
LUHN = "static_invoke.ExpressionImplUtils.isLuhnNumber"


def is_luhn(text: str) -> bool:
    total = 0
    for i, digit in enumerate(reversed(text)):
        total += sum(map(int, str(int(digit) * (1 + i % 2))))
    return total % 10 == 0


@given(st.lists(st.one_of(st.none(), st.from_regex("[0-9]{1,20}", fullmatch=True)), max_size=6))
def test_luhn(listed: list[Any]) -> None:
    array = pa.array(["0", *listed], TEXT).slice(1)
    assert called(LUHN, pa.bool_(), array) == [None if text is None else is_luhn(text) for text in listed]


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("8112189876", True),
        ("79927398713", True),
        ("79927398714", False),
        ("", False),
        ("0", True),
        (" 0", False),
        ("a", False),
        ("٣", False),
    ],
)
def test_luhn_documented(text: str, good: bool) -> None:
    assert called(LUHN, pa.bool_(), pa.array([text])) == [good]

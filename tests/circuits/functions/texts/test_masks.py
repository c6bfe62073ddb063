"""MASK by the kind of each character, and Luhn's check digit by his own recipe."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuits.functions.calling import called

TEXT = pa.string()
LUHN = "static_invoke.ExpressionImplUtils.isLuhnNumber"
KINDS = ("Lu", "Ll", "Nd")
texts = st.lists(st.one_of(st.none(), st.text(st.sampled_from("aZé1Ä߀ -日٣ⅷʰ"), max_size=5)), max_size=5)
one = st.one_of(st.none(), st.sampled_from(["X", "x", "n", "", "€"]))


@given(texts, st.tuples(one, one, one, one))
def test_each_kind(listed: list[str | None], instead: tuple[str | None, ...]) -> None:
    def masked(text: str) -> str:
        kinds = [unicodedata.category(character) for character in text]
        chosen = [instead[KINDS.index(kind)] if kind in KINDS else instead[3] for kind in kinds]
        return "".join(c if new is None else new for c, new in zip(text, chosen, strict=True))

    found = called("mask", TEXT, pa.array(listed, TEXT), *(pa.scalar(each, TEXT) for each in instead))
    assert found == [None if text is None else masked(text) for text in listed]


# as Spark documents mask
@pytest.mark.parametrize(
    ("text", "instead", "found"),
    [
        ("abcd-EFGH-8765-4321", ("X", "x", "n", None), "xxxx-XXXX-nnnn-nnnn"),
        ("abcd-EFGH-8765-4321", ("Q", "x", "n", None), "xxxx-QQQQ-nnnn-nnnn"),
        ("AbCD123-@$#", ("Q", "q", "d", "o"), "QqQQdddoooo"),
        ("AbCD123-@$#", (None, "q", "n", "o"), "AqCDnnnoooo"),
        ("AbCD123-@$#", (None, None, None, None), "AbCD123-@$#"),
    ],
)
def test_documented(text: str, instead: tuple[str | None, ...], found: str) -> None:
    assert called("mask", TEXT, pa.array([text]), *(pa.scalar(each, TEXT) for each in instead)) == [found]


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

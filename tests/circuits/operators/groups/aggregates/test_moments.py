"""Moments are exact: Python's fractions of the same doubles, rounded once, whatever was retracted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.moments import Central, Moments, Number
from dbsp.circuits.operators.groups.state.members import Members
from tests.effort import examples

UNIVARIATE = ((0,), (1,), (2,), (3,), (4,))
PAIR = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
finite = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e16, 0.1, 1e-300, -7e60]),
    st.floats(-1e50, 1e50, allow_subnormal=True),
)


def exact(number: Number) -> list[Fraction]:
    """Its values."""
    found = []
    for i in range(len(number.exponent)):
        size = sum(int(digit[i]) << (32 * place) for place, digit in enumerate(number.digits))
        found.append(
            Fraction(size) * Fraction(2) ** int(number.exponent[i]) * (-1 if number.negative[i] else 1)
        )
    return found


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=4), st.integers(0, 4))
def test_products_and_powers(pairs: list[tuple[float, float]], power: int) -> None:
    a, b = (Number.of(np.array([pair[i] for pair in pairs])) for i in range(2))
    assert exact(a) == [Fraction(x) for x, _ in pairs]
    assert exact(a * b) == [Fraction(x) * Fraction(y) for x, y in pairs]
    assert exact(a**power) == [Fraction(x) ** power for x, _ in pairs]
    assert exact(a[np.array([0])]) == [Fraction(pairs[0][0])]


def central(powers: Any, rows: list[tuple[float | None, ...]], weights: list[int]) -> Central:
    """Of one group, its parts as often as the row counts."""
    columns = [pa.array([row[i] for row in rows], pa.float64()) for i in range(len(powers[0]))]
    position, (moment, index), amount = Moments(powers).split(columns)
    parts = [pa.array(moment), pa.array(index), pa.array(amount * np.array(weights, np.int64)[position])]
    owner = np.zeros(len(position), np.int64)
    return Central(Members(owner, parts, np.ones(len(owner), np.int64), 1), powers)


values = st.lists(st.one_of(st.none(), finite), max_size=6)


@given(values, values)
@example([1e16, 1.0, -1e16], [7e60])
@example([0.1, 0.1, 0.1], [])
def test_of_what_is_left(kept: list[float | None], gone: list[float | None]) -> None:
    rows = [(x,) for x in [*kept, *gone, *gone]]
    found = central(UNIVARIATE, rows, [1] * (len(kept) + len(gone)) + [-1] * len(gone))
    left = [Fraction(x) for x in kept if x is not None]
    assert found.size[0] == len(left)
    if left:
        mean = sum(left) / len(left)
        assert found.means[0][0] == pytest.approx(float(mean), rel=1e-15, abs=1e-320)
        second = float(sum((x - mean) ** 2 for x in left))
        assert found.second(0)[0] == pytest.approx(second, rel=1e-9, abs=1e-300)
        assert second or not found.second(0)[0], "equal values deviate by exactly 0"


small = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@examples(12)
@given(st.lists(st.tuples(small, small), min_size=2, max_size=6))
def test_higher_and_mixed_moments(rows: list[tuple[float, float]]) -> None:
    x, y = ([Fraction(row[i]) for row in rows] for i in range(2))
    n = len(rows)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    one, both = central(UNIVARIATE, [(a,) for a, _ in rows], [1] * n), central(PAIR, list(rows), [1] * n)
    size = float(max(abs(v - mean_x) for v in x)) or 1.0
    third, fourth = (float(sum((v - mean_x) ** p for v in x)) for p in (3, 4))
    assert one.third()[0] == pytest.approx(third, rel=1e-9, abs=1e-9 * size**3)
    assert one.fourth()[0] == pytest.approx(fourth, rel=1e-9, abs=1e-9 * size**4)
    product = float(sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)))
    assert both.product()[0] == pytest.approx(product, rel=1e-9, abs=1e-6 * size)


@pytest.mark.parametrize("special", [float("nan"), float("inf"), float("-inf")])
def test_a_special_value_counts_until_it_is_gone(special: float) -> None:
    with np.errstate(all="ignore"):
        there = central(UNIVARIATE, [(1.0,), (special,)], [1, 1])
        assert there.size[0] == 2 and np.isnan(there.second(0)[0])
        gone = central(UNIVARIATE, [(1.0,), (special,), (special,)], [1, 1, -1])
        assert (gone.size[0], gone.means[0][0], gone.second(0)[0]) == (1, 1.0, 0.0)


def test_a_row_counts_where_no_argument_is_null() -> None:
    found = central(PAIR, [(1.0, None), (2.0, 3.0), (None, None)], [1, 1, 1])
    assert (found.size[0], found.means[0][0], found.means[1][0]) == (1, 2.0, 3.0)

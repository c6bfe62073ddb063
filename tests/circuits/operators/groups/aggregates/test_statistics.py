"""Statistics from sums of parts: what exact arithmetic gives, whatever was inserted and retracted before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import fixed_values
from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.statistics import FUNCTIONS, Statistic
from dbsp.circuits.operators.groups.state.members import Finalizer, Members

VALUES = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e16, 1e16 + 2, -1e16, 3e-5, 7e100, 1e-300, -2.5])
SINGLE = ["var_pop", "var_samp", "stddev_pop", "stddev_samp", "regr_sxx", "skewness", "kurtosis"]
PAIRS = [name for name in FUNCTIONS if name not in SINGLE]
Row = tuple[float | None, ...]


def result(
    finalizer: Finalizer, rows: Sequence[tuple[Row, int]], arity: int, data_type: pa.DataType
) -> object:
    """The result over one group, between two that are empty."""
    assert finalizer.split is not None
    columns = [pa.array([row[i] for row, _ in rows], data_type) for i in range(arity)]
    at, index, amount = finalizer.split.split(columns)
    weights = np.array([weight for _, weight in rows], dtype=np.int64)
    parts = [*map(pa.array, index), pa.array(amount * weights[at])]
    members = Members(np.ones(len(at), np.int64), parts, weights[at], 3)
    out = pa.float64() if isinstance(finalizer, Statistic) else data_type
    before, found, after = finalizer.finalize(members, out).to_pylist()
    assert before is None and after is None
    return found


def central(rows: Sequence[Row], power: tuple[int, ...]) -> Fraction:
    columns = [[Fraction(value) for value in column] for column in zip(*rows, strict=True)]  # type: ignore[arg-type]
    means = [sum(column) / len(column) for column in columns]
    return sum(
        (
            math.prod((x - m) ** p for x, m, p in zip(row, means, power, strict=True))
            for row in zip(*columns, strict=True)
        ),
        Fraction(0),
    )


def close(found: object, exact: Fraction | None, scale: Fraction) -> bool:
    """Whether a double is within rounding of the exact value."""
    if exact is None or found is None:
        return (exact is None) == (found is None)
    assert isinstance(found, float)
    return abs(Fraction(found) - exact) <= Fraction(1, 10**12) * (abs(exact) + scale) + Fraction(1, 10**320)


def square_root(value: Fraction) -> Fraction:
    """To more digits than a double's."""
    unit = 10**400
    return Fraction(math.isqrt(value.numerator * unit * unit // value.denominator), unit)


MOMENTS: dict[str, Callable[[list[Row]], Fraction | None]] = {
    "var_pop": lambda rows: central(rows, (2,)) / len(rows),
    "var_samp": lambda rows: central(rows, (2,)) / (len(rows) - 1) if len(rows) > 1 else None,
    "stddev_pop": lambda rows: square_root(central(rows, (2,)) / len(rows)),
    "regr_sxx": lambda rows: central(rows, (2,)),
    "kurtosis": lambda rows: (
        len(rows) * central(rows, (4,)) / central(rows, (2,)) ** 2 - 3 if central(rows, (2,)) else None
    ),
    "skewness": lambda rows: (
        square_root(len(rows) / central(rows, (2,)) ** 3) * central(rows, (3,))
        if central(rows, (2,))
        else None
    ),
}


@pytest.mark.parametrize("name", MOMENTS)
@given(kept=st.lists(VALUES, min_size=1, max_size=5), gone=st.lists(VALUES, max_size=4))
def test_moments_are_exact_after_retractions(name: str, kept: list[float], gone: list[float]) -> None:
    rows: list[Row] = [(x,) for x in kept]
    retracted = [((x,), weight) for x in gone for weight in (1, -1)]
    found = result(Statistic(name), [*((row, 1) for row in rows), *retracted], 1, pa.float64())
    exact = MOMENTS[name](rows)
    if exact is not None and abs(exact) > Fraction(10) ** 300:
        return
    # a quotient of powers of what is tiny underflows where Spark's does
    if (
        central(rows, (2,))
        and central(rows, (2,)) < Fraction(1, 10**150)
        and name in ("kurtosis", "skewness")
    ):
        return
    if name == "kurtosis" and central(rows, (4,)) > Fraction(10) ** 300:
        return
    if name == "skewness" and central(rows, (2,)) ** 3 > Fraction(10) ** 300:  # Spark divides by its root
        return
    assert close(found, exact, Fraction(1) if name in ("kurtosis", "skewness") else Fraction(0))


@given(
    kept=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5),
    gone=st.lists(st.tuples(VALUES, VALUES), max_size=3),
)
def test_covariances_are_exact_after_retractions(kept: list[Row], gone: list[Row]) -> None:
    changes = [*((row, 1) for row in kept), *((row, weight) for row in gone for weight in (1, -1))]
    exact = central(kept, (1, 1))
    # what is lost is relative to the deviations, not to the values
    scale = square_root(central(kept, (2, 0)) * central(kept, (0, 2)))
    for name, divisor in (("covar_pop", len(kept)), ("covar_samp", len(kept) - 1), ("regr_sxy", 1)):
        found = result(Statistic(name), changes, 2, pa.float64())
        assert close(found, exact / divisor if divisor else None, scale)


@pytest.mark.slow
@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=5))
def test_the_order_of_arrival_changes_no_bit(rows: list[Row]) -> None:
    for name in PAIRS:
        one = result(Statistic(name), [(row, 1) for row in rows], 2, pa.float64())
        other = result(Statistic(name), [(row, 1) for row in reversed(rows)], 2, pa.float64())
        assert repr(one) == repr(other), name


@pytest.mark.parametrize("name", [*SINGLE, *PAIRS])
def test_nothing_is_null(name: str) -> None:
    arity = 1 if name in SINGLE else 2
    rows: list[tuple[Row, int]] = [((1.0,) * arity, 1), ((1.0,) * arity, -1), ((None,) * arity, 2)]
    assert result(Statistic(name), rows, arity, pa.float64()) is None


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=6), st.lists(st.integers(-128, 127), max_size=4))
def test_bits_survive_retraction(kept: list[int], gone: list[int]) -> None:
    rows = [*(((x,), 1) for x in kept), *(((x,), weight) for x in gone for weight in (1, -1))]
    array = np.array(kept, dtype=np.int8)
    for name, fold in (("bit_and", np.bitwise_and), ("bit_or", np.bitwise_or), ("bit_xor", np.bitwise_xor)):
        assert result(Bitwise(name), rows, 1, pa.int8()) == int(fold.reduce(array)), name


def test_bits_of_nothing_are_null() -> None:
    assert result(Bitwise("bit_and"), [((None,), 1), ((3,), 1), ((3,), -1)], 1, pa.int64()) is None


def test_parts_of_whole_numbers_are_few() -> None:
    split = Statistic("kurtosis").split
    assert split is not None
    at, index, amount = split.split([pa.array([3.0, None, 5.0])])
    assert len(at) == len(index[0]) == len(amount)
    # a moment of a small whole number fits in one digit, or straddles two
    assert len(at) <= 2 * 5 * 2
    assert fixed_values(pa.array(amount)).min() > 0

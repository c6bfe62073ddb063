"""Intervals by numbers: exact products and quotients, HALF_UP, as Python's decimal has them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from tests.circuits.functions.calling import called

MICROS = pa.duration("us")
KINDS = {"dt": MICROS, "ym": MONTHS}
EXACT = Context(prec=80)
counts = st.integers(-(10**6), 10**6)
factors = st.one_of(st.integers(-50, 50), st.integers(-5000, 5000).map(lambda n: Decimal(n).scaleb(-2)))


def intervals(kind: str, *values: int | None) -> pa.Array:
    return pa.array(values, pa.int64()).view(KINDS[kind])


def by(function: str, kind: str, value: int | None, factor: Any, mode: str = "ANSI") -> int | None:
    number = pa.array([factor], pa.decimal128(10, 2) if isinstance(factor, Decimal) else None)
    found = called(f"{function}_{kind}_interval", KINDS[kind], intervals(kind, value), number, evalMode=mode)
    stored: list[int | None] = pa.array(found, KINDS[kind]).view(pa.int64()).to_pylist()
    return stored[0]


def rounded(value: Decimal) -> int:
    return int(value.quantize(Decimal(1), ROUND_HALF_UP, EXACT))


@given(st.sampled_from(sorted(KINDS)), counts, factors)
def test_exactly(kind: str, count: int, factor: Any) -> None:
    assert by("multiply", kind, count, factor) == rounded(EXACT.multiply(Decimal(count), Decimal(factor)))
    if factor:
        assert by("divide", kind, count, factor) == rounded(EXACT.divide(Decimal(count), Decimal(factor)))


@given(st.sampled_from(sorted(KINDS)), counts, st.integers(-400, 400).map(lambda n: n / 8))
def test_by_doubles(kind: str, count: int, factor: float) -> None:
    """Eighths are exact, so HALF_UP is too."""
    assert by("multiply", kind, count, factor) == rounded(Decimal(count) * Decimal(factor))


def test_just_below_a_half() -> None:
    assert by("multiply", "dt", 1, 0.49999999999999994) == 0
    assert by("multiply", "dt", 1, 0.5) == 1 and by("multiply", "dt", -1, 0.5) == -1


@pytest.mark.parametrize(
    ("function", "kind", "value", "factor", "condition"),
    [
        ("multiply", "dt", 2**62, 2, "OVERFLOW"),
        ("multiply", "ym", 2**30, 2, "OVERFLOW"),
        ("multiply", "dt", 2**62, 2.0, "OVERFLOW"),
        ("multiply", "dt", 1, float("nan"), "OVERFLOW"),
        ("divide", "ym", -(2**31), -1, "OVERFLOW"),
        ("divide", "dt", 1, 0, "INTERVAL_DIVIDED_BY_ZERO"),
        ("divide", "ym", 1, 0.0, "INTERVAL_DIVIDED_BY_ZERO"),
    ],
)
def test_what_has_no_result(function: str, kind: str, value: int, factor: Any, condition: str) -> None:
    with pytest.raises(EvaluationError, match=condition):
        by(function, kind, value, factor)
    assert by(function, kind, value, factor, "TRY") is None
    assert by(function, kind, None, factor) is None


@given(st.integers(-(10**6), 10**6), st.integers(-100, 100))
def test_years_and_months(years: int, months: int) -> None:
    columns = pa.array([years], pa.int32()), pa.array([months], pa.int32())
    found = called("make_ym_interval", MONTHS, *columns)
    assert pa.array(found, MONTHS).view(pa.int64()).to_pylist() == [12 * years + months]


def test_years_that_overflow_alone() -> None:
    columns = pa.array([178956971], pa.int32()), pa.array([-100], pa.int32())
    with pytest.raises(EvaluationError, match="OVERFLOW"):
        called("make_ym_interval", MONTHS, *columns)

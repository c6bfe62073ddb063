"""What has no result is an error, or NULL: as each class of expressions spells it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors.modes import ANSI, LEGACY, TRY, checked, mode
from dbsp.circuits.expressions.vectors.numbers import Vector


def of(**options: object) -> Call:
    return Call("f", (), pa.int64(), True, tuple(options.items()))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (of(), ANSI),
        (of(evalMode="TRY"), TRY),
        (of(evalMode="LEGACY", failOnError=True), LEGACY),
        (of(failOnError=True), ANSI),
        (of(failOnError=False), LEGACY),
        (of(nullOnOverflow=True), LEGACY),
        (of(nullOnOverflow=False), ANSI),
        (of(timeZoneId="UTC"), ANSI),
    ],
)
def test_modes(call: Call, expected: str) -> None:
    assert mode(call) == expected


def column(*valid: bool) -> Vector:
    return Vector(np.arange(len(valid)), np.array(valid), False)


GOOD = np.array([True, False, False])


def test_the_first_row_that_is_there_fails() -> None:
    with pytest.raises(EvaluationError, match=r"^\[OVERFLOW\] row 2$") as raised:
        checked(of(), GOOD, "OVERFLOW", lambda row: f"row {row}", column(True, False, True))
    assert raised.value.row == 2
    assert checked(of(), GOOD, "OVERFLOW", str, column(True, False, False)) is None, "NULL fails nowhere"
    assert checked(of(), np.array([True]), "OVERFLOW", str) is None


@pytest.mark.parametrize("spelling", [of(evalMode="TRY"), of(evalMode="LEGACY"), of(failOnError=False)])
def test_elsewhere_it_is_null(spelling: Call) -> None:
    found = checked(spelling, GOOD, "OVERFLOW", str, column(True, True, True))
    assert found is not None and found.tolist() == GOOD.tolist()
    assert checked(spelling, np.array([True, True]), "OVERFLOW", str) is None


def test_a_constant_that_is_wrong_is_wrong_in_every_row() -> None:
    with pytest.raises(EvaluationError, match="row 1"):
        checked(of(), np.array([False]), "OVERFLOW", lambda row: f"row {row}", column(False, True, True))

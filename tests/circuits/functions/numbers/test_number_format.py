"""Formats of numbers are Spark's: every form of format, over numbers and texts that do and don't fit it."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from tests.oracles.against_spark import AgainstSpark

_DIGITS = [
    "9",
    "99",
    "999",
    "0",
    "00",
    "09",
    "90",
    "9,999",
    "0,000",
    "99G999",
    "9,0",
    "9,99,999",
    "099,999",
    "9990",
]
_DIGITS += ["9" * 20, "0" * 25]
_POINTS = ["", "", ".", "D99", ".9", ".00", ".0", ".09", ".999"]
_FRONT = ["", "", "", "$", "S", "MI", "S$", "MI$"]
_BACK = ["", "", "", "PR", "S", "MI"]
_NUMBERS = [
    "0",
    "1",
    "-1",
    "0.5",
    "-0.5",
    "12",
    "-12",
    "123.45",
    "-1234.5",
    "99999.99",
    "-0.01",
    "7.1",
    "1000000",
]
_NUMBERS += ["-999", "12345678901234567890.5", "0.001", "100"]
_PIECES = [
    "1",
    "12",
    "0",
    "007",
    ",",
    ",234",
    "123,456",
    ".",
    ".5",
    ".50",
    "$",
    "-",
    "+",
    "<",
    ">",
    " ",
    "\t",
    "x",
    "٣",
    "",
]


def formats() -> list[str]:
    choose = random.Random(5)
    made = {
        "S99.99",
        "99.99S",
        "99.99PR",
        "$99.99PR",
        "S.99",
        ".99",
        "0.00",
        "S0",
        "9$",
        "99G999D9S",
        "$9,999.99MI",
    }
    while len(made) < 90:
        front, back = choose.choice(_FRONT), choose.choice(_BACK)
        if front and back not in ("", "PR") and front[0] in "SM":
            continue
        made.add(front + choose.choice([*_DIGITS, *_DIGITS, ""]) + choose.choice(_POINTS) + back)
    return sorted(form for form in made if any(c in form for c in "09"))


def _rows() -> pa.RecordBatch:
    choose = random.Random(6)
    texts = [
        "",
        " ",
        "1",
        "-1",
        "+1",
        "1-",
        "<1>",
        "$1",
        "-$1",
        "1,234.50",
        "0.5",
        ".5",
        "5.",
        "$5.5-",
        "<$1.5>",
        "00",
        "1 2",
    ]
    while len(texts) < 150:
        texts.append("".join(choose.choices(_PIECES, k=choose.randrange(1, 6))))
    numbers = [Decimal(each) for each in _NUMBERS] + [
        Decimal(choose.randrange(-(10**7), 10**7)) / 1000 for _ in range(60)
    ]
    rows = len(texts) + 1
    numbers += [None] * (rows - len(numbers))
    return pa.RecordBatch.from_pydict(
        {
            "m": pa.array(numbers, pa.decimal128(25, 3)),
            "d": pa.array([None if n is None else float(n) if abs(n) < 10**9 else 0.0 for n in numbers]),
            "i": pa.array([None if n is None else int(n) % 2000 - 1000 for n in numbers], pa.int32()),
            "s": pa.array([*texts, None], pa.string()),
        }
    )


def _accepted(against: AgainstSpark, function: str, argument: str) -> list[str]:
    """The calls with formats that Spark takes."""
    calls = [f"{function}({argument}, '{form}')" for form in formats()]
    known = [call for call in calls if "error" not in against.catalyst.query(f"SELECT {call} FROM t")]
    assert len(known) > 60
    return known


@pytest.mark.spark
def test_to_char(spark: Any) -> None:
    against = AgainstSpark(spark, _rows())
    calls = _accepted(against, "to_char", "m")
    against.check([*calls, "to_varchar(i, 'S9,999')", "to_char(i, '000MI')", "to_char(d, '$9,999.999PR')"])


@pytest.mark.spark
def test_to_number(spark: Any) -> None:
    against = AgainstSpark(spark, _rows())
    calls = _accepted(against, "try_to_number", "s")
    # without a digit before the point a number may be out of range, which is an error even so
    against.check([call for call in calls if not re.search("'[MIS$]*[.D]", call)])
    against.check_fails(["to_number(s, '999')", "try_to_number('12' || substr(s, 1, 0), '.99')"])


@pytest.mark.spark
def test_a_format_is_constant(spark: Any) -> None:
    against = AgainstSpark(spark, _rows())
    with pytest.raises((ProgramError, AssertionError), match=r"constant|Spark refuses"):
        against.evaluate(["to_number('1', s)"])

"""Rewriting spellings in tests, where intervals are read without Spark."""

from __future__ import annotations

import re

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import source_of

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400}


def microseconds(text: Slice) -> int:
    """Of INTERVAL 5 MINUTES, or INTERVAL '1' HOUR."""
    match = re.fullmatch(r"INTERVAL '?(\d+)'? (\w+?)S?", text.text)
    assert match is not None, text
    return int(match[1]) * _SECONDS[match[2]] * 1_000_000


def _nobodys(relation: str, place: int) -> str:
    raise AssertionError(f"{relation} is asked for its time")


def respelled(text: str) -> Slice:
    return in_sparks_spelling(source_of(text), Slice(text, 0), microseconds, _nobodys)


def check_refused(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        respelled(text)
    assert str(raised.value).startswith(f"p.sql:{error}")

"""What is recorded of Catalyst is what it says today."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.strategies import seeded_program
from tests.oracles.recorded_catalyst import KNOWN, RENEW, Recorded, record, recorded


@pytest.mark.spark
def test_catalyst_says_the_same_today(spark: Any) -> None:
    for text, answers in recorded().items():
        now = record(text, spark)
        for question in {**answers, **now}:
            then, today = answers.get(question, "nothing"), now.get(question, "nothing")
            assert today == then, f"Catalyst says otherwise to {question}; {RENEW}\n{text}"


def test_the_laws_programs_are_recorded() -> None:
    assert {seeded_program(seed).text for seed in range(KNOWN)} == {*recorded()}, RENEW


def test_what_was_not_asked_has_no_answer() -> None:
    catalyst = Recorded({})
    with pytest.raises(AssertionError, match="has no answer"):
        catalyst.query("SELECT 1")
    with pytest.raises(AssertionError, match="options isn't among what is recorded"):
        catalyst.options("csv")

"""What is recorded of Catalyst for small programs is what it says today."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.recorded_catalyst import Answers, record
from tests.sql import recorded
from tests.sql.recorded import RENEW, compiled, known


@pytest.mark.spark
def test_catalyst_says_the_same_today(spark: Any) -> None:
    for text, answers in known().items():
        today = record(text, spark)
        assert _comparable(today) == _comparable(answers), f"Catalyst says otherwise; {RENEW}\n{text}"


def _comparable(answers: Answers) -> Answers:
    """Of an error its condition and place: the rest tells of the session, and of ids in the plan."""
    return {
        question: {name: answer["error"].get(name) for name in ("condition", "index")}
        if isinstance(answer, dict) and "error" in answer
        else answer
        for question, answer in answers.items()
    }


def test_a_program_that_nobody_recorded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded._Session, "spark", None)  # also while all others are recorded
    with pytest.raises(AssertionError, match="doesn't know this program; record it anew"):
        compiled("CREATE TABLE nobody (a INT); CREATE VIEW v AS SELECT nobody")

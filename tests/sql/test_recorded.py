"""What is recorded of Catalyst for small programs is what it says today."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.oracles.recorded_catalyst import Answers, record
from tests.sql import recorded
from tests.sql.recorded import RENEW, compiled, known


@pytest.mark.spark
def test_catalyst_says_the_same_today(spark: Any) -> None:
    for text, answers in known().items():
        today = record(text, spark)
        assert _without_ids(today) == _without_ids(answers), f"Catalyst says otherwise; {RENEW}\n{text}"


def _without_ids(answers: Answers) -> dict[str, str]:
    """In Spark's messages a column has an id, which is another in another JVM."""
    return {question: re.sub(r"#\d+", "#", json.dumps(answer)) for question, answer in answers.items()}


def test_a_program_that_nobody_recorded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded._Session, "spark", None)  # also while all others are recorded
    with pytest.raises(AssertionError, match="doesn't know this program; record it anew"):
        compiled("CREATE TABLE nobody (a INT); CREATE VIEW v AS SELECT nobody")

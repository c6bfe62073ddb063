"""Whatever a function is called with: Spark's value, Spark's error, or a refusal by name. Nothing else."""

from __future__ import annotations

import traceback
from importlib import import_module
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from pyspark.errors import PySparkException

from dbsp.circuits.columns.forms.outside import to_spark
from dbsp.circuits.errors import Error, EvaluationError
from tests.circuits.functions import any_arguments
from tests.circuits.functions.catalogue import coverage
from tests.effort import QUICK
from tests.oracles.against_spark import AgainstSpark, differences

pytestmark = pytest.mark.spark
CALLS = 50  # of each family


@pytest.mark.parametrize("family", coverage.FAMILIES)
def test_any_arguments(spark: Any, family: str) -> None:
    functions = import_module(f"tests.circuits.functions.catalogue.{family}")
    rows = any_arguments.widened(functions.ROWS)
    against = AgainstSpark(spark, rows)
    texts = [text for texts in functions.FUNCTIONS.values() for text in texts]
    profile = settings.default
    effort = max(1, profile.max_examples // QUICK)
    seed = 0 if profile.derandomize else None
    made = any_arguments.calls(texts, any_arguments.columns(rows), seed)
    wrong: list[str] = []
    for _ in range(effort):
        wrong += wrongs(against, list(dict.fromkeys(islice(made, CALLS))))
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:40]])


def wrongs(against: AgainstSpark, texts: list[str]) -> list[str]:
    """What is wrong about the calls, a line each."""
    wrong, valued = [], {}
    for text in texts:
        try:
            plan = against.translate([text])
            if plan is None:
                continue
            (value,) = against.values_of(plan)
        except Error:
            continue
        except Exception:  # whatever isn't an Error is what is looked for
            wrong.append(f"{text}: {traceback.format_exc(limit=-2)}")
            continue
        if isinstance(value, EvaluationError):
            if against.condition(text) is None:
                wrong.append(f"{text}: Spark has values, ours: {value}")
        else:
            valued[text] = value
    return wrong + _compared(against, valued)


def _compared(against: AgainstSpark, valued: dict[str, pa.Array]) -> list[str]:
    """All in one job; where Spark fails, half by half."""
    if not valued:
        return []
    texts = list(valued)
    try:
        theirs = against.spark_values(texts)
    except PySparkException as error:
        if len(texts) == 1:
            return [f"{texts[0]}: Spark says {error.getCondition()}, ours {valued[texts[0]].to_pylist()[:3]}"]
        half = len(texts) // 2
        return [
            line
            for part in (texts[:half], texts[half:])
            for line in _compared(against, {text: valued[text] for text in part})
        ]
    wrong = []
    for n, text in enumerate(texts):
        mine, spark = to_spark(valued[text]), theirs.column(n).combine_chunks()
        wrong += differences(text, against.rows, mine, spark)[:1]
    return wrong

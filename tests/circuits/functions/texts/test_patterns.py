"""LIKE matches what Spark's matches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.library import find
from tests.generators.columns.texts import text_rows
from tests.oracles.against_spark import AgainstSpark

EXPRESSIONS = [
    "s like 'a_c'",
    "s like 'a%c'",
    "s like '%_%'",
    "s like '_'",
    "s like '%a%b%'",
    "s like 'x!_y!%z' escape '!'",
    r"s like '\\%\\_%'",
    "s like p",
    "s not like 'a_%'",
    "s like all ('a%b','%b_')",
    "s like any ('a%b','%b_', null)",
    "s not like all ('a%b','%b_',null)",
    "s not like any ('a%b','%b_')",
    "s ilike 'A_c'",
]


@pytest.mark.spark
def test_patterns(spark: Any) -> None:
    AgainstSpark(spark, text_rows(150)).check(EXPRESSIONS)


def test_an_invalid_pattern_is_refused() -> None:
    call = Call("like", (Column(0, pa.string()), Literal("a\\b", pa.string())), pa.string())
    assert (find("like").refuse(call) or "").startswith("an invalid pattern")  # type: ignore[union-attr]


def test_an_invalid_pattern_of_a_column_names_its_row() -> None:
    rows = pa.RecordBatch.from_pydict({"s": ["a", "b"], "p": ["a%", "b\\"]})
    call = Call("like", (Column(0, pa.string()), Column(1, pa.string())), pa.bool_())
    with pytest.raises(EvaluationError, match=r"s=b, .*ESC_AT_THE_END"):
        evaluate(call, rows)

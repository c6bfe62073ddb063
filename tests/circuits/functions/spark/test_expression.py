"""What Spark evaluates for us: on any number of rows, beside kernels, and in a step after retractions."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp import Pipeline
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.spark.expression import NAME, SparkExpression
from tests.dbsp.pipeline.seen import rows as seen
from tests.oracles.against_spark import AgainstSpark

ROWS = pa.RecordBatch.from_pydict({"k": pa.array(range(40_000), pa.int64())})
PROGRAM = """
CREATE TABLE t (k BIGINT, x STRING);
CREATE VIEW v AS SELECT xpath_int(x, 'a/b') AS b, count(*) AS n FROM t WHERE xpath_boolean(x, 'a') GROUP BY 1;
"""


@pytest.mark.spark
def test_more_rows_than_a_request_has(spark: Any) -> None:
    against = AgainstSpark(spark, ROWS.slice(0, 1))
    call = against.call("to_csv(named_struct('k', k))")
    assert call.function == NAME
    assert evaluate(call, ROWS).to_pylist() == [str(k) for k in range(ROWS.num_rows)]
    assert evaluate(call, ROWS.slice(30_000, 3)).to_pylist() == ["30000", "30001", "30002"]
    assert len(evaluate(call, ROWS.slice(0, 0))) == 0


@pytest.mark.spark
def test_the_row_that_fails_is_named(spark: Any) -> None:
    against = AgainstSpark(spark, ROWS.slice(0, 1))
    call = against.call("parse_json(if(k = 30000, '{', '1'))::int")
    with pytest.raises(EvaluationError, match=r"where k=30000: \[MALFORMED_RECORD_IN_PARSING") as raised:
        evaluate(call, ROWS)
    assert "SQLSTATE" not in str(raised.value)
    assert evaluate(call, ROWS.slice(0, 2)).to_pylist() == [1, 1]


@pytest.mark.spark
def test_equal_expressions_are_equal(spark: Any) -> None:
    """Whatever surrounds them in the text; and what differs in an option is another."""
    against = AgainstSpark(spark, ROWS.slice(0, 1))
    one = against.call("to_csv(named_struct('k', k))")
    same = against.call("  to_csv( named_struct('k', /* k */ k))")
    other = against.call("to_csv(named_struct('k', k), map('sep', '|'))")
    identities = [call.option("expression") for call in (one, same, other)]
    assert all(isinstance(each, SparkExpression) for each in identities)
    assert identities[0] == identities[1] != identities[2]


@pytest.mark.spark
def test_a_view_of_it_is_maintained(spark: Any) -> None:
    rows = [(1, "<a><b>1</b></a>"), (2, "<a><b>1</b></a>"), (3, "<c/>"), (4, None), (5, "<a/>")]
    with Pipeline(sql=PROGRAM, spark=spark, runner="inline") as p:
        p.insert("t", rows)
        p.step()
        assert seen(p["v"]) == [(0, 1), (1, 2)]
        p.delete("t", [rows[0], rows[4]])
        p.step()
        assert seen(p["v"]) == [(1, 1)]

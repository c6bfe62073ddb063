"""An expression that Spark itself evaluates: a function that we have no kernel for.

    Call("spark_expression", a…, expression = E) = E(a…), row by row, by Spark's own generated code

So it is what Spark's executors compute, at the price of copying its arguments to a JVM and its values back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.circuits.columns.arrow import retyped
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.spread import columnar

NAME = "spark_expression"


@dataclass(frozen=True, slots=True)
class SparkExpression:
    """name: of the function, as the user knows it. identity: equal for those that compute the same.

    serialized: Java's, after its time zone and the jar that it needs; its BoundReferences are the arguments.
    jar: where that was when the program was compiled; '' where Spark's own are enough.
    """

    name: str = field(compare=False)
    identity: str
    serialized: bytes = field(repr=False, compare=False)
    jar: str = field(default="", compare=False)


@columnar(NAME, strict=False)
def spark_expression(call: Call, *columns: pa.Array) -> Value:
    from dbsp.circuits.functions.spark.process import values  # noqa: PLC0415  few functions start a JVM
    from dbsp.circuits.functions.spark.requests import given, rows_of_a_request, taken  # noqa: PLC0415

    expression = call.option("expression")
    assert isinstance(expression, SparkExpression)
    typed = [retyped(column, argument.type) for column, argument in zip(columns, call.arguments, strict=True)]
    # where there are no arguments, the row that there is has none
    rows = given(typed or [pa.nulls(1)])
    made, size = [], rows_of_a_request(rows)
    for start in range(0, rows.num_rows, size):
        try:
            made.append(values(expression.serialized, rows.slice(start, size)))
        except EvaluationError as error:
            error.row = start + (error.row or 0)
            raise
    return taken(made, call.type)

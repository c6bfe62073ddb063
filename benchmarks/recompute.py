"""The same program by Spark SQL from scratch, and whether two relations hold the same rows.

The comparison is Spark's own: neither the program's views nor their expressions are evaluated by anything
of this project.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.statements import statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOLERANCE = 1e-9  # relative, of DOUBLE and FLOAT columns: Spark adds them in no fixed order


def views(
    session: SparkSession, text: str, tables: Mapping[str, DataFrame], define: Mapping[str, str]
) -> dict[str, DataFrame]:
    """Every output view of the program as a query over `tables`; nothing is computed yet."""
    for name, rows in tables.items():
        rows.createOrReplaceTempView(name)
    outputs = {}
    for statement in statements(read(text, "program.sql", define)):
        if isinstance(statement, CreateView):
            rows = session.sql(statement.query.text)
            rows = rows.toDF(*statement.columns) if statement.columns else rows
            rows.createOrReplaceTempView(statement.name)
            if statement.kind != "local":
                outputs[statement.name] = rows
    return outputs


def compute(rows: DataFrame) -> None:
    """Compute every row and column, and keep nothing."""
    rows.write.format("noop").mode("overwrite").save()


def differences(one: DataFrame, other: DataFrame) -> int:
    """How many rows, with their multiplicity, only one of the two has. Columns are compared by position."""
    other = other.toDF(*one.columns)
    inexact = [name for name, type_ in one.dtypes if type_ in ("double", "float")]
    if inexact:
        return _unpaired(one, other, inexact)
    return _surplus(one, other)


def _surplus(one: DataFrame, other: DataFrame) -> int:
    """Σ |one[x] − other[x]| over all rows x: each side is computed once."""
    from pyspark.sql import functions as F  # noqa: PLC0415  (with Spark only)

    both = one.withColumn("__weight", F.lit(1)).unionAll(other.withColumn("__weight", F.lit(-1)))
    totals = both.groupBy(*one.columns).agg(F.sum("__weight").alias("__total"))
    return totals.agg(F.sum(F.abs("__total"))).first()[0] or 0


def _unpaired(one: DataFrame, other: DataFrame, inexact: list[str]) -> int:
    """Rows without a partner that is equal but for rounding.

    Rows that agree on the exact columns are paired in the order of their inexact ones.
    """
    from pyspark.sql import Window  # noqa: PLC0415  (with Spark only)
    from pyspark.sql import functions as F  # noqa: PLC0415

    exact = [name for name in one.columns if name not in inexact]
    window = Window.partitionBy(*exact).orderBy(*inexact)
    numbered = [rows.withColumn("__place", F.row_number().over(window)) for rows in (one, other)]
    left, right = numbered[0].alias("l"), numbered[1].alias("r")
    same = [F.col(f"l.{name}").eqNullSafe(F.col(f"r.{name}")) for name in [*exact, "__place"]]
    close = []
    for name in inexact:
        x, y = F.col(f"l.{name}").cast("double"), F.col(f"r.{name}").cast("double")
        apart = F.abs(x - y)  # not finite: neither is near the other
        near = (apart < math.inf) & (apart <= TOLERANCE * F.greatest(F.abs(x), F.abs(y)))
        close.append(x.eqNullSafe(y) | F.coalesce(near, F.lit(False)))
    both = F.col("l.__place").isNotNull() & F.col("r.__place").isNotNull()
    paired = left.join(right, reduce(lambda a, b: a & b, same), "full_outer")
    return paired.filter(~(both & reduce(lambda a, b: a & b, close))).count()

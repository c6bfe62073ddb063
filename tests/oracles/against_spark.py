"""Our kernels against Spark itself, on the same rows, for the same SQL text.

    against = AgainstSpark(spark, rows)
    against.check(["a + 1", "CAST(s AS INT)"])                # same values, bit for bit
    against.check_fails(["CAST(s AS INT)"])                    # same error condition

The text goes to Spark, which evaluates it, and through our front end, which evaluates the translated
expression. All expressions of one `check` are one Spark job.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.broken_text import decoded, listed
from dbsp.circuits.columns.forms.outside import to_spark
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.running.spark.intervals import with_integers, with_intervals
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.nodes import Project, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.types import ddl
from dbsp.sql.text.source import read
from dbsp.sql.text.tokens import Slice


class AgainstSpark:
    """rows: what the relation `t` holds; the expressions read its columns by name."""

    def __init__(self, spark: Any, rows: pa.RecordBatch, time_zone: str = "UTC") -> None:
        self.spark = spark
        self.rows = rows
        self.time_zone = time_zone
        self._session(self._start)

    def _session(self, run: Any) -> Any:
        """The session's own time zone is put back: other tests share the session."""
        before = self.spark.conf.get("spark.sql.session.timeZone")
        self.spark.conf.set("spark.sql.session.timeZone", self.time_zone)
        try:
            return run()
        finally:
            self.spark.conf.set("spark.sql.session.timeZone", before)

    def _start(self) -> None:
        numbered = self.rows.append_column("__row", pa.array(range(self.rows.num_rows), pa.int64()))
        # a copy, because Spark's reader can't take lists with an offset
        copied = numbered.take(pa.array(range(numbered.num_rows)))
        columns = [to_spark(column) for column in copied.columns]
        # with its types said: left to itself Spark reads TIMESTAMP_NTZ columns as TIMESTAMP
        named = zip(numbered.schema.names, columns, strict=True)
        types = ", ".join(f"`{name}` {ddl(column.type)}" for name, column in named)
        given = pa.Table.from_arrays(columns, names=numbered.schema.names)
        frame = self.spark.createDataFrame(given, schema=types)
        self.frame = with_intervals(frame, numbered.schema.types)
        self.catalyst = Catalyst(self.spark)
        fields = zip(self.rows.schema.names, self.rows.schema.types, strict=True)
        columns = [(name, self.catalyst.column_type(ddl(data_type)), True) for name, data_type in fields]
        self.catalyst.register("t", columns)

    def evaluate(self, expressions: Sequence[str]) -> list[pa.Array | EvaluationError]:
        """Our value of each expression, or why it has none."""
        translated = self.translate(expressions)
        assert translated is not None, f"Spark refuses one of {expressions}"
        return self.values_of(translated)

    def values_of(self, plan: Plan) -> list[pa.Array | EvaluationError]:
        """Our value of each expression that was translated, or why it has none."""
        rows, translated = self._over(self.rows, plan)
        values: list[pa.Array | EvaluationError] = []
        for expression in translated:
            try:
                values.append(evaluate(expression, rows))
            except EvaluationError as error:
                values.append(error)
        return values

    def _over(self, rows: pa.RecordBatch, translated: Plan) -> tuple[pa.RecordBatch, Sequence[Expression]]:
        """The rows the outermost expressions read, and these. Catalyst may compute shared parts beneath."""
        if isinstance(translated, Values):
            return rows, translated.rows[0]
        assert isinstance(translated, Project), translated
        if isinstance(translated.input, Project):
            names = [field.name for field in translated.input.schema]
            inner, expressions = self._over(rows, translated.input)
            arrays = [evaluate(expression, inner) for expression in expressions]
            rows = pa.RecordBatch.from_arrays(arrays, names=names)
        return rows, translated.expressions

    def translate(self, expressions: Sequence[str]) -> Plan | None:
        """What the front end makes of the expressions; None where Spark refuses one. Raises ProgramError."""
        text = "SELECT " + ", ".join(f"({e}) AS c{n}" for n, e in enumerate(expressions)) + " FROM t"
        dumped = self.catalyst.query(text)
        if "error" in dumped:
            return None
        assert not dumped["forbidden"], dumped["forbidden"]
        query = Query(
            read(text, "test.sql"), Slice(text, 0), dumped["types"], portable=self.catalyst.portable
        )
        return plan(query, dumped["plan"]).plan

    def call(self, text: str) -> Call:
        """The only expression of a text that is a call over the rows as they are."""
        translated = self.translate([text])
        assert translated is not None, f"Spark refuses {text}"
        _, (call,) = self._over(self.rows, translated)
        assert isinstance(call, Call)
        return call

    def spark_values(self, expressions: Sequence[str]) -> pa.Table:
        """One column per expression, in the order of the rows. Raises what Spark raises."""
        self.frame.createOrReplaceTempView("against_spark")
        columns = ", ".join(f"({e}) AS c{n}" for n, e in enumerate(expressions))
        query = f"SELECT {columns}, __row FROM against_spark ORDER BY __row"
        return self._session(lambda: with_integers(self.spark.sql(query)).toArrow().drop_columns(["__row"]))

    def check(self, expressions: Sequence[str]) -> None:
        """Each expression has the same value on every row in both."""
        theirs = self.spark_values(expressions)
        wrong = []
        for n, ours in enumerate(self.evaluate(expressions)):
            if isinstance(ours, EvaluationError):
                wrong.append(f"{expressions[n]}: {ours}")
                continue
            decoded(ours).validate(full=True)  # Spark's strings need not be UTF-8
            mine, spark = to_spark(ours), theirs.column(n).combine_chunks()
            wrong += differences(expressions[n], self.rows, mine, spark)
        assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:40]])

    def check_fails(self, expressions: Sequence[str]) -> None:
        """Each expression raises in both, with the same error condition."""
        wrong = []
        for text, value in zip(expressions, self.evaluate(expressions), strict=True):
            theirs = self.condition(text)
            ours = value.condition if isinstance(value, EvaluationError) else f"no error, but {value[:3]}"
            # what Java throws itself, such as a long overflow, has no condition to compare
            unnamed = theirs == "no condition" and isinstance(value, EvaluationError)
            if theirs is None or (theirs != ours and not unnamed):
                wrong.append(f"{text}: Spark says {theirs}, we say {ours}")
        assert not wrong, "\n".join(wrong)

    def condition(self, expression: str) -> str | None:
        """Spark's error condition for the expression; None if it has a value on every row."""
        from pyspark.errors import PySparkException  # noqa: PLC0415  only where there is a session

        try:
            self.spark_values([expression])
        except PySparkException as error:
            return error.getCondition() or "no condition"
        return None


def differences(text: str, rows: pa.RecordBatch, ours: pa.Array, theirs: pa.Array) -> list[str]:
    if len(ours) != len(theirs):
        return [f"{text}: {len(ours)} rows, Spark has {len(theirs)}"]
    found = []
    for at, (mine, spark) in enumerate(zip(_plain(ours), _plain(theirs), strict=True)):
        if identity(mine) != identity(spark):
            read = [name for name in rows.schema.names if re.search(rf"\b{name}\b", text)]
            found.append(
                f"{text}: {mine!r}, Spark says {spark!r}, for {rows.select(read).slice(at, 1).columns}"
            )
    return found


def _plain(array: pa.Array) -> list[Any]:
    """Python values; times as integers, because Python's end in the year 9999."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.view(pa.int64())
    elif pa.types.is_date32(array.type):
        array = array.view(pa.int32())
    elif pa.types.is_string(array.type):
        array = array.view(pa.binary())  # Spark's strings need not be UTF-8
    return listed(array)


def identity(value: Any) -> Any:
    """Equal exactly where the values are the same: one NaN, −0.0 is not 0.0, 1.0 is not 1."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else struct.pack(">d", value)
    if isinstance(value, dict):
        return [(name, identity(item)) for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [identity(item) for item in value]
    return (type(value).__name__, str(value))

"""The spelling of values that operators and plans are made of: expressions, sort orders, aggregates, frames.

It is only ever added to: a class has its word and a field its place for ever. A new field goes to the end, as
a `Default` with the value that it has where nobody knew of it; the place of one that is gone is left as None.
"""

from __future__ import annotations

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions import nodes
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.identity.canonical import Default, Form, Forms, check_form
from dbsp.circuits.operators.groups.aggregates import (
    bits,
    by_spark,
    called,
    collected,
    hyperloglog,
    statistics,
)
from dbsp.circuits.operators.groups.aggregates import percentiles as of_groups
from dbsp.circuits.operators.groups.aggregates.sketches import bitmaps, count_min
from dbsp.circuits.operators.groups.windows.calls import Frame, Gathered
from dbsp.circuits.operators.inputs import defaults, rules
from dbsp.circuits.progress.percentile import Percentile

VALUES: Forms = {
    defaults.Default: Form("default", ("column", "value")),
    rules.Formula: Form("formula", ("column", "value")),
    rules.Check: Form("check", ("value",)),
    Percentile: Form("percentile_of_last", ("share", "over", Default("every", 1))),
    Frame: Form("frame", (Default("rows", True), Default("lower", None), Default("upper", None))),
    Gathered: Form("gathered", ("finalizer", Default("required", ()))),
    statistics.Statistic: Form("statistic", ("function",)),
    bits.Bitwise: Form("bitwise", ("function",)),
    bitmaps.Bitmap: Form("bitmap", ("function",)),
    collected.Best: Form("best", ("size", "greatest")),
    count_min.CountMinSketch: Form("count_min_sketch", ("relative_error", "confidence", "seed")),
    hyperloglog.ApproximateCount: Form("approximate_count", ()),
    collected.Collect: Form("collect", (Default("once", False), Default("order", ()))),
    collected.Join: Form("joined", ("delimiter", Default("order", ()), Default("once", False))),
    collected.Mode: Form("mode", (Default("greatest", False),)),
    collected.Some: Form("some", ()),
    called.Called: Form("called", ("function",)),
    by_spark.BySpark: Form("by_spark", ("function", Default("once", False))),
    of_groups.Percentile: Form(
        "percentile",
        (
            "kind",
            "percentages",
            Default("many", False),
            Default("descending", False),
            Default("frequencies", False),
            Default("accuracy", 10000),
        ),
    ),
    SortKey: Form("key", ("column", Default("descending", False), Default("nulls_last", False))),
    # expressions
    nodes.Column: Form("column", ("index", "type", Default("nullable", True))),
    nodes.Literal: Form("literal", ("value", "type")),
    nodes.Variable: Form("variable", ("index", "type", Default("nullable", True))),
    nodes.Call: Form(
        "call", ("function", "arguments", "type", Default("nullable", True), Default("options", ()))
    ),
    PythonFunction: Form("python", ("name", "style", "aggregate", "identity")),
    SparkExpression: Form("spark", ("identity",)),
}

for _class, _form in VALUES.items():
    check_form(_class, _form)

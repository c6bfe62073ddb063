"""The spelling of values that operators and plans are made of: expressions, sort orders, aggregates, frames.

It is only ever added to: a class has its word and a field its place for ever. A new field goes to the end, as
a `Default` with the value that it has where nobody knew of it; the place of one that is gone is left as None.
"""

from __future__ import annotations

from dbsp.circuits.identity.canonical import Default, Form, Forms, within

_NAMED: Forms = {
    "operators.inputs.defaults.Default": Form("default", ("column", "value")),
    "operators.inputs.rules.Formula": Form("formula", ("column", "value")),
    "operators.inputs.rules.Check": Form("check", ("value",)),
    "progress.percentile.Percentile": Form("percentile_of_last", ("share", "over", Default("every", 1))),
    "operators.groups.windows.calls.Frame": Form(
        "frame", (Default("rows", True), Default("lower", None), Default("upper", None))
    ),
    "operators.groups.windows.calls.Gathered": Form("gathered", ("finalizer", Default("required", ()))),
    "operators.groups.aggregates.statistics.Statistic": Form("statistic", ("function",)),
    "operators.groups.aggregates.bits.Bitwise": Form("bitwise", ("function",)),
    "operators.groups.aggregates.sketches.bitmaps.Bitmap": Form("bitmap", ("function",)),
    "operators.groups.aggregates.collected.Best": Form("best", ("size", "greatest")),
    "operators.groups.aggregates.sketches.count_min.CountMinSketch": Form(
        "count_min_sketch", ("relative_error", "confidence", "seed")
    ),
    "operators.groups.aggregates.hyperloglog.ApproximateCount": Form("approximate_count", ()),
    "operators.groups.aggregates.collected.Collect": Form(
        "collect", (Default("once", False), Default("order", ()))
    ),
    "operators.groups.aggregates.collected.Join": Form(
        "joined", ("delimiter", Default("order", ()), Default("once", False))
    ),
    "operators.groups.aggregates.collected.Mode": Form("mode", (Default("greatest", False),)),
    "operators.groups.aggregates.collected.Some": Form("some", ()),
    "operators.groups.aggregates.called.Called": Form("called", ("function",)),
    "operators.groups.aggregates.by_spark.BySpark": Form("by_spark", ("function", Default("once", False))),
    "operators.groups.aggregates.percentiles.Percentile": Form(
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
    "columns.sorting.SortKey": Form(
        "key", ("column", Default("descending", False), Default("nulls_last", False))
    ),
    # expressions
    "expressions.nodes.Column": Form("column", ("index", "type", Default("nullable", True))),
    "expressions.nodes.Literal": Form("literal", ("value", "type")),
    "expressions.nodes.Variable": Form("variable", ("index", "type", Default("nullable", True))),
    "expressions.nodes.Call": Form(
        "call", ("function", "arguments", "type", Default("nullable", True), Default("options", ()))
    ),
    "functions.python.function.PythonFunction": Form("python", ("name", "style", "aggregate", "identity")),
    "functions.spark.expression.SparkExpression": Form("spark", ("identity",)),
}

VALUES = within("dbsp.circuits", _NAMED)

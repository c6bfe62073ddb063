"""Catalyst's aggregate functions as ours: name, arguments, options, and what of them is not covered."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

import pyarrow as pa

from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.sql.catalyst.arrival.first_last import SHOWN
from dbsp.sql.catalyst.groups.collecting import READERS, Read, is_any_value
from dbsp.sql.catalyst.reading.expressions import expression, normalized
from dbsp.sql.catalyst.reading.literals import literal_value
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.types import type_name

_FUNCTIONS = {
    "Count": "count",
    "Sum": "sum",
    "Average": "avg",
    "Min": "min",
    "Max": "max",
    "BitAndAgg": "bit_and",
    "BitOrAgg": "bit_or",
    "BitXorAgg": "bit_xor",
    "VariancePop": "var_pop",
    "VarianceSamp": "var_samp",
    "StddevPop": "stddev_pop",
    "StddevSamp": "stddev_samp",
    "RegrReplacement": "regr_sxx",
    "Skewness": "skewness",
    "Kurtosis": "kurtosis",
    "CovPopulation": "covar_pop",
    "CovSample": "covar_samp",
    "Corr": "corr",
    "RegrR2": "regr_r2",
    "RegrSXY": "regr_sxy",
    "RegrSlope": "regr_slope",
    "RegrIntercept": "regr_intercept",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "CollectList": "collect_list",
    "CollectSet": "collect_set",
    "ListAgg": "listagg",
    "Percentile": "percentile",
    "PercentileDisc": "percentile_disc",
    "ApproximatePercentile": "approx_percentile",
    "Mode": "mode",
    "MaxBy": "max_by",
    "MinBy": "min_by",
    "AnyValue": SHOWN,  # which any_value() is called by no more
    "First": "first",
    "Last": "last",
    "BitmapConstructAgg": "bitmap_construct_agg",
    "BitmapOrAgg": "bitmap_or_agg",
    "BitmapAndAgg": "bitmap_and_agg",
    "CountMinSketchAgg": "count_min_sketch",
    "MaxMinByK": "max_by_k",
    "ScalaAggregator": "python_aggregate",
}
# one copy of a value says as much as many
_INDIFFERENT = {
    "min",
    "max",
    "bit_and",
    "bit_or",
    "max_by",
    "min_by",
    "any_value",
    "first",
    "last",
    "collect_set",
    "approx_count_distinct",
}


def aggregate_call(query: Query, node: Node, position: Mapping[int, int]) -> AggregateCall:
    """node: an AggregateExpression."""
    function = node["k"][0]
    read = Read(query, function, position)
    name = _FUNCTIONS.get(function["c"], "spark_aggregate")
    if name == "max_by_k" and function["o"]["reverse"]:
        name = "min_by_k"
    if name == "first" and is_any_value(read):
        name = "any_value"
    distinct = node["o"]["isDistinct"] and name not in _INDIFFERENT
    reader = READERS.get(name)
    arguments, options = (read.arguments, ()) if reader is None else reader(read)
    if name in ("sum", "avg"):
        options = _mode(read, arguments[0])
    if name in ("min", "max", "max_by", "min_by", "max_by_k", "min_by_k"):
        _check_ordered(query, function, arguments[0])
    if name == "count":
        if not distinct:
            arguments = tuple(a for a in arguments if a.nullable)
        if any(isinstance(a, Literal) and a.value is None for a in arguments):
            raise query.refuse(function, "count(NULL)")
    if distinct and any(holds_variant(argument.type) for argument in arguments):
        # Spark takes it, and fails where two tasks have rows of a group
        why = "of a VARIANT, of which Spark tells no two apart; take to_json(v), or what is in it"
        raise query.error(function, f"{name}(DISTINCT ...) {why}")
    if distinct:
        arguments = tuple(normalized(query, function, a) for a in arguments)
    filter_ = node["k"][1] if len(node["k"]) > 1 else None
    condition = expression(query, filter_, position) if filter_ else None
    return AggregateCall(
        name, arguments, query.value_type(function), function["n"], condition, distinct, options
    )


def pivoted(query: Query, node: Node, position: Mapping[int, int]) -> list[AggregateCall]:
    """node: a PivotFirst, over rows that were grouped by the pivot column too. One call a pivot value.

    A group has one row a pivot value at most, so its greatest is the only one. NaN by itself is in none:
    Spark looks values up as Scala has them equal, and what is in a struct as it orders them.
    """
    column, value = (expression(query, child, position) for child in node["k"])
    if pa.types.is_map(column.type):
        raise query.refuse(node, f"PIVOT by {type_name(column.type)}", "PIVOT")
    calls = []
    for one in node["o"]["pivotColumnValues"]:
        literal = Literal(literal_value(one, column.type), column.type)
        condition: Expression = Call("equal_null_safe", (column, literal), pa.bool_(), nullable=False)
        if isinstance(literal.value, float) and isnan(literal.value):
            condition = Literal(False, pa.bool_())
        calls.append(AggregateCall("max", (value,), value.type, True, condition))
    return calls


def _type_name(argument: Expression) -> str:
    return "a column of NULLs" if pa.types.is_null(argument.type) else type_name(argument.type)


def _mode(read: Read, argument: Expression) -> tuple[tuple[str, object], ...]:
    """The options of a sum: what happens where it is out of range."""
    query, node = read.query, read.node
    mode = node["o"].get("evalContext", node["o"]).get("evalMode", "ANSI")
    if mode not in ("ANSI", "TRY"):
        raise query.error(node, f"aggregate function '{node['pretty']}' is not supported yet")
    data_type = argument.type
    if not (
        pa.types.is_integer(data_type)
        or pa.types.is_floating(data_type)
        or pa.types.is_decimal(data_type)
        or pa.types.is_duration(data_type)
    ):
        raise query.refuse(node, f"{node['pretty']} over {_type_name(argument)}")
    return (("evalMode", "TRY"),) if mode == "TRY" else ()


def _check_ordered(query: Query, node: Node, argument: Expression) -> None:
    if pa.types.is_map(argument.type) or pa.types.is_null(argument.type):
        raise query.refuse(node, f"{node['pretty']} over {_type_name(argument)}")

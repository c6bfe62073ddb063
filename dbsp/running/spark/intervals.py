"""INTERVAL YEAR TO MONTH between Spark and Arrow, as a number of months.

Spark hands such columns over in an Arrow type that pyarrow can't hold. So Spark itself makes integers of them
before rows leave for Python, and intervals again of the integers that come back; also inside of nested types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from dbsp.circuits.columns.months import MONTHS, holds_months
from dbsp.sql.plans.collations import without_collations
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import UnsupportedType, arrow_type, ddl


def with_integers(frame: DataFrame) -> DataFrame:
    """The frame with INT for every INTERVAL YEAR TO MONTH."""
    fields = json.loads(frame.schema.json())["fields"]
    types = [_type(field["type"]) for field in fields]
    return _rebuilt(frame, types, lambda value: f"CAST(CAST({value} AS INTERVAL MONTH) AS INT)")


def with_intervals(frame: DataFrame, types: Sequence[pa.DataType]) -> DataFrame:
    """The frame with intervals for integers, where `types` has MONTHS."""
    return _rebuilt(frame, types, lambda value: f"make_ym_interval(0, {value})")


def _type(spark: object) -> pa.DataType:
    """Null for a type that nothing here is about."""
    try:
        return arrow_type(without_collations(spark))
    except UnsupportedType:
        return pa.null()


def _rebuilt(frame: DataFrame, types: Sequence[pa.DataType], leaf: Callable[[str], str]) -> DataFrame:
    if not any(map(holds_months, types)):
        return frame
    columns = zip(frame.columns, types, strict=True)
    return frame.select(
        *(expr(_expression(quoted(name), type_, leaf, 0)).alias(name) for name, type_ in columns)
    )


def _expression(value: str, type_: pa.DataType, leaf: Callable[[str], str], depth: int) -> str:
    """SQL for the value with `leaf` of its months."""
    if type_ == MONTHS:
        return leaf(value)
    if not holds_months(type_):
        return value
    if pt.is_struct(type_):
        fields = ", ".join(
            f"{_text(f.name)}, {_expression(f'{value}.{quoted(f.name)}', f.type, leaf, depth)}" for f in type_
        )
        return f"IF({value} IS NULL, NULL, named_struct({fields}))"
    inner = f"x{depth}"
    if pt.is_map(type_):
        keys = _expression(inner, type_.key_type, leaf, depth + 1)
        items = _expression(inner, type_.item_type, leaf, depth + 1)
        return (
            f"map_from_arrays(transform(map_keys({value}), {inner} -> {keys}), "
            f"transform(map_values({value}), {inner} -> {items}))"
        )
    return f"transform({value}, {inner} -> {_expression(inner, type_.value_type, leaf, depth + 1)})"


def _text(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def columns_ddl(columns: Iterable[Field]) -> str:
    """The columns as Spark's schema strings."""
    return ", ".join(f"{quoted(column.name)} {ddl(column.type)}" for column in columns)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

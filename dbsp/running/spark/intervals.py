"""INTERVAL YEAR TO MONTH between Spark and Arrow, as a number of months, and INTERVAL, as its text.

Spark hands such columns over in Arrow types that pyarrow, or PySpark, can't hold. So Spark itself makes
integers or texts of them before rows leave for Python, and intervals again of what comes back; also inside of
nested types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL, holds_calendar
from dbsp.circuits.columns.forms.months import MONTHS, holds_months
from dbsp.sql.plans.collations import without_collations
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import UnsupportedType, ddl, literal_type

_LEFT = {MONTHS: "CAST(CAST({value} AS INTERVAL MONTH) AS INT)", CALENDAR_INTERVAL: "CAST({value} AS STRING)"}
_BACK = {MONTHS: "make_ym_interval(0, {value})", CALENDAR_INTERVAL: "CAST({value} AS INTERVAL)"}


def with_integers(frame: DataFrame) -> DataFrame:
    """The frame with INT for every INTERVAL YEAR TO MONTH, and STRING for every INTERVAL."""
    fields = json.loads(frame.schema.json())["fields"]
    return _rebuilt(frame, [kind_of(field["type"]) for field in fields], _LEFT)


def with_intervals(frame: DataFrame, types: Sequence[pa.DataType]) -> DataFrame:
    """The frame with intervals for integers and texts, where `types` has such."""
    return _rebuilt(frame, types, _BACK)


def kind_of(spark: object) -> pa.DataType:
    """Null for a type that nothing here is about."""
    try:
        return literal_type(without_collations(spark))
    except UnsupportedType:
        return pa.null()


def _holds(type_: pa.DataType) -> bool:
    return holds_months(type_) or holds_calendar(type_)


def _rebuilt(frame: DataFrame, types: Sequence[pa.DataType], leaf: Mapping[pa.DataType, str]) -> DataFrame:
    """leaf: SQL for a value of a type."""
    if not any(map(_holds, types)):
        return frame
    columns = zip(frame.columns, types, strict=True)
    return frame.select(
        *(expr(_expression(quoted(name), type_, leaf, 0)).alias(name) for name, type_ in columns)
    )


def _expression(value: str, type_: pa.DataType, leaf: Mapping[pa.DataType, str], depth: int) -> str:
    """SQL for the value with `leaf` of its intervals."""
    if type_ in leaf:
        return leaf[type_].format(value=value)
    if not _holds(type_):
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

"""A query that the engine refuses and Spark doesn't: it draws random values, samples, asks the session ...

What it is about is the engine's relations and nothing else (Outside.java): whoever may ask for rows may ask
for no file, no method of Java, no program of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.queries.query import query_source, scope_of
from dbsp.sql.plans.collations import collated, kept_type
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import UnsupportedType
from dbsp.sql.text.tokens import Slice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# how Spark spells values of types that no column of ours has; a VARIANT, too, is told as its text
_SPELLED = {
    "variant": "to_json({})",
    "interval": "CAST({} AS STRING)",
    "void": "CAST({} AS STRING)",
}


@dataclass(frozen=True)
class Evaluable:
    """text: as Spark spells it. schema: of its rows. spelled: what to make of each column `{}` before it
    leaves Spark. refused: why the engine doesn't evaluate it.
    """

    text: str
    timezone: str
    schema: Schema
    spelled: tuple[str, ...]
    refused: ProgramError


def evaluable(
    select: str,
    relations: Mapping[str, Schema],
    spark: SparkSession,
    timezone: str,
    refused: ProgramError,
) -> Evaluable:
    """The query as one for Spark alone. Raises `refused` where it isn't one for Spark either."""
    from dbsp.sql.spellings.spark_spelling import in_sparks_spelling  # noqa: PLC0415  what only compiling needs

    source = query_source(select)
    scope = scope_of(source, relations, spark, timezone)
    text = in_sparks_spelling(source, Slice(source.text, 0), scope.microseconds, scope.version_time).text
    told: dict[str, Any] = {}
    # a constant that has no value is the query's error, and Spark's optimiser knows
    if "error" not in scope.catalyst.query(text):
        told = scope.catalyst.evaluable(text)
    if "schema" not in told:
        raise refused
    fields = told["schema"]["fields"]
    try:
        schema = tuple(map(_field, fields))
    except UnsupportedType:
        raise refused from None
    spelled = tuple(_SPELLED.get(str(one["type"]), "{}") for one in fields)
    return Evaluable(text, timezone, schema, spelled, refused)


def _field(spark: Any) -> Field:
    """spark: a field of a parsed `StructType.json()`."""
    type_ = spark["type"]
    if str(type_) in _SPELLED:
        return Field(spark["name"], pa.string(), spark["nullable"])
    # a text's collation is said of the field
    around = collated({"type": "struct", "fields": [spark]})
    own = around.removeprefix(f"struct<`{spark['name']}`: ").removesuffix(">")
    return Field(spark["name"], kept_type(type_), spark["nullable"], collated=own)

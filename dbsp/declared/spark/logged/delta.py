"""Delta tables of a project: what they can't have, and their entries in the catalogue.

An entry names the format and the place, as Delta's own does; who reads the table asks its log. So Spark needs
Delta's jar to read it, and none to have it written.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.project.datasets import Dataset, shown
from dbsp.declared.tables.delta import DELTA

_NO_COLUMN = re.compile(r"[ ,;{}()\n\t=]")
NO_TYPE = re.compile(r"\b(INTERVAL|VARIANT|VOID|TIME\(|COLLATE|GEOGRAPHY|GEOMETRY)", re.IGNORECASE)
# that ask nothing of who writes
_PROPERTIES = ("delta.logretentionduration", "delta.deletedfileretentionduration")


def is_delta(dataset: Dataset) -> bool:
    """Whether its table is to be one."""
    return (dataset.format or "").lower() == DELTA


def check_delta(dataset: Dataset) -> None:
    """Raises Error without delta-rs, ProgramError for what its table can't have."""
    if importlib.util.find_spec("deltalake") is None:
        raise Error("Delta tables need deltalake: pip install 'dbsp[delta]'")
    for name, kind in dataset.columns.items():
        if _NO_COLUMN.search(name) or NO_TYPE.search(kind):
            raise ProgramError(
                f"{dataset.place}: {shown(dataset.name)}: a Delta table has no column '{name}' of {kind}; "
                "give it another name, or type"
            )
    for name in dataset.properties or {}:
        if name.lower().startswith("delta.") and name.lower() not in _PROPERTIES:
            raise ProgramError(
                f"{dataset.place}: not supported yet: {shown(dataset.name)} with the property {name}"
            )
    if dataset.clustered_by:
        raise ProgramError(
            f"{dataset.place}: not supported yet: CLUSTER BY of {shown(dataset.name)}, in Delta"
        )


def register(spark: SparkSession, dataset: Dataset, parts: tuple[str, str, str], columns: Any) -> None:
    """Make the table's entry. parts: of its name. columns: a StructType."""
    jvm: Any = spark._jvm
    _, database, name = parts
    catalogue = jvm.org.apache.spark.sql.catalyst.catalog
    identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, jvm.scala.Some(database))
    values = [
        identifier,
        catalogue.CatalogTableType.MANAGED(),
        catalogue.CatalogStorageFormat.empty(),
        columns,
    ]
    made = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.catalog.CatalogTable")
    for place in range(len(values) + 1, made.getConstructors()[0].getParameterCount() + 1):
        values.append(getattr(catalogue.CatalogTable, f"apply$default${place}")())
    table = catalogue.CatalogTable(*values)
    given = {
        "provider": jvm.scala.Some(DELTA),
        "comment": table.comment() if dataset.comment is None else jvm.scala.Some(dataset.comment),
        "properties": jvm.PythonUtils.toScalaMap(dict(dataset.properties or {})),
        "partitionColumnNames": jvm.PythonUtils.toSeq(list(dataset.partitioned_by)),
    }
    for place in range(len(values)):
        values[place] = given.get(str(table.productElementName(place)), values[place])
    known = spark._jsparkSession.sessionState().catalog().externalCatalog()
    known.createTable(catalogue.CatalogTable(*values), False)

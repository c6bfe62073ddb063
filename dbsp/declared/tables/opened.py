"""The table of a dataset, in the format that the project says."""

from __future__ import annotations

from urllib.parse import quote

import pyarrow as pa

from dbsp.declared.project.datasets import Dataset
from dbsp.declared.project.program import view_name
from dbsp.declared.tables.delta import DELTA, DeltaManifest
from dbsp.declared.tables.iceberg import IcebergManifest
from dbsp.declared.tables.manifest import Manifest
from dbsp.declared.tables.partitions import InFiles, Partitioning
from dbsp.state.records.places import Place


def manifest_of(folder: Place, dataset: Dataset, schema: pa.Schema) -> Manifest:
    """folder: of all tables' records. schema: of the dataset's rows."""
    name = quote(view_name(dataset.name), safe="")
    if dataset.is_sink:
        return Manifest(folder / "sinks", name)
    by, properties = tuple(dataset.partitioned_by), dataset.properties or {}
    tables = folder / "tables"
    if dataset.logged is not None:
        return IcebergManifest(
            *(tables, name),
            logged=dataset.logged,
            schema=schema,
            partitioned_by=by,
            properties=properties,
            comment=dataset.comment,
        )
    if (dataset.format or "").lower() == DELTA:
        return DeltaManifest(
            *(tables, name), schema=schema, partitioned_by=by, properties=properties, comment=dataset.comment
        )
    return Manifest(tables, name)


def partitioning_of(dataset: Dataset, schema: pa.Schema) -> Partitioning:
    """What its files have, and their directories."""
    made = Partitioning if dataset.logged is None else InFiles
    return made(schema, tuple(dataset.partitioned_by))

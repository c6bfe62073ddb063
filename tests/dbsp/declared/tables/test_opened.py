"""Which format a dataset's table has."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.declared.project.datasets import MATERIALIZED_VIEW, SINK, Logged
from dbsp.declared.tables.delta import DeltaManifest
from dbsp.declared.tables.iceberg import IcebergManifest
from dbsp.declared.tables.manifest import Manifest
from dbsp.declared.tables.opened import manifest_of, partitioning_of
from dbsp.declared.tables.partitions import InFiles, Partitioning
from tests.dbsp.declared.made import dataset

ICE = Logged("iceberg", "shop.m", (("catalog", "ice"),))


@pytest.mark.parametrize(
    ("given", "manifest", "partitioning", "folder"),
    [
        ({}, Manifest, Partitioning, "tables"),
        ({"format": "Delta"}, DeltaManifest, Partitioning, "tables"),
        ({"logged": ICE, "format": "iceberg"}, IcebergManifest, InFiles, "tables"),
        ({"kind": SINK, "format": "delta"}, Manifest, Partitioning, "sinks"),
    ],
)
def test_it_is_what_the_project_says(tmp_path, given, manifest, partitioning, folder):
    schema = pa.schema([("n", pa.int64()), ("k", pa.string())])
    made = replace(dataset("m", MATERIALIZED_VIEW), partitioned_by=["k"], **given)
    found = manifest_of(tmp_path, made, schema)
    assert (type(found), found.folder) == (manifest, tmp_path / folder)
    by = partitioning_of(made, schema)
    assert (type(by), by.columns) == (partitioning, ("k",))

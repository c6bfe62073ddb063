"""What of a refresh by Spark the next one can know without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Project, Table, shown
from dbsp.declared.project.program import Compiled, view_name
from dbsp.declared.remembered.catalogue import Catalogue
from dbsp.declared.remembered.logged import LoggedSource
from dbsp.declared.remembered.parquet_files import ParquetFiles
from dbsp.declared.remembered.remembered import Remembered
from dbsp.declared.remembered.source import Source, Unknown
from dbsp.declared.spark.catalog import Catalog
from dbsp.declared.spark.facts import is_usual, metastore_of, place_of
from dbsp.rows.incoming import arrow_schema


def remembered(spark: SparkSession, project: Project, compiled: Compiled) -> Remembered | None:
    """None where only Spark can say what a later run needs."""
    if compiled.refused or not is_usual(spark):
        return None
    try:
        catalogue = Catalogue(metastore_of(spark))
    except LookupError:
        return None
    sources = {}
    for table in project.tables:
        found = _source(spark, table, compiled, catalogue)
        if found is None:
            return None
        sources[table.relation] = found
    own = [dataset for dataset in project.stored if dataset.logged is None]
    if not all(map(Catalog(spark).is_there, own)):  # of a run that was asked for some
        return None
    places = {dataset.name: Catalog(spark).directory(dataset, ours=True) for dataset in own}
    bare = replace(project, definitions={})
    # last: what is said before was of this catalogue, which nobody else can write while it is open
    return Remembered(bare, compiled, catalogue, catalogue.digest(), sources, places)


def _source(spark: SparkSession, table: Table, compiled: Compiled, catalogue: Catalogue) -> Source | None:
    schema = arrow_schema(compiled.program.inputs[view_name(table.relation)])
    if table.logged is not None:
        name = shown(table.name)
        return LoggedSource(name, table.logged, schema, log_of(name, table.logged).schema())
    place = place_of(spark, table)
    if place is None or (place.catalogued and catalogue.metastore is None):
        return None
    first = min(place.files)
    inferred = (Path(first).name, list(place.files[first])) if place.inferred else None
    source = ParquetFiles(place.root, place.prefix, schema, inferred)
    try:
        return source if source.listed() == place.files else None
    except Unknown:
        return None

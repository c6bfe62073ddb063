"""Tables of the catalogue: made as `spark-pipelines` makes them, their columns brought up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error, ProgramError, did_you_mean
from dbsp.declared.project.datasets import Dataset, shown
from dbsp.declared.spark.logged.analysing import SPARK_CATALOG
from dbsp.declared.spark.logged.delta import check_delta, is_delta, register
from dbsp.declared.spark.logged.iceberg import check_iceberg
from dbsp.declared.spark.scala import columns_of, option, pairs
from dbsp.declared.tables.delta import DELTA
from dbsp.sql.text.tokens import quoted
from dbsp.state.records.places import local_path, scheme_of

PARQUET = "parquet"
OWN = "spark_catalog"
# types whose values are the names of directories in one way only
_SPELLED = ("TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "DATE", "BOOLEAN")


@dataclass(frozen=True)
class Catalog:
    """Of a classic session."""

    spark: SparkSession

    def check(self, dataset: Dataset) -> None:
        """Raises ProgramError for a format that isn't written, and for partitions by some types."""
        self._check_format(dataset)
        for by, names in (("PARTITIONED", dataset.partitioned_by), ("CLUSTERED", dataset.clustered_by)):
            for name in names:
                if name not in dataset.columns:
                    raise ProgramError(
                        f"{dataset.place}: {shown(dataset.name)} is {by} BY {name}, which it hasn't; "
                        f"columns: {', '.join(dataset.columns)}{did_you_mean(name, list(dataset.columns))}"
                    )
        for name in dataset.partitioned_by:
            kind = dataset.columns.get(name)
            if kind not in _SPELLED:
                raise ProgramError(
                    f"{dataset.place}: not supported yet: {shown(dataset.name)} is PARTITIONED BY {name}, "
                    f"a {kind}; partition by an integer, a text, a date or a boolean"
                )

    def _check_format(self, dataset: Dataset) -> None:
        if dataset.logged is not None:
            check_iceberg(dataset)
            return
        self._parts(dataset)
        form = dataset.format or self.spark.conf.get("spark.sql.sources.default") or PARQUET
        if form.lower() not in (PARQUET, DELTA) or (form.lower() == DELTA and dataset.format is None):
            raise ProgramError(
                f"{dataset.place}: not supported yet: {shown(dataset.name)} in the format '{form}'; "
                "what is written is parquet, delta where the definition says so (USING delta), and iceberg "
                "in a catalogue of its own"
            )
        if form.lower() == DELTA:
            check_delta(dataset)

    def in_order(self, parts: Sequence[str], wanted: Any) -> Any:
        """The columns that a table is to have, in the order of those that it has: new ones come last, as
        Spark alters it. parts: of its name. wanted: a StructType.
        """
        if parts[0] != OWN or not self._catalog().tableExists(identifier := self._identifier(parts)):
            return wanted
        metadata = self._catalog().getTableMetadata(identifier)
        # columns of partitions are last there, wherever the definition has them
        if metadata.partitionColumnNames().nonEmpty():
            return wanted
        had, names = columns_of(metadata.schema()), columns_of(wanted)
        ordered = self.spark._jvm.org.apache.spark.sql.types.StructType()
        for name in (*(one for one in had if one in names), *(one for one in names if one not in had)):
            ordered = ordered.add(wanted.apply(name))
        return ordered

    def directory(self, dataset: Dataset, ours: bool) -> Path:
        """Of the table's files; the table is made if it isn't there. ours: whether a step has written it.

        Raises Error.
        """
        try:
            if not self.is_there(dataset):
                self._create(dataset, ours)
            self._check_partitions(dataset)
            if not is_delta(dataset):  # whose columns are its log's
                self._bring_columns(dataset)
                self._bring_properties(dataset)
            return self._location(dataset)
        except PySparkException as error:
            said = str(error).strip().split("\n", 1)[0]
            raise Error(f"{dataset.place}: table {shown(dataset.name)}: {said}") from error

    def is_there(self, dataset: Dataset) -> bool:
        """Whether the catalogue has the table, whoever can read its format."""
        return bool(self._catalog().tableExists(self._identifier(self._parts(dataset))))

    def refresh(self, dataset: Dataset, repaired: bool) -> None:
        """Let the session see the files as they are. repaired: whether directories came or went."""
        if is_delta(dataset):  # whose readers ask its log
            return
        if repaired:
            self.spark.sql(f"MSCK REPAIR TABLE {dataset.name} SYNC PARTITIONS")
        self.spark.catalog.refreshTable(dataset.name)

    def _create(self, dataset: Dataset, ours: bool) -> None:
        if is_delta(dataset):
            register(self.spark, dataset, self._parts(dataset), self._parsed(dataset).asNullable())
            return
        clauses = [f"CREATE TABLE {dataset.name} ({dataset.ddl}) USING {PARQUET}"]
        if dataset.partitioned_by:
            clauses.append(f"PARTITIONED BY ({_listed(dataset.partitioned_by)})")
        if dataset.clustered_by:
            clauses.append(f"CLUSTER BY ({_listed(dataset.clustered_by)})")
        if dataset.comment is not None:
            clauses.append(f"COMMENT {_text(dataset.comment)}")
        if dataset.properties:
            clauses.append(f"TBLPROPERTIES ({_listed_pairs(dataset.properties)})")
        kept = self._set_aside(dataset) if ours else None
        try:
            self.spark.sql(" ".join(clauses))
        finally:
            if kept is not None:
                place = kept.with_name(kept.name.removeprefix(".dbsp-aside-"))
                if place.exists():
                    place.rmdir()
                kept.rename(place)

    def _set_aside(self, dataset: Dataset) -> Path | None:
        """A catalogue that ends with its process has forgotten the table; its files are there, and stay."""
        _, database, name = self._parts(dataset)
        uri = str(self.spark.catalog.getDatabase(database).locationUri)
        place = Path(_local(dataset, uri)) / name
        if not place.is_dir():
            return None
        aside = place.with_name(f".dbsp-aside-{name}")
        place.rename(aside)
        return aside

    def _bring_columns(self, dataset: Dataset) -> None:
        """Of a table that was made for another query."""
        wanted = self._parsed(dataset)
        metadata = self._metadata(dataset)
        if metadata.schema().json() == wanted.json():
            return
        kept = set(map(str, dataset.partitioned_by))
        data = self.spark._jvm.org.apache.spark.sql.types.StructType()
        for each in wanted.fields():
            if each.name() not in kept:
                data = data.add(each)
        _, database, name = self._parts(dataset)
        self._catalog().externalCatalog().alterTableSchema(database, name, data)

    def _bring_properties(self, dataset: Dataset) -> None:
        """Those that the project says, and its comment; others stay, as Spark leaves them."""
        metadata = self._metadata(dataset)
        others = dict((dataset.properties or {}).items() - pairs(metadata.properties()).items())
        if others:
            self.spark.sql(f"ALTER TABLE {dataset.name} SET TBLPROPERTIES ({_listed_pairs(others)})")
        if dataset.comment is not None and dataset.comment != (option(metadata.comment()) or ""):
            self.spark.sql(f"COMMENT ON TABLE {dataset.name} IS {_text(dataset.comment)}")

    def _parsed(self, dataset: Dataset) -> Any:
        """Its columns in the order of the catalogue: partitions last."""
        parser = self.spark._jsparkSession.sessionState().sqlParser()
        parsed = parser.parseTableSchema(dataset.ddl)
        ordered = self.spark._jvm.org.apache.spark.sql.types.StructType()
        last = list(dataset.partitioned_by)
        for each in parsed.fields():
            if each.name() not in last:
                ordered = ordered.add(each)
        for name in last:
            ordered = ordered.add(parsed.apply(name))
        return ordered

    def _check_partitions(self, dataset: Dataset) -> None:
        names = self._metadata(dataset).partitionColumnNames().mkString("\n")
        have = str(names).split("\n") if names else []
        if have != list(dataset.partitioned_by):
            raise ProgramError(
                f"{dataset.place}: {shown(dataset.name)} is PARTITIONED BY "
                f"({', '.join(dataset.partitioned_by)}), and its table by ({', '.join(have)}); "
                "drop the table to have it made anew"
            )

    def _location(self, dataset: Dataset) -> Path:
        return Path(_local(dataset, str(self._metadata(dataset).location().toString())))

    def _metadata(self, dataset: Dataset) -> Any:
        return self._catalog().getTableMetadata(self._identifier(self._parts(dataset)))

    def _identifier(self, parts: Sequence[str]) -> Any:
        jvm: Any = self.spark._jvm
        _, database, name = parts
        return jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, jvm.scala.Some(database))

    def _catalog(self) -> Any:
        return self.spark._jsparkSession.sessionState().catalog()

    def _parts(self, dataset: Dataset) -> tuple[str, str, str]:
        parser = self.spark._jsparkSession.sessionState().sqlParser()
        names = parser.parseMultipartIdentifier(dataset.name)
        catalog, database, name = (str(names.apply(i)) for i in range(3))
        if catalog != OWN:
            raise ProgramError(
                f"{dataset.place}: not supported yet: catalogue '{catalog}'; what is written is "
                f"{OWN}, and catalogues of Iceberg's (spark.sql.catalog.{catalog}: {SPARK_CATALOG})"
            )
        return catalog, database, name


def _local(dataset: Dataset, uri: str) -> str:
    if scheme_of(uri) is not None:
        raise ProgramError(
            f"{dataset.place}: not supported yet: {shown(dataset.name)} is at {uri}; "
            "what is written is a directory"
        )
    return local_path(uri)


def _listed(names: object) -> str:
    assert isinstance(names, (list, tuple))
    return ", ".join(quoted([name]) for name in names)


def _listed_pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{_text(name)} = {_text(value)}" for name, value in properties.items())


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

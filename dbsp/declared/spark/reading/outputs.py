"""A project's datasets and sinks, and the tables of others that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import (
    MATERIALIZED_VIEW,
    SINK,
    STREAMING_TABLE,
    TEMPORARY_VIEW,
    Dataset,
    Flow,
    Loaded,
    Table,
)
from dbsp.declared.project.streams import streamed
from dbsp.declared.spark.catalog import Catalog
from dbsp.declared.spark.logged.analysing import elsewhere, logged
from dbsp.declared.spark.reading.statements import Statements
from dbsp.declared.spark.scala import columns_of, each, option, pairs, spelled
from dbsp.sql.text.tokens import quoted


class Outputs:
    """names: the catalogue and the database of those that say none. loaded: what is read by paths, and
    schemas: theirs.
    """

    def __init__(
        self,
        spark: SparkSession,
        statements: Statements,
        names: tuple[str, str],
        loaded: Mapping[str, Loaded],
        schemas: Mapping[str, str],
    ) -> None:
        self._spark, self._statements, self._names = spark, statements, names
        self._loaded, self._schemas = loaded, schemas

    def dataset(self, name: str, output: Any, flows: list[Flow], schema: Any) -> Dataset:
        place = self._statements.place(output.origin())
        if output.getClass().getSimpleName() != "Table":
            if output.getClass().getSimpleName() != "TemporaryView":
                raise ProgramError(f"{place}: not supported yet: CREATE VIEW; write CREATE TEMPORARY VIEW")
            columns = flows[0].columns
            return Dataset(
                *(name, TEMPORARY_VIEW, place, tuple(flows), columns),
                expectations=self._statements.expectations(output.origin()),
            )
        assert schema is not None
        parts = [str(part) for part in each(output.identifier().nameParts())]
        given = option(output.specifiedSchema()) or schema.asNullable()
        listed = Catalog(self._spark).in_order(parts, given)
        columns = columns_of(listed)
        return Dataset(
            name,
            STREAMING_TABLE if output.isStreamingTable() else MATERIALIZED_VIEW,
            place,
            tuple(flows),
            columns,
            str(listed.toDDL()),
            option(output.comment()),
            pairs(output.properties()),
            [_as_column(str(one), columns) for one in each(option(output.partitionCols()) or ())],
            [_as_column(str(one), columns) for one in each(option(output.clusterCols()) or ())],
            option(output.format()),
            logged=elsewhere(self._spark, parts),
            expectations=self._statements.expectations(output.origin()),
        )

    def sink(self, sink: Any, flows: list[Flow], schema: Any, defined: Mapping[str, Any]) -> Dataset:
        """A name of a sink has no catalogue; here it has that of the pipeline, as a table of it would."""
        place = self._statements.place(sink.origin())
        given = spelled(sink.identifier())
        name = quoted([*self._names, given])
        if name in defined:
            raise ProgramError(f"{place}: not supported yet: sink {given}, as a dataset has that name, too")
        if any(dict(flow.columns) != columns_of(schema) for flow in flows):
            raise ProgramError(
                f"{place}: not supported yet: flows into sink {given} with other columns, or types, than "
                "each other; give each a sink of its own"
            )
        return Dataset(
            *(name, SINK, place, tuple(flows), columns_of(schema), str(schema.asNullable().toDDL())),
            format=str(sink.format()),
            options=pairs(sink.options()),
        )

    def tables(self, datasets: list[Dataset]) -> tuple[Table, ...]:
        read: dict[str, set[bool]] = {}
        for dataset in datasets:
            for flow in dataset.flows:
                for table in flow.tables:
                    by_stream = [True] if table in flow.streams else []
                    otherwise = [False] if table in flow.as_they_are else []
                    read.setdefault(table, set()).update(by_stream + otherwise)
        tables = []
        for name, ways in sorted(read.items()):
            loaded = self._loaded.get(name)
            if loaded is None:
                schema = self._spark.table(name)._jdf.schema().asNullable()
            else:  # known since its flow was defined
                schema = self._spark._jvm.org.apache.spark.sql.types.DataType.fromJson(self._schemas[name])
            ddl = str(schema.toDDL())
            found = logged(self._spark, next(streamed(f"STREAM {name}"))) if loaded is None else None
            tables += [Table(name, ddl, stream, found, len(ways) > 1, loaded) for stream in sorted(ways)]
        return tuple(tables)


def _as_column(name: str, columns: Iterable[str]) -> str:
    """A name as its column spells it; one of none as it is."""
    return next((column for column in columns if column.lower() == name.lower()), name)

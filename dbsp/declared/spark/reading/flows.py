"""A flow as Spark has resolved it: what it asks, reads and gives."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import Flow
from dbsp.declared.project.streams import is_read_as_it_is, streamed
from dbsp.declared.spark.changes import changes_of, of_definition
from dbsp.declared.spark.loading import FILES
from dbsp.declared.spark.python import Definition, Definitions
from dbsp.declared.spark.reading.graphs import is_of_changes
from dbsp.declared.spark.reading.statements import Statements
from dbsp.declared.spark.scala import columns_of, each, name_of, option, pairs, spelled
from dbsp.sql.text.tokens import quoted


class Flows:
    """catalog, database: of names that say none."""

    def __init__(
        self,
        spark: SparkSession,
        statements: Statements,
        definitions: Definitions,
        catalog: str,
        database: str,
    ) -> None:
        self._spark, self._statements, self._definitions = spark, statements, definitions
        self._catalog, self._database = catalog, database

    def read(self, flow: Any) -> tuple[str, Flow]:
        """With the name of the dataset that it is of."""
        context, result = flow.queryContext(), flow.funcResult()
        catalog = option(context.currentCatalog()) or self._catalog
        database = option(context.currentDatabase()) or self._database
        defined = self._definitions.found.get(spelled(flow.identifier()))
        changes = None
        external = set(map(name_of, each(result.usedExternalInputs())))
        if defined is None:
            query, place = self._statements.query(flow.origin())
            read = list(streamed(query))
            plain = {name for name in external if is_read_as_it_is(query, _last(name))}
        else:
            query = f"SELECT * FROM {quoted([definition_name(spelled(flow.identifier()), defined)])}"
            place = self._statements.place(flow.origin())
            read = [next(streamed(f"STREAM {name}")) for name in defined.streams]
            named = (next(streamed(f"STREAM {name}")) for name in defined.tables)
            external |= {_full(parts, catalog, database) for parts in named}
            unstreamed = (next(streamed(f"STREAM {name}")) for name in defined.as_they_are)
            plain = {_full(parts, catalog, database) for parts in unstreamed} & external
            self._check_datasets(flow, defined, set(map(name_of, each(result.inputs()))))
        if is_of_changes(flow):
            words = (
                of_definition(query, place)
                if defined is not None
                else self._statements.changes(flow.origin())
            )
            changes = changes_of(self._spark, flow, place, words)
        streams = frozenset(_full(parts, catalog, database) for parts in read)
        made = Flow(
            name_of(flow.identifier()),
            query,
            place,
            catalog,
            database,
            streams,
            frozenset(external),
            frozenset(map(name_of, each(result.inputs()))),
            columns_of(flow.schema()),
            {key: value for key, value in pairs(flow.sqlConf()).items() if key.startswith("spark.sql.")},
            changes,
            frozenset(external - streams | plain),
        )
        return name_of(flow.destinationIdentifier()), made

    def _check_datasets(self, flow: Any, defined: Definition, inputs: set[str]) -> None:
        """Raises ProgramError where Spark takes the table that an earlier run has left for a dataset that a
        text in SQL reads, as it does below a method that it analyses by itself.
        """
        for name in defined.datasets:
            parts = next(streamed(f"STREAM {name}"))
            if not {quoted(parts), _full(parts, self._catalog, self._database)} & inputs:
                place = self._statements.place(flow.origin())
                raise ProgramError(
                    f"{place}: not supported yet: a method of spark.sql(...) that needs "
                    f"the columns of '{'.'.join(parts)}', a dataset of the project; say in SQL what it does"
                )


def definition_name(name: str, definition: Definition) -> str:
    """By which queries read it; it says what it is, so that a program of that text is always the same."""
    return f"{name} in Python, {definition.digest}"


def _last(name: str) -> str:
    """Of a quoted name its last part, as it is."""
    return name[:-1].rpartition(".`")[2].lstrip("`").replace("``", "`")


def _full(parts: list[str], catalog: str, database: str) -> str:
    if len(parts) == len(("format", "path")) and parts[0].lower() in FILES and "/" in parts[1]:
        return quoted(parts)
    return quoted([catalog, database][: max(3 - len(parts), 0)] + parts)

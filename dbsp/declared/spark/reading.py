"""A project read by the classes of Spark that `spark-pipelines` itself has it read by.

Definitions are registered, names resolved, flows analysed and put in order, and the graph is validated, in
the JVM of a classic session. So whatever they refuse is refused here, in their words, and what they take
means what it means there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import (
    MATERIALIZED_VIEW,
    SINK,
    STREAMING_TABLE,
    TEMPORARY_VIEW,
    Clause,
    Dataset,
    Flow,
    Place,
    Project,
    Table,
    quoted,
)
from dbsp.declared.project.dialect import Read, read_text
from dbsp.declared.project.streams import is_read_as_it_is, streamed
from dbsp.declared.spark.catalog import Catalog
from dbsp.declared.spark.changes import changes_of, changes_start, in_words, of_definition
from dbsp.declared.spark.loading import FILES, load
from dbsp.declared.spark.logged.analysing import analysing, elsewhere, logged
from dbsp.declared.spark.modules.modules import Modules, modules_of
from dbsp.declared.spark.python import Definition, Definitions
from dbsp.declared.spark.said import said
from dbsp.declared.spark.scala import columns_of, each, name_of, option, pairs, spelled
from dbsp.declared.spark.spec import Spec
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, tokens


def read_project(spark: SparkSession, spec: Spec, modules: Modules | None = None) -> Project:
    """modules: what those in Python say; they are run unless given. Raises ProgramError."""
    files = spec.files()
    ran = modules_of(files, spec.root, spec.read.configuration) if modules is None else modules
    try:
        with analysing(spark) as loaded:
            return _Reading(spark, spec, loaded).read(files, ran)
    except PySparkException as error:
        raise ProgramError(said(str(error))) from error


class _Reading:
    """Of one project. loaded: where the schemas go of what is read by paths."""

    def __init__(self, spark: SparkSession, spec: Spec, loaded: dict[str, str]) -> None:
        self.spark, self.spec, self.loaded = spark, spec, loaded
        self.jvm: Any = spark._jvm
        self.pipelines = self.jvm.org.apache.spark.sql.pipelines
        self.session = spark._jsparkSession
        self.definitions = Definitions(spark)
        self.catalog = spec.read.catalog or spark.catalog.currentCatalog()
        self.database = spec.read.database or spark.catalog.currentDatabase()
        self.texts: dict[str, Read] = {}

    def read(self, files: list[Path], modules: Modules) -> Project:
        conf = self.jvm.PythonUtils.toScalaMap(dict(self.spec.read.configuration))
        context = self.definitions.create(self.catalog, self.database, conf)
        for file in files:
            if file.suffix == ".py":
                with self._of(file):
                    for command in modules[file]:
                        if not command.HasField("define_flow"):
                            self.definitions.handle(command)
                continue
            # a context of its own: what is in use ends with the file
            registration = self.pipelines.graph.SqlGraphRegistrationContext(context)
            with self._of(file):
                where = str(file.relative_to(self.spec.root))
                registration.processSqlFile(self._text(where).text, where, self.session)
        outputs = (*each(context.tables()), *each(context.views()))
        defining = {spelled(output.identifier()).lower() for output in outputs}
        for file in files:
            with self._of(file):
                for command in modules.get(file, ()):
                    if command.HasField("define_flow"):
                        self._define(command, file, defining)
                for name, loaded in self.definitions.loaded.items():
                    if name not in self.loaded:
                        self.loaded[name] = str(load(self.spark, loaded)._jdf.schema().asNullable().json())
        unresolved = context.toDataflowGraph()
        self._check_destinations(unresolved)
        with self._of_changes(unresolved):
            resolved = self.definitions.resolve(unresolved)
        self._check(resolved)
        graph = resolved.validate(False)
        self._check_sinks(graph)
        # several threads resolve flows, which come as they are done
        flows = sorted((self._flow(flow) for flow in each(graph.flows())), key=lambda pair: pair[1].name)
        by_target: dict[str, list[Flow]] = {}
        for target, flow in flows:
            by_target.setdefault(target, []).append(flow)
        defined = {
            name_of(output.identifier()): output for output in (*each(graph.tables()), *each(graph.views()))
        }
        sinks = {name_of(sink.identifier()): sink for sink in each(graph.sinks())}
        schemas = {name_of(pair._1()): pair._2() for pair in each(graph.inferSchemas(False))}
        datasets = [
            self._sink(sinks[name], by_target[name], schemas[name], defined)
            if name in sinks
            else self._dataset(name, defined[name], by_target[name], schemas.get(name))
            for name in by_target
        ]
        plans = {_definition(name, one): one.plan for name, one in self.definitions.found.items()}
        return Project(
            *(self.spec.name, self.spec.root, _in_order(datasets), self._tables(datasets), plans),
            *(self.catalog, self.database),
        )

    def _define(self, command: Any, file: Path, datasets: set[str]) -> None:
        """A flow of a module."""
        try:
            self.definitions.handle(command, datasets)
        except ProgramError as error:
            line = command.define_flow.source_code_location.line_number or 1
            raise ProgramError(f"{file.relative_to(self.spec.root)}:{line}:1: {error}") from error

    @contextmanager
    def _of(self, file: Path) -> Iterator[None]:
        """What Spark refuses is of that file, which it doesn't say."""
        try:
            yield
        except PySparkException as error:
            where = file.relative_to(self.spec.root)
            raise ProgramError(f"{where}: {said(str(error))}") from error

    @contextmanager
    def _of_changes(self, graph: Any) -> Iterator[None]:
        """What Spark refuses of the columns of AUTO CDC is of such a flow, and it doesn't say of which."""
        try:
            yield
        except PySparkException as error:
            if "[AUTOCDC_" not in str(error):
                raise
            places = [str(self._place(flow.origin())) for flow in each(graph.flows()) if _is_of_changes(flow)]
            raise ProgramError(f"{' or '.join(sorted(places))}: {said(str(error))}") from error

    def _check_destinations(self, graph: Any) -> None:
        """Raises ProgramError for a flow into nothing, and AUTO CDC into a sink, as Spark's run does."""
        sinks = {spelled(sink.identifier()) for sink in each(graph.sinks())}
        defined = {spelled(output.identifier()) for output in (*each(graph.tables()), *each(graph.views()))}
        for flow in each(graph.flows()):
            into, place = spelled(flow.destinationIdentifier()), self._place(flow.origin())
            name = into.rpartition(".")[2]
            if into not in sinks | defined:
                raise ProgramError(
                    f"{place}: flow {spelled(flow.identifier())} goes into {into}, which the project doesn't "
                    f"define; define it by CREATE STREAMING TABLE {name}, or "
                    f'dp.create_streaming_table("{name}")'
                )
            if into in sinks and _is_of_changes(flow):
                raise ProgramError(
                    f"{place}: AUTO CDC into sink {into}, which takes rows and takes none back; its target "
                    f'is a streaming table: dp.create_streaming_table("{name}")'
                )

    def _check_sinks(self, graph: Any) -> None:
        """Raises ProgramError for a flow into a sink that reads no stream: Spark's run fails in a cast."""
        sinks = {name_of(sink.identifier()) for sink in each(graph.sinks())}
        for flow in each(graph.flows()):
            into = flow.destinationIdentifier()
            if name_of(into) in sinks and str(flow.getClass().getSimpleName()) != "StreamingFlow":
                raise ProgramError(
                    f"{self._place(flow.origin())}: sink {spelled(into)} takes the rows of streams, and this "
                    "flow reads none; read by spark.readStream.table(...), not spark.table(...)"
                )

    def _check(self, graph: Any) -> None:
        """Say of a flow that can't be analysed why, which the graph's own error leaves to the log."""
        for flow in each(graph.resolutionFailedFlows()):
            for failure in each(flow.failure()):
                name = failure.getClass().getSimpleName()
                if name not in ("UnresolvedDatasetException", "LoadTableException"):
                    why = said(str(failure.getMessage()))
                    raise ProgramError(f"{self._place(flow.origin())}: {spelled(flow.identifier())}: {why}")

    def _flow(self, flow: Any) -> tuple[str, Flow]:
        """With the name of the dataset that it is of."""
        context, result = flow.queryContext(), flow.funcResult()
        catalog = option(context.currentCatalog()) or self.catalog
        database = option(context.currentDatabase()) or self.database
        defined = self.definitions.found.get(spelled(flow.identifier()))
        changes = None
        external = set(map(name_of, each(result.usedExternalInputs())))
        if defined is None:
            query, place = self._query(flow.origin())
            read = list(streamed(query))
            plain = {name for name in external if is_read_as_it_is(query, _last(name))}
        else:
            query = f"SELECT * FROM {quoted([_definition(spelled(flow.identifier()), defined)])}"
            place = self._place(flow.origin())
            read = [next(streamed(f"STREAM {name}")) for name in defined.streams]
            named = (next(streamed(f"STREAM {name}")) for name in defined.tables)
            external |= {_full(parts, catalog, database) for parts in named}
            unstreamed = (next(streamed(f"STREAM {name}")) for name in defined.as_they_are)
            plain = {_full(parts, catalog, database) for parts in unstreamed} & external
            self._check_datasets(flow, defined, set(map(name_of, each(result.inputs()))))
        if _is_of_changes(flow):
            words = of_definition(query, place) if defined is not None else self._in_words(flow.origin())
            changes = changes_of(self.spark, flow, place, words)
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
            if not {quoted(parts), _full(parts, self.catalog, self.database)} & inputs:
                raise ProgramError(
                    f"{self._place(flow.origin())}: not supported yet: a method of spark.sql(...) that needs "
                    f"the columns of '{'.'.join(parts)}', a dataset of the project; say in SQL what it does"
                )

    def _query(self, origin: Any) -> tuple[str, Place]:
        """The query of a statement, and where it begins."""
        statement = str(option(origin.sqlText()))
        start = _query_start(statement, self._place(origin))
        return statement[start:], self._place(origin, statement[:start])

    def _in_words(self, origin: Any) -> tuple[Clause, Clause, Clause]:
        """What the statement of an AUTO CDC flow says."""
        statement = str(option(origin.sqlText()))
        return in_words(statement, lambda at: self._place(origin, statement[:at]))

    def _text(self, file: str) -> Read:
        """Of a file in SQL."""
        if file not in self.texts:
            self.texts[file] = read_text((self.spec.root / file).read_text(encoding="utf-8"), file)
        return self.texts[file]

    def _place(self, origin: Any, before: str = "") -> Place:
        """before: what of the statement comes before it."""
        file, statement = str(option(origin.filePath())), str(option(origin.sqlText()) or "")
        if not statement:  # of a function in Python
            path = Path(file)
            shorter = path.relative_to(self.spec.root) if path.is_relative_to(self.spec.root) else path
            return Place(str(shorter), int(option(origin.line()) or 1), 1)
        text = self._text(file).text
        return Place(file, *as_it_is(text, file).position(self._start(origin, text, statement) + len(before)))

    def _start(self, origin: Any, text: str, statement: str) -> int:
        """Where a statement begins in its file's text."""
        return max(text.find(statement, max(int(option(origin.startPosition()) or 0) - 1, 0)), 0)

    def _expectations(self, origin: Any) -> tuple[Clause, ...]:
        """Of the dataset that a statement defines."""
        statement = str(option(origin.sqlText()) or "")
        if not statement:
            return ()
        read = self._text(str(option(origin.filePath())))
        start = self._start(origin, read.text, statement)
        return read.within(start, start + len(statement))

    def _dataset(self, name: str, output: Any, flows: list[Flow], schema: Any) -> Dataset:
        place = self._place(output.origin())
        if output.getClass().getSimpleName() != "Table":
            if output.getClass().getSimpleName() != "TemporaryView":
                raise ProgramError(f"{place}: not supported yet: CREATE VIEW; write CREATE TEMPORARY VIEW")
            columns = flows[0].columns
            return Dataset(
                *(name, TEMPORARY_VIEW, place, tuple(flows), columns),
                expectations=self._expectations(output.origin()),
            )
        assert schema is not None
        parts = [str(part) for part in each(output.identifier().nameParts())]
        given = option(output.specifiedSchema()) or schema.asNullable()
        listed = Catalog(self.spark).in_order(parts, given)
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
            logged=elsewhere(self.spark, parts),
            expectations=self._expectations(output.origin()),
        )

    def _sink(self, sink: Any, flows: list[Flow], schema: Any, defined: Mapping[str, Any]) -> Dataset:
        """A name of a sink has no catalogue; here it has that of the pipeline, as a table of it would."""
        place = self._place(sink.origin())
        given = spelled(sink.identifier())
        name = quoted([self.catalog, self.database, given])
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

    def _tables(self, datasets: list[Dataset]) -> tuple[Table, ...]:
        read: dict[str, set[bool]] = {}
        for dataset in datasets:
            for flow in dataset.flows:
                for table in flow.tables:
                    by_stream = [True] if table in flow.streams else []
                    otherwise = [False] if table in flow.as_they_are else []
                    read.setdefault(table, set()).update(by_stream + otherwise)
        tables = []
        for name, ways in sorted(read.items()):
            loaded = self.definitions.loaded.get(name)
            if loaded is None:
                schema = self.spark.table(name)._jdf.schema().asNullable()
            else:  # known since its flow was defined
                schema = self.jvm.org.apache.spark.sql.types.DataType.fromJson(self.loaded[name])
            ddl = str(schema.toDDL())
            found = logged(self.spark, next(streamed(f"STREAM {name}"))) if loaded is None else None
            tables += [Table(name, ddl, stream, found, len(ways) > 1, loaded) for stream in sorted(ways)]
        return tuple(tables)


def _query_start(statement: str, place: Place) -> int:
    """Where in a CREATE its query begins: after AS, or of a flow after BY NAME; what AUTO CDC reads."""
    cursor = Cursor(source := as_it_is(statement, str(place)), tokens(source))
    depth, flow = 0, False
    while cursor.next.kind != "end":
        token = cursor.take()
        depth += (token.text == "(") - (token.text == ")")
        flow = flow or (token.upper == "FLOW" and depth == 0)
        if depth == 0 and flow and token.upper == "AUTO" and cursor.sees("CDC"):
            return changes_start(statement)
        if depth == 0 and ((token.upper == "AS" and not flow) or (token.upper == "NAME" and flow)):
            return cursor.next.start
    raise ProgramError(f"{place}: not supported yet: this form of a definition")


def _definition(name: str, definition: Definition) -> str:
    """By which queries read it; it says what it is, so that a program of that text is always the same."""
    return f"{name} in Python, {definition.digest}"


def _in_order(datasets: list[Dataset]) -> tuple[Dataset, ...]:
    """Each after those that it reads: the order of flows isn't that of datasets with several."""
    by_name = {dataset.name: dataset for dataset in datasets}
    read = {
        dataset.name: sorted({name for flow in dataset.flows for name in flow.inputs} & by_name.keys())
        for dataset in datasets
    }
    return tuple(by_name[name] for name in TopologicalSorter(read).static_order())


def _is_of_changes(flow: Any) -> bool:
    """Whether it is one of AUTO CDC, resolved or not."""
    return str(flow.getClass().getSimpleName()).startswith("AutoCdc")


def _as_column(name: str, columns: Iterable[str]) -> str:
    """A name as its column spells it; one of none as it is."""
    return next((column for column in columns if column.lower() == name.lower()), name)


def _last(name: str) -> str:
    """Of a quoted name its last part, as it is."""
    return name[:-1].rpartition(".`")[2].lstrip("`").replace("``", "`")


def _full(parts: list[str], catalog: str, database: str) -> str:
    if len(parts) == len(("format", "path")) and parts[0].lower() in FILES and "/" in parts[1]:
        return quoted(parts)
    return quoted([catalog, database][: max(3 - len(parts), 0)] + parts)

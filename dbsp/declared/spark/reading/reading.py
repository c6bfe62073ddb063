"""A project read by the classes of Spark that `spark-pipelines` itself has it read by.

Definitions are registered, names resolved, flows analysed and put in order, and the graph is validated, in
the JVM of a classic session. So whatever they refuse is refused here, in their words, and what they take
means what it means there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import Dataset, Flow, Project
from dbsp.declared.spark.loading import load
from dbsp.declared.spark.logged.analysing import analysing
from dbsp.declared.spark.modules.modules import Modules, modules_of
from dbsp.declared.spark.python import Definitions
from dbsp.declared.spark.reading.flows import Flows, definition_name
from dbsp.declared.spark.reading.graphs import (
    check_destinations,
    check_resolved,
    check_sinks,
    refused_changes,
)
from dbsp.declared.spark.reading.outputs import Outputs
from dbsp.declared.spark.reading.statements import Statements
from dbsp.declared.spark.said import said
from dbsp.declared.spark.scala import each, name_of, spelled
from dbsp.declared.spark.spec import Spec


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
        self.definitions = Definitions(spark)
        self.statements = Statements(spec.root)
        self.catalog = spec.read.catalog or spark.catalog.currentCatalog()
        self.database = spec.read.database or spark.catalog.currentDatabase()
        names = (self.catalog, self.database)
        self.outputs = Outputs(spark, self.statements, names, self.definitions.loaded, loaded)

    def read(self, files: list[Path], modules: Modules) -> Project:
        graph = self._validated(self._registered(files, modules))
        datasets = self._datasets(graph)
        plans = {definition_name(name, one): one.plan for name, one in self.definitions.found.items()}
        tables = self.outputs.tables(datasets)
        return Project(
            *(self.spec.name, self.spec.root, _in_order(datasets), tables, plans, self.catalog, self.database)
        )

    def _registered(self, files: list[Path], modules: Modules) -> Any:
        """The graph of what the files define. Flows come last: what they read is then known."""
        conf = self.jvm.PythonUtils.toScalaMap(dict(self.spec.read.configuration))
        context = self.definitions.create(self.catalog, self.database, conf)
        for file in files:
            with self._of(file):
                if file.suffix == ".py":
                    for command in modules[file]:
                        if not command.HasField("define_flow"):
                            self.definitions.handle(command)
                else:
                    self._register(file, context)
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
        return context.toDataflowGraph()

    def _register(self, file: Path, context: Any) -> None:
        """What a file in SQL defines. It has a context of its own: what is in use ends with the file."""
        pipelines = self.jvm.org.apache.spark.sql.pipelines
        where = str(file.relative_to(self.spec.root))
        registration = pipelines.graph.SqlGraphRegistrationContext(context)
        registration.processSqlFile(self.statements.text(where).text, where, self.spark._jsparkSession)

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

    def _validated(self, unresolved: Any) -> Any:
        check_destinations(self.statements, unresolved)
        with refused_changes(self.statements, unresolved):
            resolved = self.definitions.resolve(unresolved)
        check_resolved(self.statements, resolved)
        graph = resolved.validate(False)
        check_sinks(self.statements, graph)
        return graph

    def _datasets(self, graph: Any) -> list[Dataset]:
        reading = Flows(self.spark, self.statements, self.definitions, self.catalog, self.database)
        # several threads resolve flows, which come as they are done
        flows = sorted((reading.read(flow) for flow in each(graph.flows())), key=lambda pair: pair[1].name)
        by_target: dict[str, list[Flow]] = {}
        for target, flow in flows:
            by_target.setdefault(target, []).append(flow)
        defined = {
            name_of(output.identifier()): output for output in (*each(graph.tables()), *each(graph.views()))
        }
        sinks = {name_of(sink.identifier()): sink for sink in each(graph.sinks())}
        schemas = {name_of(pair._1()): pair._2() for pair in each(graph.inferSchemas(False))}
        return [
            self.outputs.sink(sinks[name], by_target[name], schemas[name], defined)
            if name in sinks
            else self.outputs.dataset(name, defined[name], by_target[name], schemas.get(name))
            for name in by_target
        ]


def _in_order(datasets: list[Dataset]) -> tuple[Dataset, ...]:
    """Each after those that it reads: the order of flows isn't that of datasets with several."""
    by_name = {dataset.name: dataset for dataset in datasets}
    read = {
        dataset.name: sorted({name for flow in dataset.flows for name in flow.inputs} & by_name.keys())
        for dataset in datasets
    }
    return tuple(by_name[name] for name in TopologicalSorter(read).static_order())

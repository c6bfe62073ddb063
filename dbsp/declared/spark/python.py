"""Definitions in Python: modules that run, and functions whose DataFrames are plans.

PySpark's own decorators and its own registry make of a project's functions what they would send to a server
of Spark Connect; it is handled in the JVM that runs already, by the class that a server has for it. So a
DataFrame is a plan, not analysed yet: reading a dataset by its name needs no dataset to be there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.changes import DELETES, SEQUENCE

_REMOTE = "SPARK_CONNECT_MODE_ENABLED"  # by which functions of columns know whose plans they make
# of a client, what would ask the server
_ASKING = ("_analyze", "_execute", "_execute_and_fetch", "_execute_and_fetch_as_iterator", "config")


@dataclass(frozen=True)
class Definition:
    """plan: of the JVM, not analysed. digest: of what it says. streams: the relations that it streams."""

    plan: Any
    digest: str
    streams: tuple[str, ...]


@dataclass
class Definitions:
    """The graph of a project, and what its functions have given, by the flow's name."""

    spark: SparkSession
    root: Path
    registering: Any = None
    graph: str = ""
    found: dict[str, Definition] = field(default_factory=dict)

    def create(self, catalog: str, database: str, conf: Any) -> Any:
        """An empty graph."""
        context = self.spark.sparkContext
        arguments = context._gateway.new_array(context._jvm.java.lang.Object, 1)
        arguments[0] = self.spark._jsparkSession
        self.registering = _class(context._gateway).newInstance(arguments)
        self.graph = self.registering.create(catalog, database, conf)
        return self.registering.graph(self.graph)

    def load(self, file: Path) -> None:
        """Run a module, and register what it defines. Raises ProgramError."""
        from pyspark.pipelines.block_session_mutations import block_session_mutations  # noqa: PLC0415
        from pyspark.pipelines.graph_element_registry import graph_element_registration_context  # noqa: PLC0415
        from pyspark.pipelines.spark_connect_graph_element_registry import (  # noqa: PLC0415
            SparkConnectGraphElementRegistry,
        )

        specified = importlib.util.spec_from_file_location(file.stem, file)
        assert specified is not None
        assert specified.loader is not None
        module = importlib.util.module_from_spec(specified)
        with _remote() as session:
            module.__dict__["spark"] = session
            registry = SparkConnectGraphElementRegistry(session, self.graph)
            registry._client = _Client(registry._client, self)
            try:
                with graph_element_registration_context(registry), block_session_mutations():
                    specified.loader.exec_module(module)
            except (ProgramError, PySparkException):
                raise
            except Exception as error:  # the author's own code
                where = file.relative_to(self.root)
                raise ProgramError(f"{where}:1:1: {type(error).__name__}: {error}") from error

    def handle(self, command: Any) -> None:
        """What would be sent. Raises what the server would."""
        self.registering.handle(command.SerializeToString())
        if command.HasField("define_flow"):
            said, relation = _relation(command.define_flow)
            last = self.registering.graph(self.graph).flows().last()
            parts = last.identifier().nameParts()
            name = ".".join(str(parts.apply(i)) for i in range(parts.size()))
            plan = self.registering.plan(relation.SerializeToString())
            streams = tuple(
                read.named_table.unparsed_identifier for read in _reads(relation) if read.is_streaming
            )
            self.found[name] = Definition(plan, _digest(said), streams)


@dataclass
class _Client:
    """The client of a session, but for what it would send."""

    client: Any
    definitions: Definitions

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def execute_command(self, command: Any) -> None:
        """Raises what the server would."""
        self.definitions.handle(command.pipeline_command)


@cache
def _class(gateway: Any) -> Any:
    """The constructor of Registering.java, compiled once in a JVM."""
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((Path(__file__).parent / "Registering.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("Registering").getConstructors()[0]


@contextmanager
def _remote() -> Iterator[Any]:
    """A session of Spark Connect without a server, which makes plans. Asked more, it raises ProgramError."""
    from pyspark.sql.connect.session import SparkSession as Connect  # noqa: PLC0415

    before = os.environ.get(_REMOTE)
    os.environ[_REMOTE] = "1"
    try:
        session = Connect("sc://localhost:1")
        for name in _ASKING:
            setattr(session.client, name, _asked)
        yield session
    finally:
        if before is None:
            del os.environ[_REMOTE]
        else:
            os.environ[_REMOTE] = before


def _asked(*_: object, **__: object) -> None:
    raise ProgramError(
        "not supported yet: a definition that asks Spark while it is read, as spark.sql(...), df.columns or "
        "df.collect() do; return a DataFrame that is made of spark.read, spark.table, and its methods"
    )


def _relation(flow: Any) -> tuple[Any, Any]:
    """What is said of a flow, and its rows: of AUTO CDC its source's, each with its place in the sequence and
    whether it is a delete.
    """
    if not flow.HasField("auto_cdc_flow_details"):
        return (flow.relation_flow_details.relation,) * 2
    from pyspark.sql.connect.proto import Relation  # noqa: PLC0415

    said, relation = flow.auto_cdc_flow_details, Relation()
    relation.project.input.read.named_table.unparsed_identifier = said.source
    relation.project.input.read.is_streaming = True
    relation.project.expressions.add().unresolved_star.SetInParent()
    for name, given in ((SEQUENCE, said.sequence_by), (DELETES, said.apply_as_deletes)):
        alias = relation.project.expressions.add().alias
        alias.name.append(name.strip("`"))
        alias.expr.CopyFrom(given)
    if not said.HasField("apply_as_deletes"):
        relation.project.expressions[-1].alias.expr.literal.boolean = False
    return said, relation


def _reads(message: Any) -> Iterator[Any]:
    """Every Read of a relation."""
    for _, value in message.ListFields():
        for one in _messages(value):
            if one.DESCRIPTOR.name == "Read":
                yield one
            yield from _reads(one)


def _digest(relation: Any) -> str:
    """Of a relation, whatever numbers its parts have in this process, and whichever lines have made them."""
    copied = type(relation)()
    copied.CopyFrom(relation)
    _renumber(copied, {})
    return hashlib.sha256(copied.SerializeToString(deterministic=True)).hexdigest()[:16]


def _renumber(message: Any, numbers: dict[int, int]) -> None:
    for descriptor, value in message.ListFields():
        if descriptor.name == "plan_id":
            message.plan_id = numbers.setdefault(value, len(numbers))
        elif descriptor.name == "origin":
            message.ClearField("origin")
        for one in _messages(value):
            _renumber(one, numbers)


def _messages(value: Any) -> list[Any]:
    """The messages that a field holds."""
    if hasattr(value, "ListFields"):
        return [value]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return []
    values = value.values() if hasattr(value, "values") else value
    return [one for one in values if hasattr(one, "ListFields")]

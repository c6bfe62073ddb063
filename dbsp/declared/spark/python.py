"""Definitions in Python: what modules say (`modules.py`), handed to the JVM.

It is handled by the class that a server of Spark Connect has for it, in the JVM that runs already. So a
DataFrame is a plan, not analysed yet: reading a dataset by its name needs no dataset to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dbsp.declared.project.changes import DELETES, SEQUENCE
from dbsp.declared.spark.modules import digest_of, messages_in


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

    def resolve(self, graph: Any) -> Any:
        """A graph with its flows analysed, by this session."""
        return self.registering.resolve(graph)

    def handle(self, command: Any) -> None:
        """A command of one of its modules. Raises what the server would."""
        name = command.WhichOneof("command_type")
        getattr(command, name).dataflow_graph_id = self.graph
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
            self.found[name] = Definition(plan, digest_of(said)[:16], streams)


@cache
def _class(gateway: Any) -> Any:
    """The constructor of Registering.java, compiled once in a JVM."""
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((Path(__file__).parent / "Registering.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("Registering").getConstructors()[0]


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
        for one in messages_in(value):
            if one.DESCRIPTOR.name == "Read":
                yield one
            yield from _reads(one)

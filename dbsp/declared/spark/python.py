"""Definitions in Python: what modules say (`modules.py`), handed to the JVM.

It is handled by the class that a server of Spark Connect has for it, in the JVM that runs already. So a
DataFrame is a plan, not analysed yet: reading a dataset by its name needs no dataset to be there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.declared.project.changes import DELETES, SEQUENCE
from dbsp.declared.project.datasets import Loaded
from dbsp.declared.spark.loading import name_loaded
from dbsp.declared.spark.modules.messages import digest_of, messages_of
from dbsp.declared.spark.modules.planning import no_query
from dbsp.declared.spark.said import HIDDEN
from dbsp.sql.catalyst.jvm.classes import class_loader
from dbsp.sql.text.tokens import quoted

_SOURCE = Path(__file__).with_name("Registering.java")


@dataclass(frozen=True)
class Definition:
    """plan: of the JVM, not analysed. digest: of what it says. streams: the relations that it streams;
    as_they_are: those that it reads otherwise.

    tables: those of the catalogue that it reads. Spark names none that a part is of which it has analysed.
    datasets: those of the project that its texts in SQL read.
    """

    plan: Any
    digest: str
    streams: tuple[str, ...]
    tables: tuple[str, ...] = ()
    as_they_are: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()


@dataclass
class Definitions:
    """The graph of a project, and what its functions have given, by the flow's name.

    before: what names may leave out, with its dots. loaded: what is read by a path and options, by its name.
    """

    spark: SparkSession
    registering: Any = None
    graph: str = ""
    before: tuple[str, ...] = ()
    found: dict[str, Definition] = field(default_factory=dict)
    loaded: dict[str, Loaded] = field(default_factory=dict)

    def create(self, catalog: str, database: str, conf: Any) -> Any:
        """An empty graph."""
        context = self.spark.sparkContext
        arguments = context._gateway.new_array(context._jvm.java.lang.Object, 1)
        arguments[0] = self.spark._jsparkSession
        registering = class_loader(context._gateway, _SOURCE).loadClass("dbsp.Registering")
        self.registering = registering.getConstructors()[0].newInstance(arguments)
        self.before = (f"{catalog.lower()}.", f"{catalog.lower()}.{database.lower()}.")
        self.graph = self.registering.create(catalog, database, conf)
        return self.registering.graph(self.graph)

    def resolve(self, graph: Any) -> Any:
        """A graph with its flows analysed, by this session."""
        return self.registering.resolve(graph)

    def handle(self, command: Any, datasets: Collection[str] = ()) -> None:
        """A command of one of its modules. Raises what the server would.

        datasets: the names of those of the project, in full and in small letters.
        """
        sent = type(command)()
        sent.CopyFrom(command)
        getattr(sent, sent.WhichOneof("command_type")).dataflow_graph_id = self.graph
        if not sent.HasField("define_flow"):
            self.registering.handle(sent.SerializeToString())
            return
        said, relation = _relation(sent.define_flow)
        digest = digest_of(said)[:16]
        reads = list(messages_of(relation, "Read"))
        for read in reads:
            name_loaded(read, self.loaded)
        tables = [*self._named(reads, datasets), *self._in_texts(relation)]
        self.registering.handle(sent.SerializeToString())
        name = _spelled(self.registering.graph(self.graph).flows().last().identifier().nameParts())
        plan = self.registering.plan(relation.SerializeToString())
        own = [one for one in tables if self._is_one(one.name, datasets)]
        self.found[name] = Definition(
            plan,
            digest,
            tuple(one.name for one in tables if one.streamed),
            tuple(one.name for one in tables if one not in own),
            tuple(one.name for one in tables if not one.streamed),
            tuple(one.name for one in own if one.in_text),
        )

    def _named(self, reads: Sequence[Any], datasets: Collection[str]) -> Iterator[_Relation]:
        """What is read by its name; a dataset has a name then that Registering.java takes back."""
        for read in reads:
            if read.HasField("named_table"):
                written = read.named_table.unparsed_identifier
                yield _Relation(written, read.is_streaming, in_text=False)
                if self._is_one(written, datasets):
                    read.named_table.unparsed_identifier = f"`{HIDDEN}`.{written}"

    def _in_texts(self, relation: Any) -> Iterator[_Relation]:
        """What its texts in SQL read. Raises ProgramError for one that is no query."""
        given = {alias.alias.lower() for alias in messages_of(relation, "SubqueryAlias")}
        for sql in messages_of(relation, "SQL"):
            for kind, *parts in map(list, self.registering.relations(sql.query)):
                if kind == "c":  # which its first word didn't tell
                    raise no_query(parts[0])
                if len(parts) > 1 or parts[0].lower() not in given:
                    yield _Relation(quoted(parts), kind == "s", in_text=True)

    def _is_one(self, written: str, datasets: Collection[str]) -> bool:
        """Whether it is the name of a dataset, which may leave out what is in use."""
        parser = self.spark._jsparkSession.sessionState().sqlParser()
        try:
            name = _spelled(parser.parseMultipartIdentifier(written)).lower()
        except PySparkException:  # which is said where it is read
            return False
        return any(f"{before}{name}" in datasets for before in ("", *self.before))


@dataclass(frozen=True)
class _Relation:
    """in_text: whether a text in SQL reads it."""

    name: str
    streamed: bool
    in_text: bool


def _spelled(parts: Any) -> str:
    return ".".join(str(parts.apply(i)) for i in range(parts.size()))


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

"""What is wrong with a graph of flows, said of the flow that it is of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException

from dbsp.circuits.errors import ProgramError
from dbsp.declared.spark.reading.statements import Statements
from dbsp.declared.spark.said import said
from dbsp.declared.spark.scala import each, name_of, spelled


def is_of_changes(flow: Any) -> bool:
    """Whether it is one of AUTO CDC, resolved or not."""
    return str(flow.getClass().getSimpleName()).startswith("AutoCdc")


@contextmanager
def refused_changes(statements: Statements, graph: Any) -> Iterator[None]:
    """What Spark refuses of the columns of AUTO CDC is of such a flow, and it doesn't say of which."""
    try:
        yield
    except PySparkException as error:
        if "[AUTOCDC_" not in str(error):
            raise
        places = [str(statements.place(flow.origin())) for flow in each(graph.flows()) if is_of_changes(flow)]
        raise ProgramError(f"{' or '.join(sorted(places))}: {said(str(error))}") from error


def check_destinations(statements: Statements, graph: Any) -> None:
    """Raises ProgramError for a flow into nothing, and AUTO CDC into a sink, as Spark's run does."""
    sinks = {spelled(sink.identifier()) for sink in each(graph.sinks())}
    defined = {spelled(output.identifier()) for output in (*each(graph.tables()), *each(graph.views()))}
    for flow in each(graph.flows()):
        into, place = spelled(flow.destinationIdentifier()), statements.place(flow.origin())
        name = into.rpartition(".")[2]
        if into not in sinks | defined:
            raise ProgramError(
                f"{place}: flow {spelled(flow.identifier())} goes into {into}, which the project doesn't "
                f"define; define it by CREATE STREAMING TABLE {name}, or "
                f'dp.create_streaming_table("{name}")'
            )
        if into in sinks and is_of_changes(flow):
            raise ProgramError(
                f"{place}: AUTO CDC into sink {into}, which takes rows and takes none back; its target "
                f'is a streaming table: dp.create_streaming_table("{name}")'
            )


def check_sinks(statements: Statements, graph: Any) -> None:
    """Raises ProgramError for a flow into a sink that reads no stream: Spark's run fails in a cast."""
    sinks = {name_of(sink.identifier()) for sink in each(graph.sinks())}
    for flow in each(graph.flows()):
        into = flow.destinationIdentifier()
        if name_of(into) in sinks and str(flow.getClass().getSimpleName()) != "StreamingFlow":
            raise ProgramError(
                f"{statements.place(flow.origin())}: sink {spelled(into)} takes the rows of streams, and "
                "this flow reads none; read by spark.readStream.table(...), not spark.table(...)"
            )


def check_resolved(statements: Statements, graph: Any) -> None:
    """Say of a flow that can't be analysed why, which the graph's own error leaves to the log."""
    for flow in each(graph.resolutionFailedFlows()):
        for failure in each(flow.failure()):
            name = failure.getClass().getSimpleName()
            if name not in ("UnresolvedDatasetException", "LoadTableException"):
                why = said(str(failure.getMessage()))
                raise ProgramError(f"{statements.place(flow.origin())}: {spelled(flow.identifier())}: {why}")

"""A declarative pipeline as its author has written it: datasets, and the flows that fill them.

Spark's own classes have read it (`dbsp.declared.spark.reading`), so its names, its rules and what is wrong
with it are theirs. What is here is what they have found, as plain values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MATERIALIZED_VIEW, STREAMING_TABLE, TEMPORARY_VIEW = "materialized view", "streaming table", "temporary view"
SINK = "sink"


@dataclass(frozen=True)
class Place:
    """Where a text begins: a file of the project, and line and column, both from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Clause:
    """A piece of a statement, and where it begins."""

    text: str
    place: Place


@dataclass(frozen=True)
class Changes:
    """AUTO CDC: rows of `source` are changes of what has their keys, in the order of `sequence`.

    columns: of the source, those that are kept. deletes: the condition of a delete. history: whether what
    changes leaves a row behind (SCD type 2); tracked: then the columns by which a change is one.
    """

    source: Clause
    sequence: Clause
    deletes: Clause
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    history: bool
    tracked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flow:
    """query: as the author has spelled it, which begins at `place`. catalog, database: in use there, so that
    names may leave them out.

    streams: the relations that it reads by STREAM; tables: the catalogue's that it reads; inputs: the
    datasets; their names in full. columns: the names and types of its rows. settings: of `spark.sql`, for its
    query. changes: of AUTO CDC, what the query says. as_they_are: those of `tables` that it reads without
    STREAM.
    """

    name: str
    query: str
    place: Place
    catalog: str
    database: str
    streams: frozenset[str]
    tables: frozenset[str]
    inputs: frozenset[str]
    columns: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    changes: Changes | None = None
    as_they_are: frozenset[str] = frozenset()

    @property
    def clause(self) -> Clause:
        """Its query, and where that begins."""
        return Clause(self.query, self.place)


@dataclass(frozen=True)
class Logged:
    """A table whose log says what each version of it has. format: as USING has it. place: of the table, by
    which its reader finds it with these options.
    """

    format: str
    place: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Dataset:
    """name: in full, as `quoted` spells it. columns: their names and types; ddl: the same for CREATE TABLE.

    format: None where the project names none. options: of a sink. logged: of a table that isn't Spark's own
    catalogue's where its format has it. expectations: what its rows must be, as written.
    """

    name: str
    kind: str
    place: Place
    flows: tuple[Flow, ...]
    columns: Mapping[str, str]
    ddl: str = ""
    comment: str | None = None
    properties: Mapping[str, str] | None = None
    partitioned_by: Sequence[str] = ()
    clustered_by: Sequence[str] = ()
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    logged: Logged | None = None
    expectations: tuple[Clause, ...] = ()

    @property
    def is_stored(self) -> bool:
        """Whether it is a table of the catalogue."""
        return self.kind in (MATERIALIZED_VIEW, STREAMING_TABLE)

    @property
    def is_sink(self) -> bool:
        """Whether its rows are sent on, and kept nowhere."""
        return self.kind == SINK

    @property
    def is_streaming(self) -> bool:
        """Whether what it has read stays read."""
        return self.kind in (STREAMING_TABLE, SINK)

    @property
    def only_grows(self) -> bool:
        """Whether its rows stay once they are there."""
        return self.is_streaming and all(flow.changes is None for flow in self.flows)


@dataclass(frozen=True)
class Loaded:
    """What a function in Python reads by paths, as it says. schema: DDL or JSON; '': what Spark infers."""

    format: str
    paths: tuple[str, ...]
    schema: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """One of the catalogue's that the project reads. ddl: its columns. streamed: by STREAM, else as it is.

    logged: None of a table without a log. twice: whether it is read in the other way, too. loaded: of one
    whose name alone doesn't say how it is read.
    """

    name: str
    ddl: str
    streamed: bool
    logged: Logged | None = None
    twice: bool = False
    loaded: Loaded | None = None

    @property
    def relation(self) -> str:
        """Its name in the program; what STREAM has read stays, whatever the table has now."""
        return self.name if self.streamed or not self.twice else f"{self.name[:-1]} as it is`"


@dataclass(frozen=True)
class Project:
    """datasets: after those that they read. tables: those that none of them is.

    definitions: plans of the JVM that queries read by these names, of functions in Python. catalog, database:
    of a name that leaves them out.
    """

    name: str
    root: Path
    datasets: tuple[Dataset, ...]
    tables: tuple[Table, ...]
    definitions: Mapping[str, Any] = field(default_factory=dict)
    catalog: str = ""
    database: str = ""

    @property
    def stored(self) -> tuple[Dataset, ...]:
        """Those that are tables of the catalogue."""
        return tuple(dataset for dataset in self.datasets if dataset.is_stored)

    @property
    def refreshed(self) -> tuple[Dataset, ...]:
        """Those that a run brings up to date: tables, and after them sinks, which may be out of reach."""
        return (*self.stored, *(dataset for dataset in self.datasets if dataset.is_sink))


def shown(name: str) -> str:
    """A quoted name as people write it."""
    return name.replace("`", "")


def above(project: Project, dataset: Dataset) -> list[Dataset]:
    """All that it is made of, in the project's order."""
    wanted = {dataset.name}
    for one in reversed(project.datasets):
        if one.name in wanted:
            wanted |= {name for flow in one.flows for name in flow.inputs}
    return [one for one in project.datasets if one.name in wanted and one is not dataset]

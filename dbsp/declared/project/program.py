"""A project as a program: tables for what it reads, a view for each dataset, in the author's own words.

    table of the catalogue       CREATE TABLE (append_only where it is read by STREAM)
    materialized view            CREATE VIEW
    streaming table              CREATE STREAMING TABLE over its flows, by name
    the same of AUTO CDC         CREATE LOCAL VIEW of the changes, CREATE VIEW of what they make
    temporary view, flow         CREATE LOCAL VIEW
    what can't be maintained     CREATE TABLE: what reads it takes it as it is, and as it changes

A query stands on lines of its own, in the column that it has in the author's file; so a place in the program
is a place there, and the compiler's errors say it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.changes import events_head, events_parts, result
from dbsp.declared.project.datasets import Changes, Clause, Dataset, Flow, Place, Project
from dbsp.declared.project.dialect import counted, dropped
from dbsp.declared.project.policies import FULL, POLICY, policy_of
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.nodes import ArrivalJoin
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, View

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "pipeline.sql"
_LOCATED = re.compile(rf"{re.escape(NAME)}:(\d+):(\d+)")


@dataclass(frozen=True)
class Compiled:
    """refused: of each dataset that can't be maintained, why; they are tables of the program."""

    program: Program
    refused: Mapping[str, str]

    def is_kept(self, dataset: Dataset) -> bool:
        """Whether it is maintained."""
        return dataset.name not in self.refused

    def view(self, dataset: Dataset) -> View:
        """Of a dataset that is."""
        return self.program.views[view_name(dataset.name)]

    def meets_tables(self, dataset: Dataset) -> bool:
        """Whether its rows have met others as those were when they came, which nobody knows later."""
        return self.is_kept(dataset) and self._meets(self.view(dataset).plan)

    def _meets(self, plan: Plan) -> bool:
        local = (view for name in plan.scanned() if (view := self.program.views.get(name)) is not None)
        return (
            isinstance(plan, ArrivalJoin)
            or any(map(self._meets, plan.inputs))
            or any(view.kind == "local" and self._meets(view.plan) for view in local)
        )


@dataclass
class _Written:
    """lines: of the program. queries: the line of it before which a query begins, whose, and its place."""

    lines: list[str] = field(default_factory=list)
    queries: list[tuple[int, str, Place]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(self, *lines: str) -> None:
        self.lines += "\n".join(lines).split("\n")

    def add_query(self, head: str, owner: str, query: Clause, end: str = ";") -> None:
        """Under its head, in its own column."""
        self.queries.append((len(self.lines) + 1, owner, query.place))
        self.add(head, " " * (query.place.column - 1) + query.text, end)  # which may end in a comment

    def whose(self, line: int) -> tuple[str, str]:
        """The dataset that a line is of, and where that is in the project but for the column."""
        begun = [query for query in self.queries if query[0] <= line] or self.queries[:1]
        head, owner, place = begun[-1]
        return owner, f"{place.file}:{place.line + max(line - head - 1, 0)}"


def compile_project(spark: SparkSession, project: Project, uncounted: Collection[str] = ()) -> Compiled:
    """uncounted: views of counts that are left out. Raises ProgramError where nothing can be maintained."""
    policies = [(dataset, policy_of(dataset)) for dataset in project.stored]
    refused = {
        dataset.name: f"{dataset.place}: its {POLICY} is {FULL}"
        for dataset, policy in policies
        if policy == FULL
    }
    while True:
        written = _written(project, refused, uncounted)
        if len(refused) == len(project.datasets):
            raise ProgramError("; ".join(refused.values()))
        try:
            return Compiled(
                load_program(written.text, NAME, session=spark, definitions=project.definitions), refused
            )
        except ProgramError as error:
            found = _LOCATED.search(str(error))
            if found is None:
                raise
            if written.lines[int(found[1]) - 1].startswith("SET "):
                where = "the pipeline's configuration, or spark_conf of a flow"
                raise ProgramError(_LOCATED.sub(where, str(error))) from None
            owner, _ = written.whose(int(found[1]))
            if owner in refused:
                raise
            refused[owner] = _at_home(str(error), written)


def view_name(dataset: str) -> str:
    """The name in the program of what is quoted in the project."""
    return re.sub(r"`((?:[^`]|``)*)`", lambda part: part[1].replace("``", "`"), dataset)


def _at_home(message: str, written: _Written) -> str:
    """The error, with places of the project in place of the program's."""

    def home(found: re.Match[str]) -> str:
        return f"{written.whose(int(found[1]))[1]}:{found[2]}"

    return _LOCATED.sub(home, message)


def flows_of(project: Project) -> Iterator[Flow]:
    """Of all its datasets."""
    return (flow for dataset in project.datasets for flow in dataset.flows)


def _written(project: Project, refused: Iterable[str], uncounted: Collection[str]) -> _Written:
    written = _Written()
    settings = {key: value for flow in flows_of(project) for key, value in flow.settings.items()}
    for (
        key,
        value,
    ) in settings.items():  # which the compiler refuses where they would change what queries mean
        written.add(f"SET {key} = {value};")
    for table in project.tables:
        grows = " WITH (append_only = true)" if table.streamed else ""
        written.add(f"CREATE TABLE {table.relation} ({table.ddl}){grows};")
    by_name: set[str] = set()
    for dataset in project.datasets:
        _add_one(written, dataset, refused, by_name)
        for view, rows, condition in _counts(dataset, refused):
            if view_name(view) in uncounted:
                continue
            head = f"CREATE VIEW {view} AS SELECT count(*) AS n FROM {rows}"
            written.add_query(f"{head} WHERE NOT coalesce((", dataset.name, condition, "), false);")
    return written


def countings(dataset: Dataset, expectation: str) -> list[str]:
    """The views of how many rows don't meet it, by their names in full: of rows that are left out one a flow,
    as another flow changes no count of those that there are.
    """
    if expectation in counted(dataset):
        return [_count_of(dataset, expectation)]
    return [
        _count_of(dataset, f"{expectation} of {flow.name[:-1].rpartition('`')[2]}") for flow in dataset.flows
    ]


def counts_of(dataset: Dataset) -> set[str]:
    """All its views of counts, by their names in the program."""
    names = (*counted(dataset), *dropped(dataset))
    return {view_name(view) for name in names for view in countings(dataset, name)}


def _count_of(dataset: Dataset, what: str) -> str:
    flow = dataset.flows[0]
    before = "" if "`.`" in dataset.name else f"`{flow.catalog}`.`{flow.database}`."
    return f"{before}{dataset.name[:-1]} without {what}`"


def _counts(dataset: Dataset, refused: Iterable[str]) -> Iterator[tuple[str, str, Clause]]:
    """Of each view its name, what it counts in, and the condition."""
    for name, condition in counted(dataset).items():
        yield countings(dataset, name)[0], dataset.name, condition
    if dataset.name in refused:  # Spark leaves them out
        return
    for name, condition in dropped(dataset).items():
        for number, (view, flow) in enumerate(zip(countings(dataset, name), dataset.flows, strict=True)):
            listed = ", ".join(selected(dataset, flow))
            yield view, f"(SELECT {listed} FROM {_part(dataset, number)})", condition


def _add_one(written: _Written, dataset: Dataset, refused: Iterable[str], by_name: set[str]) -> None:
    """by_name: those whose columns are taken by their names, as they are in another order than a query's."""
    if _is_cast(dataset) or any(flow.inputs & by_name for flow in dataset.flows):
        by_name.add(dataset.name)
    if dataset.name in refused:
        written.add(f"CREATE TABLE {dataset.name} ({_columns(dataset)});")
    elif (changes := dataset.flows[0].changes) is not None:
        _add_changes(written, dataset, changes)
    elif len(dataset.flows) == 1 and dataset.name not in by_name and not dropped(dataset):
        flow = dataset.flows[0]
        written.add(_use(flow))
        written.add_query(_add_head(written, dataset), dataset.name, flow.clause)
    else:
        for number, flow in enumerate(dataset.flows):
            written.add(_use(flow))
            written.add_query(f"CREATE LOCAL VIEW {_part(dataset, number)} AS", dataset.name, flow.clause)
        parts = (
            f"SELECT {', '.join(selected(dataset, flow))} FROM {_part(dataset, number)}"
            for number, flow in enumerate(dataset.flows)
        )
        written.add(_add_head(written, dataset), "\nUNION ALL ".join(parts) + ";")


def _add_head(written: _Written, dataset: Dataset) -> str:
    """Up to its expectations; returns what comes then, which a query follows."""
    head = f"{_head(dataset)} {dataset.name}"
    for number, clause in enumerate(dataset.expectations):
        written.add_query("," if number else f"{head} (", dataset.name, clause, "")
    return ") AS" if dataset.expectations else f"{head} AS"


def _add_changes(written: _Written, dataset: Dataset, changes: Changes) -> None:
    (flow,) = dataset.flows
    for clause in dataset.expectations:
        raise ProgramError(
            f"{clause.place}: not supported yet: an expectation of AUTO CDC's rows; give it to what it reads"
        )
    events = _part(dataset, 0)
    select, then, source = events_parts(changes)
    written.add(_use(flow))
    written.add_query(f"{events_head(events)} {select}", dataset.name, changes.deletes, then)
    written.add_query("", dataset.name, changes.sequence, source)
    written.add_query("", dataset.name, changes.source)
    listed = ", ".join(selected(dataset, flow))
    rows = f"SELECT {listed} FROM ({result(changes, dataset.name, events, flow.columns)})"
    written.add_query(f"CREATE VIEW {dataset.name} AS", dataset.name, Clause(rows, flow.place))


def _use(flow: Flow) -> str:
    return f"USE `{flow.catalog}`.`{flow.database}`;"


def _head(dataset: Dataset) -> str:
    if dataset.is_streaming:
        return "CREATE STREAMING TABLE"
    return "CREATE VIEW" if dataset.is_stored else "CREATE LOCAL VIEW"


def _is_cast(dataset: Dataset) -> bool:
    """Whether its columns are others than its only flow's, or in another order."""
    return list(dataset.columns.items()) != list(dataset.flows[0].columns.items())


def _part(dataset: Dataset, number: int) -> str:
    return f"{dataset.name[:-1]} flow {number + 1}`"


def selected(dataset: Dataset, flow: Flow) -> Iterator[str]:
    """The dataset's columns of a flow's rows, by name; NULL where it has none."""
    given = {name.lower(): (name, type_) for name, type_ in flow.columns.items()}
    for name, type_ in dataset.columns.items():
        own, of = given.get(name.lower(), (None, None))
        value = "NULL" if own is None else f"`{own}`"
        yield f"CAST({value} AS {type_}) AS `{name}`" if of != type_ else f"{value} AS `{name}`"


def _columns(dataset: Dataset) -> str:
    return ", ".join(f"`{name}` {type_}" for name, type_ in dataset.columns.items())

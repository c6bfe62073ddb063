"""From the file of a spec to a project that can be refreshed: its session, its program, its state.

STORAGE/dbsp/state          of the circuit, as of any pipeline: `dbsp query`, `dbsp why` read it
STORAGE/dbsp/reads.json     which files of the sources it has
STORAGE/dbsp/tables/        which step each table has, and its files
STORAGE/dbsp/sinks/         the same of what is sent on, and the files that aren't sent
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.asked import Asked
from dbsp.declared.failing import placed
from dbsp.declared.project.datasets import Project, shown
from dbsp.declared.project.policies import AUTO, POLICY
from dbsp.declared.project.program import Compiled, compile_project, counts_of
from dbsp.declared.reads import Reads
from dbsp.declared.refresh import Refresh
from dbsp.declared.reopening import pipeline_of
from dbsp.declared.spark.asking import Asking
from dbsp.declared.spark.catalog import Catalog
from dbsp.declared.spark.modules.modules import Modules
from dbsp.declared.spark.reading.reading import read_project
from dbsp.declared.spark.sending import check_sink
from dbsp.declared.spark.spec import Spec
from dbsp.evolution.evolve import Unfilled
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.catalyst import other_meaning
from dbsp.state.records.places import Place, delete_all, place_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Planned:
    """A project that has been read and compiled. Nothing has been written."""

    project: Project
    compiled: Compiled


def plan_project(spark: SparkSession, spec: Spec, modules: Modules | None = None) -> Planned:
    """modules: what those in Python say; they are run unless given.

    Raises Error for what `spark-pipelines` refuses, too, and for tables that aren't written here.
    """
    check_meaning(spark, spec)
    project = read_project(spark, spec, modules)
    catalog = Catalog(spark)
    for dataset in project.refreshed:
        if dataset.is_sink:
            check_sink(dataset)
        else:
            catalog.check(dataset)
    return Planned(project, compile_project(spark, project))


@contextmanager
def opened(
    spark: SparkSession,
    spec: Spec,
    asked: Asked,
    say: Callable[[str], None] = lambda line: None,
    modules: Modules | None = None,
) -> Iterator[Refresh]:
    """A project that can be refreshed. Raises Error before anything is written.

    What can't be maintained, and may not be recomputed, is refused. modules: see `plan_project`.
    """
    planned = plan_project(spark, spec, modules)
    asked.check(planned.project)
    check_kept(planned, asked)
    folder = _folder(spec, planned.project)
    if asked.full_refresh_all:
        # what says that the tables' files are ours stays, also to a catalogue that has forgotten them
        delete_all(folder / "state")
        with disk(folder):
            (folder / "reads.json").unlink(missing_ok=True)
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)
    reads = Reads(folder / "reads.json")
    reads.check_streams(planned.project)
    with placed(planned.project):
        compiled, state = _counting(spark, planned, folder / "state", say)
    with state as pipeline:
        yield Refresh(Asking(spark), planned.project, compiled, pipeline, reads, folder)


def _counting(
    spark: SparkSession, planned: Planned, state: Place, say: Callable[[str], None]
) -> tuple[Compiled, Pipeline]:
    """The state, and what it is of: without counts of rows that it hasn't kept."""
    try:
        return planned.compiled, pipeline_of(planned.compiled, state, say, spark)
    except Unfilled as error:
        counts = set[str]().union(*map(counts_of, planned.project.datasets))
        if not error.views or not error.views <= counts:
            raise
        listed = ", ".join(sorted(error.views))
        say(f"not counted: {listed}, as rows went by uncounted; --full-refresh-all counts all")
        compiled = compile_project(spark, planned.project, error.views)
        return compiled, pipeline_of(compiled, state, say, spark)


def _folder(spec: Spec, project: Project) -> Place:
    """Of what is kept. Raises Error."""
    folder = place_of(spec.storage) / "dbsp"
    sinks = [dataset for dataset in project.datasets if dataset.is_sink]
    if sinks and not isinstance(folder, Path):
        raise Error(
            f"{sinks[0].place}: not supported yet: sink {shown(sinks[0].name)} with storage at "
            f"{spec.storage}, as what is on its way is in files that Spark reads; give a directory"
        )
    return folder


def check_kept(planned: Planned, asked: Asked) -> None:
    """Raises ProgramError for the first dataset that would have to be recomputed, and mayn't be."""
    for dataset in planned.project.datasets:
        why = planned.compiled.refused.get(dataset.name)
        if why is None:
            continue
        if dataset.is_streaming:
            raise ProgramError(f"{why}; {dataset.kind} {shown(dataset.name)} can't be kept")
        if any(each in flow.query for flow in dataset.flows for each in planned.project.definitions):
            raise ProgramError(
                f"{why}; not supported yet: to recompute {shown(dataset.name)}, which is in Python"
            )
        if dataset.logged is not None:
            raise ProgramError(
                f"{why}; not supported yet: to recompute {shown(dataset.name)}, an Iceberg table; give it a "
                "name in spark_catalog"
            )
        if not asked.may_recompute(dataset):
            raise ProgramError(
                f"{why}; --fallback full, or its property {POLICY} = {AUTO}, recomputes "
                f"{shown(dataset.name)} at every run"
            )


def check_meaning(spark: SparkSession, spec: Spec) -> None:
    """Raises Error for settings under which queries mean something else than they do here."""
    if (other := other_meaning(spark.conf.get)) is not None:
        what = f"not supported yet: {other[0]}"
        raise Error(f"{spec.path}: {what}; here queries mean what they do with {other[1]}")

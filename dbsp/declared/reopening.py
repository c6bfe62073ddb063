"""A project that is remembered, opened without Spark: its state, and what is known of what is around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dbsp.circuits.disk import disk
from dbsp.declared.asked import Asked
from dbsp.declared.failing import placed
from dbsp.declared.project.program import Compiled
from dbsp.declared.project.surroundings import Surroundings
from dbsp.declared.reads import Reads
from dbsp.declared.refresh import Refresh
from dbsp.declared.remembered.remembered import Remembered, Remembering
from dbsp.evolution.evolve import Unfilled
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.places import Place, place_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def reopened(
    storage: str,
    asked: Asked,
    found: Remembered,
    spark: Callable[[], Surroundings],
    say: Callable[[str], None],
) -> Iterator[Refresh | None]:
    """What `opened` gives; None where only Spark can say what has come. Raises Error, as `opened` does.

    spark: what to ask for the rest.
    """
    folder = place_of(storage) / "dbsp"
    reads, around = Reads(folder / "reads.json"), Remembering(found, spark)
    with disk(folder):
        known = reads.path.exists() and (folder / "state").is_dir()
    if asked.full_refresh_all or not known:
        yield None
        return
    asked.check(found.project)
    reads.check_streams(found.project)
    with placed(found.project):
        state = pipeline_of(found.compiled, folder / "state", say)
    with state as pipeline:
        refresh = Refresh(around, found.project, found.compiled, pipeline, reads, folder)
        yield refresh if around.knows(reads.known) else None


def pipeline_of(
    compiled: Compiled, state: Place, say: Callable[[str], None], spark: SparkSession | None = None
) -> Pipeline:
    """The state, brought to the program. spark: where its steps run, else here. Raises Error."""
    runner = "inline" if spark is None else "spark"
    try:
        return Pipeline(
            compiled.program, state=str(state), spark=spark, runner=runner, evolve=True, progress=say
        )
    except Unfilled as error:
        cure = "that is --full-refresh-all, which reads the sources anew"
        raise Unfilled(f"{error}; {cure}", error.views) from error

"""The session of a project's runs, and the runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbsp.circuits.errors import Error, ProgramError
from dbsp.commands.declared.report import changed, plan_lines, report, said
from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import stopping
from dbsp.commands.process.without_pandas import without_pandas
from dbsp.declared.asked import Asked
from dbsp.declared.project.surroundings import Surroundings
from dbsp.declared.remembered.key import key_of
from dbsp.declared.remembered.remembered import recall, remember
from dbsp.declared.reopening import reopened
from dbsp.declared.spark.modules import Modules, digest_of, modules_of
from dbsp.declared.spark.spec import Spec, read_spec, said_by_spark
from dbsp.running.spark.settings import Settings
from dbsp.sql.text.source import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_project(
    path: str | None,
    settings: Settings,
    *,
    full_refresh: Sequence[str],
    full_refresh_all: bool,
    refresh: Sequence[str],
    fallback: bool,
) -> None:
    """One refresh. Raises Error."""
    for option, given in (("--full_refresh", full_refresh), ("--refresh", refresh)):
        if full_refresh_all and given:
            raise Error(said_by_spark("CONFLICTING_PIPELINE_REFRESH_OPTIONS", conflicting_option=option))
    spec = _spec(path)
    asked = Asked(full_refresh, full_refresh_all, refresh, fallback)
    modules = modules_of(spec.files(), spec.root)
    said_there = [digest_of(command) for commands in modules.values() for command in commands]
    key = key_of(spec.path, spec.files(), said_there, settings.options())
    if not _run_remembered(spec, settings, asked, key):
        _run_on_spark(spec, settings, asked, key, modules)
    said("Run is COMPLETED.")


def _run_remembered(spec: Spec, settings: Settings, asked: Asked, key: Source) -> bool:
    """Whether it could be done by what the last run has left."""
    found = recall(key)
    if found is None:
        return False
    without_pandas()  # a project with functions in Python has it imported by now
    with reopened(spec.storage, asked, found, lambda: _asking(spec, settings), said) as project:
        if project is None:
            return False
        said("Starting run...")
        report(project.run(asked))
    return True


def _asking(spec: Spec, settings: Settings) -> Surroundings:
    from dbsp.declared.spark.asking import Asking  # noqa: PLC0415  most such runs need no Spark

    return Asking(session_of(spec, settings))


def _run_on_spark(spec: Spec, settings: Settings, asked: Asked, key: Source, modules: Modules) -> None:
    from dbsp.declared.opening import opened  # noqa: PLC0415  with it comes Spark
    from dbsp.declared.spark.remembering import remembered  # noqa: PLC0415

    spark = session_of(spec, settings)
    with opened(spark, spec, asked, said, modules) as project:
        said("Starting run...")
        report(project.run(asked))
        found = remembered(spark, project.project, project.compiled)
    if found is not None:
        remember(key, found)


def plan_lines_of(path: str | None, settings: Settings, fallback: bool) -> None:
    """A dry run. Raises Error where a run would refuse something."""
    from dbsp.declared.opening import check_kept, plan_project  # noqa: PLC0415

    spec = _spec(path)
    planned = plan_project(session_of(spec, settings), spec)
    asked = Asked(fallback=fallback)
    for line in plan_lines(planned, asked):
        click.echo(line)
    try:
        check_kept(planned, asked)
    except ProgramError as error:
        raise Error(f"a run is refused: {error}") from error
    said("Run is COMPLETED.")


def watch_project(path: str | None, settings: Settings, every: str, fallback: bool) -> None:
    """Refreshes until Ctrl-C, which ends after the one that it is at."""
    from dbsp.declared.opening import opened  # noqa: PLC0415

    seconds = parse_seconds(every)
    spec = _spec(path)
    spark = session_of(spec, settings)
    asked = Asked(fallback=fallback)
    with opened(spark, spec, asked, said) as project, stopping(said) as stop:
        while not stop.is_set():
            began = time.monotonic()
            done = project.run(asked)
            if changed(done):
                report(done)
            stop.wait(max(seconds - (time.monotonic() - began), 0))


def session_of(spec: Spec, settings: Settings) -> SparkSession:
    """With the spec's configuration; the command line wins. Tables lie where Spark's commands put them."""
    from dbsp.running.spark.session import session  # noqa: PLC0415

    warehouse = {"spark.sql.warehouse.dir": str(Path.cwd() / "spark-warehouse")}
    configured = {**warehouse, **spec.read.configuration, **settings.conf}
    said("Creating Spark session...")
    spark = session(settings=Settings(settings.master, configured, settings.packages, settings.jars))
    if "spark.sql.session.timeZone" not in configured:  # Spark's is the machine's
        jvm = spark._jvm
        assert jvm is not None
        spark.conf.set("spark.sql.session.timeZone", jvm.java.util.TimeZone.getDefault().getID())
    return spark


def _spec(path: str | None) -> Spec:
    spec = read_spec(path)
    said(f"Loading pipeline spec from {spec.path}...")
    return spec

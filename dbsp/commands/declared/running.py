"""The session of a project's runs, and the runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import TYPE_CHECKING

import click

from dbsp.circuits.errors import Error, ProgramError
from dbsp.commands.declared.report import changed, plan_lines, report, said
from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import stopping
from dbsp.commands.process.without_pandas import without_pandas
from dbsp.declared.asked import Asked
from dbsp.declared.project.datasets import Project
from dbsp.declared.project.program import Compiled
from dbsp.declared.project.surroundings import Surroundings
from dbsp.declared.refresh import Done
from dbsp.declared.remembered.key import key_of
from dbsp.declared.remembered.remembered import recall, remember
from dbsp.declared.reopening import reopened
from dbsp.declared.spark.modules.messages import digest_of
from dbsp.declared.spark.modules.modules import Modules, modules_of
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
    modules, key = _read(spec, settings)
    done = _refreshed(spec, settings, asked, key, starting=True)
    if done is None:
        _run_on_spark(spec, settings, asked, key, modules)
    else:
        report(done)
    said("Run is COMPLETED.")


def _read(spec: Spec, settings: Settings) -> tuple[Modules, Source]:
    """What its modules in Python say, and all that it follows from."""
    modules = modules_of(spec.files(), spec.root, {**spec.read.configuration, **settings.conf})
    said_there = [digest_of(command) for commands in modules.values() for command in commands]
    return modules, key_of(spec.path, spec.files(), said_there, settings.options())


def _refreshed(
    spec: Spec, settings: Settings, asked: Asked, key: Source, *, starting: bool = False
) -> list[Done] | None:
    """By what the last run has left; None where only Spark can do it. starting: whether that is said."""
    found = recall(key)
    if found is None:
        return None
    without_pandas()  # a project with functions in Python has it imported by now
    with reopened(spec.storage, asked, found, lambda: _asking(spec, settings), said) as project:
        if project is None:
            return None
        if starting:
            said("Starting run...")
        return project.run(asked)


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
    spec = _spec(path)
    modules, key = _read(spec, settings)
    asked = Asked(fallback=fallback)
    found = recall(key)
    if found is not None and found.is_there():  # of such a project all datasets are maintained
        _echo_plan(found.project, found.compiled, asked)
    else:
        from dbsp.declared.opening import check_kept, plan_project  # noqa: PLC0415  with it comes Spark

        planned = plan_project(session_of(spec, settings), spec, modules)
        _echo_plan(planned.project, planned.compiled, asked)
        try:
            check_kept(planned, asked)
        except ProgramError as error:
            raise Error(f"a run is refused: {error}") from error
    said("Run is COMPLETED.")


def _echo_plan(project: Project, compiled: Compiled, asked: Asked) -> None:
    for line in plan_lines(project, compiled, asked):
        click.echo(line)


def watch_project(
    path: str | None, settings: Settings, every: str, *, refresh: Sequence[str], fallback: bool
) -> None:
    """Refreshes until Ctrl-C, which ends after the one that it is at; without Spark while they can be."""
    seconds = parse_seconds(every)
    spec = _spec(path)
    modules, key = _read(spec, settings)
    asked = Asked(refresh=refresh, fallback=fallback)
    with stopping(said) as stop:
        _watch(lambda: _refreshed(spec, settings, asked, key), seconds, stop)
        if stop.is_set():
            return
    from dbsp.declared.opening import opened  # noqa: PLC0415  with it comes Spark

    spark = session_of(spec, settings)
    with opened(spark, spec, asked, said, modules) as project, stopping(said) as stop:
        _watch(lambda: project.run(asked), seconds, stop)


def _watch(refresh: Callable[[], list[Done] | None], seconds: float, stop: Event) -> None:
    """Until there is nothing to be had of it, or `stop`."""
    while not stop.is_set():
        began = time.monotonic()
        done = refresh()
        if done is None:
            return
        if changed(done):
            report(done)
        stop.wait(max(seconds - (time.monotonic() - began), 0))


def session_of(spec: Spec, settings: Settings) -> SparkSession:
    """With the spec's configuration; the command line wins."""
    from dbsp.declared.starting import started  # noqa: PLC0415

    said("Creating Spark session...")
    configured = {**spec.read.configuration, **settings.conf}
    return started(Settings(settings.master, configured, settings.packages, settings.jars))


def _spec(path: str | None) -> Spec:
    spec = read_spec(path)
    said(f"Loading pipeline spec from {spec.path}...")
    return spec

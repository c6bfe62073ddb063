"""`dbsp pipeline`: a project of Spark's declarative pipelines, kept at the cost of what changes."""

from __future__ import annotations

from typing import Any

import click

from dbsp.commands.declared.submitting import submit_options
from dbsp.commands.process.logs import log_option
from dbsp.commands.process.options import listed, settings_of, spark_options

spec_option = click.option(
    "--spec",
    metavar="FILE",
    help="The spec; spark-pipeline.yml of this directory or one around it unless given.",
)
fallback_option = click.option(
    "--fallback",
    type=click.Choice(["full"]),
    help="Recompute what can't be maintained, at every run; it is refused unless given.",
)
refresh_option = click.option(
    "--refresh", multiple=True, callback=listed, metavar="NAMES", help="Datasets to bring up to date."
)


@click.group()
def pipeline() -> None:
    """Refresh a project of Spark's declarative pipelines incrementally.

    \b
    Example:
      dbsp pipeline run --spec spark-pipeline.yml
    """


@pipeline.command()
@spec_option
@click.option(
    "--full-refresh", multiple=True, callback=listed, metavar="NAMES", help="Datasets to write anew."
)
@click.option("--full-refresh-all", is_flag=True, help="Forget the state and write everything anew.")
@refresh_option
@fallback_option
@spark_options
@submit_options
@log_option
def run(fallback: str | None, spec: str | None, **options: Any) -> None:
    """Bring the datasets up to date with what has changed in their sources.

    \b
    Example:
      dbsp pipeline run
      dbsp pipeline run --spec spark-pipeline.yml --full-refresh sales_by_day
      dbsp pipeline run --fallback full
    """
    from dbsp.commands.declared.running import run_project  # noqa: PLC0415

    settings = settings_of(options)
    run_project(spec, settings, fallback=fallback is not None, **options)


@pipeline.command("dry-run")
@spec_option
@fallback_option
@spark_options
@submit_options
@log_option
def dry_run(fallback: str | None, spec: str | None, **options: Any) -> None:
    """Check the project, and say of each dataset how it will be kept, and why. Nothing is written.

    \b
    Example:
      dbsp pipeline dry-run
    """
    from dbsp.commands.declared.running import plan_lines_of  # noqa: PLC0415

    plan_lines_of(spec, settings_of(options), fallback is not None)


@pipeline.command()
@spec_option
@click.option(
    "--every", default="10s", show_default=True, metavar="TIME", help="How often sources are looked at."
)
@refresh_option
@fallback_option
@spark_options
@submit_options
@log_option
def watch(
    fallback: str | None, spec: str | None, every: str, refresh: tuple[str, ...], **options: Any
) -> None:
    """Keep the datasets up to date until Ctrl-C.

    \b
    Example:
      dbsp pipeline watch --every 30s
    """
    from dbsp.commands.declared.running import watch_project  # noqa: PLC0415

    watch_project(spec, settings_of(options), every, refresh=refresh, fallback=fallback is not None)


@pipeline.command()
@click.option("--name", required=True, help="Of the project, and of the directory that is made for it.")
def init(name: str) -> None:
    """Write the project that `spark-pipelines init` writes.

    \b
    Example:
      dbsp pipeline init --name shop && cd shop && dbsp pipeline run
    """
    from dbsp.declared.spark.spec import write_project  # noqa: PLC0415

    write_project(name)
    click.echo(f"wrote '{name}'. To run it:")
    click.echo(f"cd '{name}' && dbsp pipeline run")

"""`dbsp run`: a program from its sources to its sinks, and what a person sees of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from dbsp.commands.process.logs import say
from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import stopping
from dbsp.commands.process.traces import tracing
from dbsp.commands.shown.display import display
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.settings import Settings
from dbsp.sql.compiler.load import load_program


def run_program(
    program: str,
    *,
    define: Mapping[str, str] | None = None,
    state: str | None = None,
    once: bool = False,
    every: str | None = None,
    output: str | None = None,
    changelog: str = "retract",
    partitions: int | None = None,
    max_undelivered: int = 0,
    ui: bool = False,
    verify: str = "first read",
    evolve: bool = False,
    backfill: str | None = None,
    settings: Settings | None = None,
    keep_steps: int | None = None,
    keep_for: str | None = None,
    otlp: str | None = None,
    show_key: bool = False,
) -> None:
    """Run until the sources are exhausted (once) or Ctrl-C. Raises Error.

    every: such as '1s'. output: live-table, table, csv or json; None: live-table on a terminal, else json.
    settings: of the Spark session. otlp: where traces go. show_key: see `sql/compiler/keys/shown.py`.
    """
    seconds = None if every is None else parse_seconds(every)
    from dbsp.pipeline.spark.runs.streaming import expected_steps, run  # noqa: PLC0415
    from dbsp.running.spark.session import session  # noqa: PLC0415  after the options are known to be right

    spark = session(ui=ui, settings=settings or Settings())
    if ui:
        say(f"Spark UI: {spark.sparkContext.uiWebUrl}")
    with (
        tracing(otlp, Path(program).name) as tracer,
        Pipeline(
            load_program(Path(program), define=define, session=spark, show_key=True) if show_key else program,
            tracer=tracer,
            define=define,
            state=state,
            spark=spark,
            partitions=partitions,
            verify=verify,
            max_undelivered=max_undelivered,
            evolve=evolve,
            backfill=backfill,
            keep_steps=keep_steps,
            keep_for=keep_for,
            progress=say,
        ) as pipeline,
    ):
        steps = expected_steps(pipeline) if once else None
        shown_as = output or default_output()
        with display(shown_as, pipeline, steps, changelog) as shown, stopping(shown.note) as stop:
            run(pipeline, once=once, every=seconds, on_step=shown.step, stop=stop)


def default_output() -> str:
    return "live-table" if sys.stdout.isatty() else "json"

"""`dbsp serve`: a program that runs, and answers over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbsp.circuits.errors import Error
from dbsp.commands.run import parse_seconds, stopping
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.settings import Settings
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program

if TYPE_CHECKING:
    from dbsp.serving.app import Serving

_POLL = 0.2


def serve_program(
    program: str,
    *,
    host: str,
    port: int,
    allowed: tuple[str, ...] = (),
    define: Mapping[str, str] | None = None,
    state: str | None = None,
    every: str | None = None,
    settings: Settings | None = None,
    max_undelivered: int = 0,
    **options: object,
) -> None:
    """Serve until Ctrl-C. Raises Error. allowed: names that clients know this machine by, besides its own.

    A program whose tables have no source runs in this process, without Spark, unless it has settings.
    """
    try:
        from dbsp.serving.access import LOCAL, Access  # noqa: PLC0415  an extra
        from dbsp.serving.app import Serving  # noqa: PLC0415
        from dbsp.serving.server import listening  # noqa: PLC0415
    except ImportError as error:
        raise Error(f"dbsp serve needs {error.name}: pip install 'dbsp[serve]'") from None
    note = partial(click.echo, err=True)
    seconds = None if every is None else parse_seconds(every)
    spark = None
    if settings is not None and settings != Settings():
        from dbsp.running.spark.session import session  # noqa: PLC0415

        spark = session(settings=settings)
    compiled = load_program(Path(program), define=define, session=spark)
    has_sources = any(table.format for table in map(compiled.input, compiled.inputs))
    if has_sources and spark is None:
        from dbsp.running.spark.session import session  # noqa: PLC0415

        spark = session()
    with Pipeline(
        compiled,
        state=state,
        spark=spark,
        runner="inline" if spark is None else "spark",
        max_undelivered=max_undelivered,
        progress=note,
        **options,  # type: ignore[arg-type]  # those of the command, by name
    ) as pipeline:
        access = Access()
        names = ("*",) if host in ("0.0.0.0", "::") and not allowed else (*LOCAL, host, *allowed)
        serving = Serving(pipeline, access, names)
        with listening(serving, host, port) as (address, bound), stopping(note) as stop:
            note(f"serving {_described(compiled)} at http://{_spelled(address)}:{bound}")
            if access.is_new:
                note(f"token for what changes something: {access.token}")
            _run(serving, has_sources, seconds, stop)


def _described(program: Program) -> str:
    return f"{program.name}: {len(program.circuit.outputs)} views"


def _spelled(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _run(serving: Serving, has_sources: bool, every: float | None, stop: threading.Event) -> None:
    pipeline = serving.pipeline
    if has_sources:
        from dbsp.pipeline.spark.streaming import run  # noqa: PLC0415

        run(pipeline, every=every, on_step=serving.made, stop=stop)
        return
    while not stop.wait(_POLL):
        with pipeline.turn:
            due = pipeline.due
            if due is not None and due <= datetime.now(UTC):
                serving.made(pipeline.step())
            else:
                pipeline.redeliver()

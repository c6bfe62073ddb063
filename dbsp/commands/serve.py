"""`dbsp serve`: a program that runs, and answers over HTTP."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error
from dbsp.commands.process.logs import formatter, say
from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import stopping
from dbsp.commands.process.traces import tracing
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.settings import Settings
from dbsp.sql.compiler.load import load_program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.serving.app import Serving

# seconds between two looks at what the clock makes due, and before a sink that failed is tried again
_POLL, _AGAIN = 0.2, 1.0
_EVERYWHERE = ("0.0.0.0", "::")


def serve_program(
    program: str,
    *,
    host: str,
    port: int,
    postgres: int | None,
    allowed: tuple[str, ...],
    a_query: tuple[float, int],
    settings: Settings,
    define: Mapping[str, str],
    every: str | None,
    tls: tuple[str, str] | None = None,
    otlp: str | None = None,
    **options: object,
) -> None:
    """Serve until Ctrl-C. Raises Error. allowed: names that clients know this machine by, besides its own.
    a_query: seconds and megabytes that one may take.

    A program whose tables have no source runs in this process, without Spark, unless it has settings.
    tls: the files of a certificate and of its key. otlp: where traces go. options: of the pipeline.
    """
    try:
        from dbsp.serving.access import LOCAL, VARIABLE, Access  # noqa: PLC0415  an extra
        from dbsp.serving.app import Serving  # noqa: PLC0415
        from dbsp.serving.evaluating import Evaluating  # noqa: PLC0415
        from dbsp.serving.postgres.port import listening_postgres  # noqa: PLC0415
        from dbsp.serving.server import listening  # noqa: PLC0415
        from dbsp.serving.tls import read_tls  # noqa: PLC0415
    except ImportError as error:
        raise Error(f"dbsp serve needs {error.name}: pip install 'dbsp[serve]'") from None
    context = None if tls is None else read_tls(*tls)
    scheme, mode = ("http", "") if context is None else ("https", "?sslmode=require")
    pause = None if every is None else parse_seconds(every)
    spark = _session(settings) if settings != Settings() else None
    compiled = load_program(Path(program), define=define, session=spark)
    has_sources = any(compiled.input(table).format for table in compiled.inputs)
    if has_sources and spark is None:
        spark = _session(settings)
    runner = "inline" if spark is None else "spark"
    with (
        tracing(otlp, compiled.name) as tracer,
        Pipeline(compiled, spark=spark, runner=runner, progress=say, tracer=tracer, **options) as pipeline,  # type: ignore[arg-type]
    ):
        names = ("*",) if host in _EVERYWHERE and not allowed else (*LOCAL, host, *allowed)
        seconds, megabytes = a_query
        serving = Serving(pipeline, Access(), names, evaluating=Evaluating(seconds, megabytes << 20))
        with ExitStack() as running:
            at = running.enter_context(listening(serving, host, port, context))
            said = f"serving {compiled.name} at {scheme}://{_shown(*at)}"
            if postgres is not None:
                at = running.enter_context(listening_postgres(serving, host, postgres, context))
                said += f" and postgresql://{_shown(*at)}/dbsp{mode}"
            say(said)
            stop = running.enter_context(stopping(say))
            if serving.access.is_new and formatter() is None:
                say(f"token for what changes something: {serving.access.token}")
            elif serving.access.is_new:  # a log is read by others than who may write
                say(f"nobody can write: no token is given in {VARIABLE}, and a log has none", logging.WARNING)
            if has_sources:
                from dbsp.pipeline.spark.runs.streaming import run  # noqa: PLC0415

                run(pipeline, every=pause, on_step=serving.made, stop=stop)
            else:
                _wait(serving, stop)


def _shown(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _session(settings: Settings) -> SparkSession:
    from dbsp.running.spark.session import session  # noqa: PLC0415  a program without sources needs none

    return session(settings=settings)


def _wait(serving: Serving, stop: threading.Event) -> None:
    """Make the steps that no request asks for. A sink that fails is tried again; views can be read."""
    pipeline = serving.pipeline
    while not stop.wait(_AGAIN if serving.trouble else _POLL):
        try:
            with pipeline.turn:
                due = pipeline.due
                if due is not None and due <= datetime.now(UTC):
                    serving.made(pipeline.step())
                else:
                    pipeline.redeliver()
            serving.troubled("")
        except DeliveryError as error:
            if error.changes is not None:
                serving.made(error.changes)
            if serving.trouble != str(error):
                serving.troubled(str(error))
                say(str(error), logging.ERROR, error)

"""`dbsp serve`: a program that runs, and answers over HTTP."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.commands.process.logs import formatter, say
from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import stopping
from dbsp.commands.process.traces import tracing
from dbsp.errors import DeliveryError
from dbsp.evolution.backfill import Abandoned
from dbsp.pipeline.beside.changing import Changing, in_thread, program_before
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.runners import read_again, runner_of
from dbsp.running.spark.settings import Settings
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.serving.access import Access
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
    evolve: bool = False,
    backfill: str | None = None,
    tls: tuple[str, str] | None = None,
    otlp: str | None = None,
    **options: object,
) -> None:
    """Serve until Ctrl-C. Raises Error. allowed: names that clients know this machine by, besides its own.
    a_query: seconds and megabytes that one may take.

    A program whose tables have no source runs in this process, without Spark, unless it has settings.
    evolve: the state may be of another program, which goes on, and is served, while it is changed into this
    one. tls: the files of a certificate and of its key. otlp: where traces go. options: of the pipeline.
    """
    try:
        from dbsp.serving.access import LOCAL, Access  # noqa: PLC0415  an extra
        from dbsp.serving.app import Serving  # noqa: PLC0415
        from dbsp.serving.evaluating import Evaluating  # noqa: PLC0415
        from dbsp.serving.ports.server import listening  # noqa: PLC0415
        from dbsp.serving.ports.switching import Switching  # noqa: PLC0415
        from dbsp.serving.ports.tls import read_tls  # noqa: PLC0415
        from dbsp.serving.postgres.port import listening_postgres  # noqa: PLC0415
    except ImportError as error:
        raise Error(f"dbsp serve needs {error.name}: pip install 'dbsp[serve]'") from None
    context = None if tls is None else read_tls(*tls)
    scheme, mode = ("http", "") if context is None else ("https", "?sslmode=require")
    spark = _session(settings) if settings != Settings() else None
    compiled = load_program(Path(program), define=define, session=spark)
    before = _before(compiled, options.get("state"), define, spark, backfill is not None) if evolve else None
    tables = [table for one in (compiled, before) if one is not None for table in one.inputs.values()]
    if spark is None and (backfill is not None or any(table.format for table in tables)):
        spark = _session(settings)
    names = ("*",) if host in _EVERYWHERE and not allowed else (*LOCAL, host, *allowed)
    seconds, megabytes = a_query
    access, evaluating = Access(), Evaluating(seconds, megabytes << 20)

    def serving_of(pipeline: Pipeline, changing: Changing | None = None) -> Serving:
        return Serving(pipeline, access, names, evaluating=evaluating, changing=changing)

    with tracing(otlp, compiled.name) as tracer, ExitStack() as running:
        opening, changing = _Opening(spark, {**options, "tracer": tracer}, running), None
        if before is None:
            serving = serving_of(opening.pipeline(compiled, evolve=evolve, backfill=backfill))
        else:
            old = opening.pipeline(before)
            changing = opening.changing(old, compiled, backfill is not None)
            serving = serving_of(old, changing)
            changing.progressed = serving.status.progressed
        switching = Switching(serving)
        at = running.enter_context(listening(switching, host, port, context))
        said = f"serving {serving.pipeline.program.name} at {scheme}://{_shown(*at)}"
        if postgres is not None:
            at = running.enter_context(listening_postgres(switching, host, postgres, context))
            said += f" and postgresql://{_shown(*at)}/dbsp{mode}"
        say(said)
        _tell_token(access)
        if changing is not None:
            if not _is_changed(serving, changing, every):
                return
            switching.leave()
            changing.commit()
            serving.pipeline.close()
            serving = serving_of(opening.pipeline(compiled))
            switching.enter(serving)
            say(f"step {serving.pipeline.last_step}: the program is changed, and its views are served")
        with stopping(say) as stop:
            _run(serving, every, stop)


@dataclass
class _Opening:
    """What pipelines are opened with. running: when that ends, they are closed."""

    spark: SparkSession | None
    options: Mapping[str, Any]
    running: ExitStack

    @property
    def runner(self) -> str:
        return "inline" if self.spark is None else "spark"

    def pipeline(self, program: Program, **more: Any) -> Pipeline:
        """Of the state that is served."""
        opened = Pipeline(program, spark=self.spark, runner=self.runner, progress=say, **self.options, **more)
        return self.running.enter_context(opened)

    def changing(self, old: Pipeline, program: Program, from_source: bool) -> Changing:
        """With a runner of its own, as the old program's steps go on."""
        beside = runner_of(self.runner, self.spark)
        self.running.callback(beside.close)
        again = read_again(program, beside, self.spark) if from_source else None
        return Changing(old, program, beside, say, again)


def _tell_token(access: Access) -> None:
    from dbsp.serving.access import VARIABLE  # noqa: PLC0415  an extra

    if access.is_new and formatter() is None:
        say(f"token for what changes something: {access.token}")
    elif access.is_new:  # a log is read by others than who may write
        say(f"nobody can write: no token is given in {VARIABLE}, and a log has none", logging.WARNING)


def _before(
    program: Program, state: object, define: Mapping[str, str], spark: SparkSession | None, again: bool
) -> Program | None:
    """The program that goes on while it is changed into this one, if there is one."""
    if not isinstance(state, str):
        return None
    try:
        return program_before(program, state, define, spark, again)
    except (StateError, ProgramError) as error:
        say(f"{error}: the program before can't go on meanwhile, and nothing is served until it is changed")
        return None


def _is_changed(serving: Serving, changing: Changing, every: str | None) -> bool:
    """Run the program before while what is new is computed. False: who runs it wants the process to end."""
    asked = threading.Event()

    def note(line: str) -> None:
        asked.set()
        say(line)

    with stopping(note) as stop:
        thread, failed = in_thread(changing, stop.set)
        try:
            if changing.waits:
                say(f"views are served; no step is made: {changing.waits}")
                stop.wait()
            else:
                _run(serving, every, stop)
        finally:
            changing.end()
            thread.join()
    if failed and not isinstance(failed[0], Abandoned):
        raise failed[0]
    if asked.is_set():
        changing.discard()
    return not asked.is_set()


def _run(serving: Serving, every: str | None, stop: threading.Event) -> None:
    """The program, until it is told to stop."""
    pause = None if every is None else parse_seconds(every)
    if any(table.format for table in serving.pipeline.program.inputs.values()):
        from dbsp.pipeline.spark.runs.streaming import run  # noqa: PLC0415  a program without sources needs none

        run(serving.pipeline, every=pause, on_step=serving.made, stop=stop)
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

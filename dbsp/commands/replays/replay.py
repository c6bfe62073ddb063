"""A replay file through a pipeline, as lines of its changelog."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from dbsp.circuits.errors import AbsentRow, DataError
from dbsp.commands.process.without_pandas import without_pandas
from dbsp.commands.replays.applied import Applied
from dbsp.commands.replays.files import clock_of, place_of, queue, read_file
from dbsp.commands.shown.listing import Listing, listing
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.views.changes import Changes


def replay(
    program: str | Program,
    deltas: str,
    define: Mapping[str, str],
    runner: str,
    partitions: int | None,
    state: str | None,
    output: str,
    changelog: str,
    verify: str = "first read",
    evolve: bool = False,
    backfill: str | None = None,
    keep_steps: int | None = None,
    keep_for: str | None = None,
    show_key: bool = False,
    applied: Applied | None = None,
) -> Iterator[str]:
    """The lines of every step's changes, as the steps are made. deltas: a file, or '-' for stdin.

    show_key: of a program that is a file, see `sql/compiler/keys/shown.py`. applied: is told how far it came.
    """
    text = read_deltas(deltas)
    if show_key:
        program = load_program(Path(str(program)), define=define, show_key=True)
    name = deltas if deltas != "-" else "stdin"
    with Pipeline(
        program,
        define=define,
        runner=runner,
        partitions=partitions,
        state=state,
        verify=verify,
        evolve=evolve,
        backfill=backfill,
        keep_steps=keep_steps,
        keep_for=keep_for,
        progress=partial(print, file=sys.stderr),
    ) as pipeline:
        if not pipeline.program.functions:  # the user's may make Series
            without_pandas()
        goes_on = state is not None  # a later replay may give it more
        yield from played(pipeline, text, name, listing(pipeline, output, changelog), goes_on, applied)


def played(
    pipeline: Pipeline,
    text: str,
    name: str,
    show: Listing,
    goes_on: bool = False,
    applied: Applied | None = None,
) -> Iterator[str]:
    """The lines of the steps of a replay file. name: the file's. goes_on: what is held back stays so."""
    applied = Applied(None) if applied is None else applied
    applied.begin(pipeline, name)
    for step in read_file(text, name, pipeline.program):
        applied.ends.append(step.end)
        queue(pipeline, step)
        try:
            yield from _made(partial(pipeline.step, clock=clock_of(pipeline, step)), show)
        except AbsentRow as absent:
            raise absent.within(place_of(absent, step, pipeline)) from None
        except DataError as error:
            raise error.within(f"{name}: step {pipeline.last_step + 1}") from None
    applied.is_read = True
    if not goes_on:
        yield from _made(pipeline.finish, show)


def _made(step: Callable[[], Changes | None], show: Listing) -> Iterator[str]:
    """The lines of what a step changes; one that a sink hasn't got is made all the same."""
    try:
        changes = step()
    except DeliveryError as error:
        if error.changes is not None:
            yield from show(error.changes)
        raise
    if changes is not None:
        yield from show(changes)


def read_deltas(path: str) -> str:
    """Raises DataError."""
    try:
        if path == "-":
            return sys.stdin.read().removeprefix("\ufeff")
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: can't read the deltas: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: can't read the deltas: they are no UTF-8 text") from None

"""What `dbsp run` prints after every step.

live-table   on a terminal one picture redrawn in place, with each view's first rows; elsewhere a line a step
table        the views that changed, whole (their first rows)
csv, json    the changelog
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from dbsp.commands.process.logs import say
from dbsp.commands.shown.listing import Listing, listing
from dbsp.commands.shown.live import LiveTable
from dbsp.commands.shown.ordered_rows import OrderedRows
from dbsp.commands.shown.progress import Progress
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes
from dbsp.views.outputs import output_views


class Display:
    """Shows nothing but notes, which go to stderr."""

    def __init__(self, pipeline: Pipeline, out: TextIO) -> None:
        self.pipeline, self.out = pipeline, out

    def step(self, changes: Changes) -> None:
        """Show what a step changed."""

    def note(self, text: str) -> None:
        say(text)


class Printed(Display):
    """What is printed of each step: the lines of `listing`."""

    def __init__(self, pipeline: Pipeline, out: TextIO, lines: Listing) -> None:
        super().__init__(pipeline, out)
        self.lines = lines

    def step(self, changes: Changes) -> None:
        self.out.writelines(line + "\n" for line in self.lines(changes))
        self.out.flush()


class Lines(Display):
    """The live table where nothing can be redrawn: a line a step."""

    def __init__(self, pipeline: Pipeline, out: TextIO, expected: int | None) -> None:
        super().__init__(pipeline, out)
        self.progress = progress_of(pipeline, expected)

    def step(self, changes: Changes) -> None:
        self.progress.add(changes)
        views = "".join(f"   {view} {size:,}" for view, size in self.progress.shown.items())
        self.out.write(f"{self.progress.line()}{views}\n")
        self.out.flush()


class Live(Display):
    def __init__(self, pipeline: Pipeline, out: TextIO, expected: int | None) -> None:
        super().__init__(pipeline, out)
        views = [OrderedRows(pipeline, view) for view in output_views(pipeline.program)]
        self.table = LiveTable(pipeline.program.name, progress_of(pipeline, expected), views)

    def step(self, changes: Changes) -> None:
        self.table.step(changes)

    def note(self, text: str) -> None:
        self.table.note(text)


@contextmanager
def display(
    output: str, pipeline: Pipeline, expected: int | None, changelog: str = "retract"
) -> Iterator[Display]:
    """The display of that name, on stdout. expected: how many steps there will be, or None."""
    if output == "live-table" and sys.stdout.isatty():
        live = Live(pipeline, sys.stdout, expected)
        with live.table:
            yield live
    elif output == "live-table":
        yield Lines(pipeline, sys.stdout, expected)
    else:
        yield Printed(pipeline, sys.stdout, listing(pipeline, output, changelog))


def progress_of(pipeline: Pipeline, expected: int | None) -> Progress:
    """The views as they are, and nothing done yet."""
    sizes = {view: len(pipeline[view]) for view in output_views(pipeline.program)}
    return Progress(sizes, expected, pipeline.last_step)
